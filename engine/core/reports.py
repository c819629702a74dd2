"""Reports: what a reporter sees of one entity, held against what the entity is and was asked for. Pure.

The rules are in docs/reports.md.
Belongs here: reading the data of a report, also of a deletion without request, and the answers where none is taken.
Does not: the verdict (`machines.compiler.judging`), the items of a snapshot.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.beside.free_attributes import are_news
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.memory.reasons import is_news, unnamed
from phaseline.engine.core.rejections import here, mark, reject
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.conditions import ReportedBase
from phaseline.machines.compiler.judging import Judge, has_seen
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import INTERRUPTED
from phaseline.machines.compiler.reports import ANSWERS, CONDITIONS, PHASE, RECENT, SEEN, STAYED
from phaseline.machines.language.endings import is_unseen
from phaseline.machines.language.table import DELETED, REPORTED
from phaseline.schemas.records import Entity, Reason, State


def read_report(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival) -> Arrival | Decision:
    """The report with the base that it means in its data; or the answer, if it is not taken."""
    data, asked = arrival.data, 0 if entity is None else entity.asked
    if (problem := unseen(data.get(SEEN), arrival.cause.sequence)) is not None:
        return Decision([reject(tree, arrival, "invalid", problem)])
    if arrival.trigger != REPORTED:
        return replace(arrival, data={**data, RECENT: has_seen(data, asked)})
    if data.get(PHASE) is None:
        return arrival
    read = read_state(tree, kind, entity, arrival.id, data)
    if isinstance(read, RefusedReport):
        return Decision([reject(tree, arrival, read.reason, read.message)])
    if read is not None:
        return replace(arrival, data=read)
    return Decision([] if arrival.sequence is None or entity is None else [mark(arrival, entity)])


def outdated(tree: Tree, kind: Kind, entity: Entity, arrival: Arrival) -> Decision | None:
    """The answer to an observation that names the request which it answers, if that is not the last one."""
    answers, sequence = arrival.data[ANSWERS], arrival.cause.sequence
    if kind.roles[arrival.trigger] != "observation" or type(answers) is not int:
        return None
    if answers >= sequence:
        problem = f"data.answers is {answers}, but this is event {sequence}: name the cause.sequence of the request"
        return Decision([reject(tree, arrival, "invalid", problem)])
    if answers >= entity.asked:
        return None
    waits = kind.waits_for(entity)
    newer = f"it waits for the request of event {waits}" if waits else f"event {entity.asked} is newer"
    message = f"{here(tree, arrival)}: {arrival.trigger} answers event {answers}, and {newer}"
    return Decision([reject(tree, arrival, "stale", message)])


class RefusedReport(NamedTuple):
    """Why a report is not taken, although it is news."""

    reason: Reason
    message: str


def read_state(
    tree: Tree, kind: Kind, entity: Entity | None, entity_id: str, data: Mapping[str, Any]
) -> Mapping[str, Any] | RefusedReport | None:
    """The data of a report with the base that it means; None if it changes nothing; or why it is not taken."""
    judge = kind.judge
    if judge is None:
        return None
    asked = 0 if entity is None or _may_be_later(entity, data) else entity.asked
    verdict, told = judge.judge(kind.unborn if entity is None else entity.facets, asked, data, tree, entity_id)
    if verdict == "stale":
        return RefusedReport("stale", stale(kind, entity_id, asked, data.get(SEEN)))
    if verdict == "impossible":
        return RefusedReport("invalid", impossible(kind, data))
    if verdict == "same" and entity is not None and (_brings_news(entity, judge, data) or is_news(kind, entity, data)):
        base = entity.facets[0].base
        told = ReportedBase(base, None, unnamed(base, data))
    if told is None:
        return None
    under = {} if told.interrupted is None else {INTERRUPTED: told.interrupted}
    return {**data, **under, PHASE: told.base.phase, CONDITIONS: told.base.conditions, STAYED: told.stayed}


def _may_be_later(entity: Entity, data: Mapping[str, Any]) -> bool:
    """Whether a report that does not say what it has seen counts after the end of a life: nobody saw that end."""
    return entity.facets[0].base.phase == DELETED and data.get(SEEN) is None and is_unseen(entity.attributes)


def _brings_news(entity: Entity, judge: Judge, data: Mapping[str, Any]) -> bool:
    """Whether a report on what is there sets an attribute to another value."""
    if DELETED in (data.get(PHASE), entity.facets[0].base.phase):
        return False
    if are_news(entity, data):
        return True
    return any(data.get(name) not in (None, entity.attributes.get(name)) for name in judge.attributes)


def unseen(seen: int | None, sequence: int) -> str | None:
    """Why a report cannot have seen so much; None if it can. `sequence`: the position of its event."""
    if seen is None or 0 <= seen < sequence:
        return None
    return f"data.seen is {seen}, but the report is event {sequence}: name the highest cause.sequence that was read"


def stale(kind: Kind, entity_id: str, asked: int, seen: int | None) -> str:
    """Why a report on a deleted entity is not taken."""
    has_seen = "no record of this tree" if not seen else f"records up to {seen}"
    return (
        f"{kind.name} {entity_id} was deleted by event {asked}, and this report has seen {has_seen}: "
        f"report again with seen at or above {asked}, if it is there again"
    )


def impossible(kind: Kind, data: Mapping[str, Any]) -> str:
    """Why a state cannot be reported."""
    named = State(data[PHASE], tuple(data.get(CONDITIONS) or ()))
    return f"data: no row of {kind.name} leads to {named}, and no view shows it now: name a base that can arise"
