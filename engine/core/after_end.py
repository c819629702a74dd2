"""What is reported of lives that are over: that the thing is gone indeed, or that it is still there. Pure.

What still reports below something Deleted is *left behind*: it stays Deleted, and keeps what was reported of it. The
rules are in docs/reports.md.
Belongs here: which reports are about such a life, what they say of it, noting it. Does not: new lives (`reports`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from phaseline.engine.core.adoption import MissingParent, has_all_above, missing_parent
from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.reports import RefusedReport, impossible, stale, unseen
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reports import PHASE, SEEN
from phaseline.machines.language.endings import (
    CONTRADICTED,
    END,
    SHOWS,
    ReportAfterEnd,
    is_unseen,
    seen_gone,
    shown_state,
    still_there,
)
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import NONE, Entity, State, state


class Report(NamedTuple):
    """What is said of one entity. data: that of the report. says_gone: whether it says that the entity is not there.

    event, time: the position of its event, and when that was stored, ns.
    """

    kind: Kind
    id: str
    data: Mapping[str, Any]
    says_gone: bool
    event: int
    time: int


class Note(NamedTuple):
    """What is noted of a life that is over. attributes: those of the entity from now on.

    asked: of an entity that was unknown, the position of the event that ended what is above it.
    """

    attributes: Mapping[str, Any]
    message: str
    asked: int = 0


def of_event(kind: Kind, arrival: Arrival) -> Report | None:
    """The report in an event; None if it is none that can be about a life that is over."""
    trigger = arrival.trigger
    if kind.judge is None or not (trigger in kind.ending or trigger in kind.naming):
        return None
    says_gone = trigger in kind.ending or arrival.data.get(PHASE) == DELETED
    return Report(kind, arrival.id, arrival.data, says_gone, arrival.cause.sequence, arrival.time)


def is_over(tree: Tree, entity: Entity | None, report: Report) -> bool:
    """Whether a report is about a life that is over, and does not begin another one."""
    if entity is not None and entity.facets[0].base.phase != DELETED:
        return False
    if report.says_gone:
        return entity is not None
    missing = missing_parent(tree, report.kind, report.id, is_intent=False)
    return missing is not None and missing.phase == DELETED and not missing.adoptable


def read(tree: Tree, entity: Entity | None, report: Report) -> Note | RefusedReport | None:
    """What a report says of a life that is over; None if that is known already; or why it is not taken."""
    if (problem := unseen(report.data.get(SEEN), report.event)) is not None:
        return RefusedReport("invalid", problem)
    if report.says_gone:
        return None if entity is None else _gone(entity, report)
    kind, seen = report.kind, report.data.get(SEEN)
    missing = missing_parent(tree, kind, report.id, is_intent=False)
    if missing is None:
        return None
    known = entity is not None
    asked = entity.asked if entity is not None else _end(tree, missing)
    if not known and not has_all_above(tree, kind, report.id):
        return RefusedReport("unknown_parent", str(missing))
    found = _state(tree, entity, report)
    if found is None or isinstance(found, RefusedReport):
        return found
    attributes = NONE if entity is None else entity.attributes
    if (seen is None and known and not is_unseen(attributes)) or (seen is not None and seen < asked):
        return RefusedReport("stale", stale(kind, report.id, asked, seen))
    if attributes.get(END) == CONTRADICTED and _is_shown(attributes, found):
        return None
    shown = ReportAfterEnd(found.phase, found.conditions, report.event, report.time)
    return Note(still_there(attributes, shown), f"still there, {found}: {missing}", asked)


def _gone(entity: Entity, report: Report) -> Note | None:
    """What it says that an entity is gone. One who has not read that it is still there may have looked before."""
    seen, shows = report.data.get(SEEN), entity.attributes.get(SHOWS)
    if not is_unseen(entity.attributes) or (seen is not None and shows is not None and seen < shows["event"]):
        return None
    return Note(seen_gone(entity.attributes), "it is gone, that is seen now")


def _is_shown(attributes: Mapping[str, Any], found: State) -> bool:
    known = shown_state(attributes)
    return known.phase == found.phase and sorted(known.conditions) == sorted(found.conditions)


def _end(tree: Tree, missing: MissingParent) -> int:
    """The position of the event that ended what is missing."""
    kind, _, entity_id = missing.name.partition("/")
    above = tree.get(kind, entity_id)
    return 0 if above is None else above.asked


def _state(tree: Tree, entity: Entity | None, report: Report) -> State | RefusedReport | None:
    """The state that a report names; None where a row of the kind says that it means nothing."""
    kind, judge = report.kind, report.kind.judge
    assert judge is not None
    if entity is not None and judge.means_nothing(entity.facets[0].base, report.data, tree, report.id):
        return None
    return judge.named_base(report.data) or RefusedReport("invalid", impossible(kind, report.data))


def note(changeset: Changeset, kind: Kind, entity_id: str, noted: Note, origin: Origin) -> None:
    """Note what was reported of a life that is over. No parent is adopted, and nothing else follows."""
    change = changeset.change(kind.name, entity_id)
    change.attributes = noted.attributes
    if change.before is not None:
        change.origins[0] = origin
        return
    change.asked = noted.asked
    for index, facet in enumerate(kind.unborn[: kind.own]):
        if facet.base.phase == ABSENT:
            changeset.move(kind.name, entity_id, index, state(DELETED), origin)


def origin_of(noted: Note, data: Mapping[str, Any], origin: Origin) -> Origin:
    """The origin of what is noted: with a message that says what it means, where the report has none."""
    told = data if data.get("message") else {**data, "message": noted.message}
    return Origin(origin.trigger, origin.by, origin.entity, told)
