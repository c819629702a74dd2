"""The general rule: the health of an object of a kind that nobody listed.

Belongs here: what an object says of itself (conditions, phases, counters, generations, pauses), and which of it
decides. Does not: what a word means (`polarity`), kinds that are listed (`registry`, `kubernetes.known`).
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.health import polarity, words
from phaseline.machines.kinds.kubernetes.health.result import Evidence, EvidenceAndConcerns, HealthResult, not_assessed
from phaseline.machines.kinds.kubernetes.health.view import (
    STATUSES,
    ObjectView,
    conditions_in,
    evidence_of,
    members,
    number,
    parts_of,
    steps_of,
    text,
)
from phaseline.machines.kinds.kubernetes.health.words import DOUBT, FAILURE, PART, PAUSE, SUCCESS, WORK
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS, Manifest
from phaseline.machines.kinds.kubernetes.profiles import DEGRADED, HEALTHY, PAUSED, PROGRESSING, UNKNOWN

NOTHING_KNOWN = "its status has no condition that is known"
FOR_INFORMATION = "its conditions decide nothing (severity Info)"
PARTS_SILENT = "not all of its parts say how they are"
NO_STATUS = "it has no status"
VERDICTS = {FAILURE: DEGRADED, PAUSE: PAUSED, WORK: PROGRESSING, DOUBT: UNKNOWN, SUCCESS: HEALTHY, PART: HEALTHY}
"""By what a finding means, the verdict; the first that is found decides."""
COUNTERS = ("updatedReplicas", "readyReplicas", "availableReplicas", "healthyReplicas")
COUNTED_APART = ("replicas",)
"""How many are wanted of what `COUNTERS` count, in the spec or the status of an object."""
FRACTION = re.compile(
    r"([0-9]{1,9}) ?(?:/|of|out of) ?([0-9]{1,9})(?: (?:ready|available|healthy|running))?(?: ?\(.*\))?",
    re.DOTALL | re.IGNORECASE,
)
"""A part of a whole: `2/3`, `2 of 3 ready`. With another word behind it, it may be a measure or a date."""
SAID_IN = ("message", "description", "detail", "reason", "error", "code")
"""Where an error that is a map says what it is."""
INFO, WARNING, ERROR = "Info", "Warning", "Error"


class StatusWord(NamedTuple):
    """One thing that an object says of itself, and what it means."""

    means: str
    evidence: Evidence


def by_general_rule(live: Manifest) -> HealthResult:
    """The health of an object of any kind."""
    view = ObjectView(live)
    conditions = [*view.every_condition()]
    silent = _silent(view)
    found = [*_paused(view), *_said(view, conditions, silent), *_fields(view), *_short(view)]
    found += _counted(view, has_said=bool(found))
    for means, verdict in VERDICTS.items():
        if decides := [one.evidence for one in found if one.means == means]:
            opposed = [one.evidence for one in found if one.means == SUCCESS] if means not in (SUCCESS, PART) else []
            evidence = (*decides, *opposed)
            tell = partial(_told, conditions, evidence)
            return HealthResult.told_by(verdict, _message(decides[0]), tell)
    if not view.status:
        odd = view.live.get("status")
        return not_assessed(f"its status is {text(odd)!r:.60}, which says nothing that is known" if odd else NO_STATUS)
    if silent:
        return not_assessed(PARTS_SILENT)
    if informing := [str(evidence_of(one)) for one in conditions if one.get("severity") == INFO]:
        return not_assessed(f"{FOR_INFORMATION}: {informing[0]}")
    unknown = ", ".join(sorted({text(one.get("type")) for one in conditions} - {""}))
    return not_assessed(f"{NOTHING_KNOWN} ({unknown})" if unknown else NOTHING_KNOWN)


def contradiction(view: ObjectView, decided: tuple[Evidence, ...], beside: Sequence[str] = ()) -> HealthResult | None:
    """The verdict of what opposes a success in the rest of an object; None if nothing does.

    decided: what the success rests on. It stands in the evidence of the contradiction too. beside: globs of conditions
    and fields that oppose nothing.
    """
    own = view.all_conditions
    conditions = [*own, *(one for one in view.every_condition() if view.is_current(one) and one not in own)]
    opposing = [
        *_paused(view), *_said(view, conditions, set()), *_counted(view, has_said=True), *_fields(view), *_short(view),
    ]  # fmt: skip
    known = {(one.condition, one.status) for one in decided}
    for means in (FAILURE, PAUSE, WORK, DOUBT):
        found = [one.evidence for one in opposing if one.means == means and one.evidence[:2] not in known]
        if found := [one for one in found if not _is_apart(one.condition, beside)]:
            evidence = (*found, *decided)
            return HealthResult(
                VERDICTS[means], _message(found[0]), evidence, polarity.concerns_of(conditions, evidence)
            )
    return None


def _is_apart(name: str, beside: Sequence[str]) -> bool:
    """Whether a condition or a field says nothing of the present object: it is of another time, or told beside it."""
    above, *steps = name.split(".")
    past = above == "status" and any(polarity.is_of_another_time(step) for step in steps)
    return past or any(matches(glob, name) for glob in beside)


def _told(conditions: list[Manifest], evidence: tuple[Evidence, ...]) -> EvidenceAndConcerns:
    return evidence, polarity.concerns_of(conditions, evidence)


def _message(one: Evidence) -> str:
    return one.message or one.reason or f"{one.condition} is {one.status}"


def _silent(view: ObjectView) -> set[int]:
    """The conditions of parts in lists of which another part says nothing that is known: these make nothing Healthy."""
    silent: set[int] = set()
    for name, listed in view.status.items():
        parts = [conditions_in(one) for one in listed] if name != "conditions" and isinstance(listed, list) else []
        told = [any(polarity.of_type(text(one.get("type"))) for one in part) for part in parts]
        if any(told) and not all(told):
            silent |= {id(one) for part in listed if isinstance(part, MAPS) for one in _listed(part)}
    return silent


def _listed(part: Manifest) -> list[Any]:
    found = part.get("conditions")
    return found if isinstance(found, list) else []


def _said(view: ObjectView, conditions: list[Manifest], silent: set[int]) -> Iterator[StatusWord]:
    """What the conditions say. Types that are not known say nothing, nor do those in `silent` of a success."""
    to_end = polarity.is_to_end(text(view.live.get("kind")))
    for one in conditions:
        kind, status = text(one.get("type")), text(one.get("status"))
        meaning = polarity.of_type(kind)
        if one.get("severity") == INFO:
            continue
        if to_end and meaning is not None and meaning[0] == SUCCESS:
            meaning = SUCCESS, meaning[1] or words.PASSING
        if status not in STATUSES:
            means = polarity.by_word(meaning, status)
        elif meaning is not None:
            means = polarity.means_of(meaning, status, text(one.get("reason")), text(one.get("message")))
        else:
            continue
        if means == FAILURE and one.get("severity") == WARNING:
            means = WORK
        elif means == WORK and one.get("severity") == ERROR and status == "False":
            means = FAILURE
        if means in words.HELD_BY and not view.is_current(one):
            seen = text(one.get("observedGeneration"))
            stale = f"{kind} is of generation {seen}, and generation {view.generation} is asked for"
            yield StatusWord(WORK, evidence_of(one)._replace(message=stale))
        elif means and not (means in (SUCCESS, PART) and id(one) in silent):
            yield StatusWord(means, evidence_of(one))


def _fields(view: ObjectView) -> Iterator[StatusWord]:
    """What phases, flags, counters and the generation say."""
    yield from _values(view, view.status, "status")
    if isinstance(word := view.live.get("status"), str) and (means := polarity.of_phase(word)):
        yield StatusWord(means, Evidence("status", word))
    for labels, _ in members(view.live, ["metadata", "labels"]):
        for name, value in labels.items() if isinstance(labels, MAPS) else ():
            if isinstance(value, str) and (means := polarity.of_label(name, value)):
                yield StatusWord(means, Evidence(f"metadata.labels[{name}]", value))
    for name, _ in parts_of(view.status):
        yield from _parts(view, name)
    if (unobserved := view.unobserved) is not None:
        yield StatusWord(WORK, unobserved)


def _values(view: ObjectView, part: Manifest, where: str) -> Iterator[StatusWord]:
    """What the phases, flags and errors in a status, or in a part of it, say."""
    message = text(part.get("message") or part.get("reason"))
    to_end = polarity.is_to_end(text(view.live.get("kind")))
    for name, value in part.items():
        means = polarity.of_field(name, value)
        if means is None:
            continue
        if means == SUCCESS and to_end and text(value).lower() == "running":
            means = WORK
        said = message if not polarity.is_error(name) else _error(value)
        yield StatusWord(means, Evidence(f"{where}.{name}", text(value), message=said if means != SUCCESS else ""))


def _error(value: Any) -> str:
    """What an error says, the first of several."""
    if isinstance(value, list):
        return next((said for one in value if (said := _error(one))), "")
    if isinstance(value, MAPS):
        return next((text(value[name]) for name in SAID_IN if text(value.get(name))), "")
    return text(value)


def _parts(view: ObjectView, name: str) -> Iterator[StatusWord]:
    """What the parts in a list or map say, or a map itself; a success only of a map, if all of it says so."""
    above = view.status[name]
    found = [*_values(view, above, f"status.{name}")] if isinstance(above, MAPS) else []
    for part, key in members(view.status, [name, ""]):
        where = f"status.{name}.{key}" if key else f"status.{name}"
        for one in part if isinstance(part, list) else (part,):
            if isinstance(one, MAPS):
                found += _values(view, one, where)
    past = polarity.is_of_another_time(name)
    if not past:
        yield from (one for one in _deeper(view, above, f"status.{name}", 3) if one.means == FAILURE)
    past = past or name in words.GIVEN_UP
    yield from (one for one in found if one.means == FAILURE or (one.means not in (SUCCESS, PAUSE) and not past))
    if found and not past and isinstance(above, MAPS) and all(one.means == SUCCESS for one in found):
        yield found[0]


def _deeper(view: ObjectView, part: Any, where: str, levels: int) -> Iterator[StatusWord]:
    """What the parts of the parts of a status say, so many levels below it."""
    for name, below in part.items() if isinstance(part, MAPS) else (("", one) for one in part):
        if name == "conditions" or not isinstance(below, list | dict) or polarity.is_of_another_time(name):
            continue
        at = f"{where}.{name}" if name else where
        if levels < 3 and isinstance(below, MAPS):
            yield from _values(view, below, at)
        if levels > 1:
            yield from _deeper(view, below, at, levels - 1)


def _counted(view: ObjectView, *, has_said: bool) -> Iterator[StatusWord]:
    """What the counters of replicas say, where the object says how many it wants.

    A counter that is left out is 0, unless conditions say how it is. has_said: whether there are any.
    """
    spec = view.live.get("spec")
    wanted = number(spec.get("replicas")) if isinstance(spec, MAPS) else None
    wanted = number(view.status.get("replicas")) if wanted is None else wanted
    counted = [name for name in COUNTERS if name in view.status]
    if not counted and "replicas" in view.status and not has_said:
        counted = [COUNTERS[1]]
    for name in counted if wanted is not None else ():
        found = number(view.status.get(name)) or 0
        said = f"{name} is {found}, {wanted} are wanted"
        yield StatusWord(
            SUCCESS if found >= (wanted or 0) else WORK, Evidence(f"status.{name}", str(found), message=said)
        )


def _short(view: ObjectView) -> Iterator[StatusWord]:
    """The counters of the status, and of its parts, that are below what the same part, or the spec, says is wanted."""
    spec = view.live.get("spec")
    for where, part in _maps_in(view.status, "status", 2):
        yield from _fractions(where, part)
        for wanted, names in words.WANTED:
            for name in names if wanted in part and (wanted != "total" or words.ENDED.isdisjoint(part)) else ():
                yield from _below(where, name, part.get(name), part[wanted])
        beside = (spec, part) if where == "status" and isinstance(spec, MAPS) else (part,)
        for name, value in part.items():
            yield from _counter(view, where, name, value, beside)


def _is_told_well(view: ObjectView) -> bool:
    """Whether a condition of success is True."""
    known = (polarity.of_type(one["type"]) for one in view.all_conditions if one.get("status") == "True")
    return any(meaning is not None and meaning[0] == SUCCESS for meaning in known)


def _counter(view: ObjectView, where: str, name: str, value: Any, beside: Sequence[Manifest]) -> Iterator[StatusWord]:
    """What a counter says by its name: `unavailableNodes` by itself, `readyNodes` where `nodes` stands beside it."""
    counter = polarity.counter(name)
    if counter is None:
        return
    if not counter.is_well:
        if (found := number(value)) is not None and found > 0:
            yield StatusWord(WORK, Evidence(f"{where}.{name}", str(found), message=f"{name} is {found}"))
        return
    if where == "status" and any(number(one.get(word)) is not None for one in beside for word in COUNTED_APART):
        fields = [word for word in counter.wanted[:1] if word not in COUNTED_APART]
    else:
        fields = [*(counter.wanted[:1] if _is_told_well(view) else counter.wanted)]
    wanted = next((one[word] for word in fields for one in beside if number(one.get(word)) is not None), None)
    yield from _below(where, name, value, wanted)


def _below(where: str, name: str, value: Any, wanted: Any) -> Iterator[StatusWord]:
    found, most = number(value), number(wanted)
    if found is not None and most is not None and found < most:
        said = f"{name} is {found}, {most} are wanted"
        yield StatusWord(WORK, Evidence(f"{where}.{name}", str(found), message=said))


def _fractions(where: str, part: Manifest) -> Iterator[StatusWord]:
    """What is said as a part of a whole: `ready: 2/3`. All of it says nothing."""
    for name, value in part.items():
        found = FRACTION.fullmatch(value) if isinstance(value, str) and polarity.counts_ready(name) else None
        if found is not None and int(found[1]) < int(found[2]):
            said = f"{name} is {found[1]}, {found[2]} are wanted"
            yield StatusWord(WORK, Evidence(f"{where}.{name}", value, message=said))


def _maps_in(part: Any, where: str, levels: int) -> Iterator[tuple[str, Manifest]]:
    """A map, and the maps in it, so many levels below it, each with its place."""
    if isinstance(part, MAPS):
        yield where, part
    for name, one in parts_of(part) if levels else ():
        if name not in words.GIVEN_UP:
            yield from _maps_in(one, f"{where}.{name}" if name else where, levels - 1)


def _paused(view: ObjectView) -> Iterator[StatusWord]:
    """What pauses the object: a field of its spec, or an annotation."""
    for path, pausing in words.PAUSED_BY:
        for found, _ in members(view.live, steps_of(path)):
            if text(found).lower() in pausing:
                yield StatusWord(PAUSE, Evidence(path, text(found), message=f"{path} is {text(found)}"))
    for name, pausing in words.ANNOTATIONS:
        for found, _ in members(view.live, ["metadata", "annotations", name]):
            if isinstance(found, str) and ("*" in pausing or found.lower() in pausing):
                yield StatusWord(
                    PAUSE, Evidence(f"metadata.annotations[{name}]", found, message=f"paused by the annotation {name}")
                )
