"""How an assessment looks: health, sync, what differs, what is ignored and by what.

Belongs here: lines, tables and maps of what was found. Does not: finding it (`machines`), any command.
"""

import json
from collections.abc import Iterator
from typing import Any

from rich.padding import Padding
from rich.text import Text

from phaseline.engine.cli import render
from phaseline.machines.kubernetes.assess import OUT_OF_SYNC, SYNCED, Assessment
from phaseline.machines.kubernetes.diff.differences import NONE, Difference
from phaseline.machines.kubernetes.diff.ignore import IgnoreEffect
from phaseline.machines.kubernetes.profiles import HEALTHY, Profile
from phaseline.machines.kubernetes.rollup import Rollup, cause_text

COLOURS = {"Healthy": "green", "Progressing": "yellow", "Paused": "magenta", SYNCED: "green", OUT_OF_SYNC: "red"}
WIDEST = 60
"""Characters shown of a value that differs."""


def is_well(said: Assessment) -> bool:
    """Whether nothing is to be said against it."""
    return (said.health is None or said.health.status == HEALTHY) and said.sync in (None, SYNCED)


def as_map(said: Assessment, profile: Profile) -> dict[str, Any]:
    """An assessment as JSON shows it."""
    health = said.health and {"status": profile.called(said.health.status), "message": said.health.message}
    hidden = [{**_difference(one.difference), "by": _effect(one.by)} for one in said.hidden]
    return {
        "health": health, "sync": said.sync, "why": said.why, "counts": said.counts,
        "differences": [_difference(one) for one in said.differences], "hidden": hidden, "problems": [*said.problems],
    }  # fmt: skip


def _effect(by: IgnoreEffect) -> dict[str, str]:
    return {"how": by.how, "word": by.word, "rule": f"{by.rule.group}/{by.rule.kind}"}


def _difference(one: Difference) -> dict[str, Any]:
    sides = {"desired": one.wanted, "live": one.found}
    return {"path": one.pointer, **{name: value for name, value in sides.items() if value is not NONE}}


def show(title: Text, said: Assessment, profile: Profile) -> None:
    """One assessment under its title."""
    render.show_line(title)
    render.show_pairs(_lines(said, profile))
    for name, table in _tables(said):
        render.show_line(Text(f"  {name}", "bright_black"))
        render.show(Padding(table, (0, 0, 0, 4)))


def show_whole(title: Text, whole: Rollup, profile: Profile) -> None:
    """What many come to, with the causes."""
    render.show_line(title)
    render.show_pairs([
        ("  health", _state(whole.health, profile.called(whole.health), cause_text(whole.unwell))),
        ("  sync", _state(whole.sync, whole.sync, cause_text(whole.unsynced))),
    ])  # fmt: skip


def _lines(said: Assessment, profile: Profile) -> Iterator[tuple[str, Text]]:
    health = said.health
    if health is None:
        yield "  health", Text("no rule is about it, or it takes no part", "bright_black")
    else:
        yield "  health", _state(health.status, profile.called(health.status), health.message)
    yield "  sync", _state(said.sync, said.sync, said.why) if said.sync else render.text_of(said.why, "bright_black")
    for problem in said.problems:
        yield "  rule", render.text_of(problem, "yellow")


def _state(status: str | None, called: str | None, why: str) -> Text:
    return Text.assemble(
        render.text_of(called, COLOURS.get(status or "", "red")), render.text_of(f": {why}" if why else "")
    )


def _tables(said: Assessment) -> Iterator[tuple[str, Any]]:
    if said.differences:
        table = render.columns("path", "Git", "cluster")
        for one in said.differences:
            table.add_row(render.text_of(one.pointer or "/"), _value(one.wanted), _value(one.found))
        yield "differs", table
    if said.hidden:
        table = render.columns("path", "Git", "cluster", "by")
        for hidden in said.hidden:
            one, by = hidden.difference, f"{hidden.by.how} {hidden.by.word}"
            table.add_row(render.text_of(one.pointer), _value(one.wanted), _value(one.found), render.text_of(by))
        yield "ignored", table


def _value(found: Any) -> Text:
    if found is NONE:
        return Text("nothing", "bright_black")
    text = json.dumps(found, ensure_ascii=False, default=str)
    return render.text_of(text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…")
