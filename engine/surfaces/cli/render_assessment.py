"""How an assessment looks: health, sync, differences, and ignored differences with their rules.

Belongs here: lines, tables and maps. Does not: assessing (`kinds.kubernetes`), any command.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from phaseline.engine.surfaces.cli import render
from phaseline.engine.surfaces.cli.layout import INDENT, Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED, Assessment
from phaseline.machines.kinds.kubernetes.diff.differences import NONE, Difference
from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreEffect
from phaseline.machines.kinds.kubernetes.health.result import HealthResult
from phaseline.machines.kinds.kubernetes.profiles import HEALTHY, NOT_ASSESSED, Profile
from phaseline.machines.kinds.kubernetes.rollup import Rollup, cause_text, unknown_text

COLOURS = {"Healthy": "green", "Progressing": "yellow", "Paused": "magenta", SYNCED: "green", OUT_OF_SYNC: "red"}
NOTHING_ASSESSED, NOTHING_COMPARED = "nothing was assessed", "nothing was compared"
NOTHING_TO_ASSESS = "no kind of these has a status"
WIDEST = 60
"""The largest number of characters that are shown of a value."""


def is_healthy(assessment: Assessment) -> bool:
    """Whether the object is Healthy and Synced, as far as it was assessed."""
    health = assessment.health
    return (health is None or not health.is_assessed or health.status == HEALTHY) and assessment.sync in (None, SYNCED)


def as_map(assessment: Assessment, profile: Profile) -> dict[str, Any]:
    """An assessment as JSON shows it."""
    health = assessment.health and _health(assessment.health, profile)
    hidden = [{**_difference(one.difference), "by": _effect(one.by)} for one in assessment.hidden]
    return {
        "health": health,
        "sync": assessment.sync,
        "why": assessment.why,
        "counts": assessment.counts,
        "differences": [_difference(one) for one in assessment.differences],
        "hidden": hidden,
        "problems": [*assessment.problems],
    }


def _health(found: HealthResult, profile: Profile) -> dict[str, Any]:
    """A health as JSON shows it."""
    told = {"evidence": found.evidence, "concerns": found.concerns}
    return {
        "status": profile.called(found.status),
        "message": found.message,
        **{name: [one._asdict() for one in parts] for name, parts in told.items() if parts},
    }


def _effect(by: IgnoreEffect) -> dict[str, str]:
    return {"how": by.how, "word": by.word, "rule": f"{by.rule.group}/{by.rule.kind}"}


def _difference(one: Difference) -> dict[str, Any]:
    sides = {"desired": one.wanted, "live": one.found}
    told = {"note": one.note} if one.note else {}
    return {"path": one.pointer, **{name: value for name, value in sides.items() if value is not NONE}, **told}


def show(output: Output, title: Text, assessment: Assessment, profile: Profile) -> None:
    """Print one assessment under its title."""
    output.line(title)
    output.pairs(_lines(assessment, profile))
    for name, rows in _tables(assessment):
        output.line(Text(f"  {name}", "bright_black"))
        output.table(DIFFERENCES, rows, indent=INDENT)


def show_whole(output: Output, title: Text, whole: Rollup, profile: Profile) -> None:
    """Print the roll-up of several assessments, with the causes."""
    output.line(title)
    output.pairs([("  health", _whole_health(whole, profile)), ("  sync", _whole_sync(whole))])


def _whole_health(whole: Rollup, profile: Profile) -> Text:
    """`Healthy, 3 of 11 not assessed`, or `not assessed: nothing is known of the health of 2 resources`."""
    if whole.health == NOT_ASSESSED:
        why = NOTHING_ASSESSED if whole.not_assessed or not whole.no_health else NOTHING_TO_ASSESS
        return render.text_of(f"not assessed: {why}", "yellow")
    unknown = unknown_text(whole.not_assessed, whole.resources - whole.no_health, "not assessed")
    return _state(whole.health, profile.called(whole.health), cause_text(whole.unwell), unknown)


def _whole_sync(whole: Rollup) -> Text:
    """`Synced, 3 of 11 not compared`, or `not known: nothing was compared`."""
    if whole.sync == NOT_COMPARED:
        return render.text_of(f"not known: {NOTHING_COMPARED}", "yellow")
    unknown = unknown_text(whole.not_compared, whole.resources, "not compared")
    return _state(whole.sync, whole.sync, cause_text(whole.unsynced), unknown)


def _lines(assessment: Assessment, profile: Profile) -> Iterator[tuple[str, Text]]:
    health = assessment.health
    if health is not None and not health.takes_part:
        yield "  health", render.text_of(f"none: {health.message}", "bright_black")
    elif health is None or not health.is_assessed:
        why = "it takes no part in health" if health is None else health.message
        yield "  health", render.text_of(f"not assessed: {why}", "bright_black")
    else:
        yield "  health", _state(health.status, profile.called(health.status), health.message)
        yield from (("  concern", render.text_of(str(one), "yellow")) for one in health.concerns)
    yield (
        "  sync",
        _state(assessment.sync, assessment.sync, assessment.why)
        if assessment.sync
        else render.text_of(assessment.why, "bright_black"),
    )
    for problem in assessment.problems:
        yield "  rule", render.text_of(problem, "yellow")


def _state(status: str | None, called: str | None, why: str, unknown: str = "") -> Text:
    return Text.assemble(
        render.text_of(called, COLOURS.get(status or "", "red")),
        render.text_of(f", {unknown}" if unknown else "", "yellow"),
        render.text_of(f": {why}" if why else ""),
    )


class DifferenceRow(NamedTuple):
    """A difference in the table. by: what ignores it, if something does."""

    found: Difference
    by: IgnoreEffect | None = None


DIFFERENCES: Final[tuple[Column[DifferenceRow], ...]] = (
    Column("PATH", lambda row: Text(row.found.pointer or "/")),
    Column("GIT", lambda row: _value(row.found.wanted), wraps=True),
    Column("CLUSTER", lambda row: _value(row.found.found), wraps=True),
    Column("NOTE", lambda row: Text(row.found.note), wraps=True),
    Column("IGNORED BY", lambda row: Text(f"{row.by.how} {row.by.word}" if row.by else ""), wraps=True),
)


def _tables(assessment: Assessment) -> Iterator[tuple[str, list[DifferenceRow]]]:
    if assessment.differences:
        yield "differences", [DifferenceRow(one) for one in assessment.differences]
    if assessment.hidden:
        yield "ignored differences", [DifferenceRow(one.difference, one.by) for one in assessment.hidden]


def _value(found: Any) -> Text:
    if found is NONE:
        return Text("absent", "bright_black")
    text = json.dumps(found, ensure_ascii=False, default=str)
    return Text(text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…")
