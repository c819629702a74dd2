"""What counts in one log only: the positions that an event names, and what a log that was put back knew. Pure.

The rules are in docs/restored.md.
Belongs here: an event that names another log than this one, and what is heard of again after a restore. Does not: the
identity of a log (`engine.log.restored.identity`), what a position of this log proves (`judging`).
"""

from collections.abc import Iterator

from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.rejections import reject
from phaseline.engine.core.transitions import REPEAT, Decision
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reports import ANSWERS, CONFIRM, SEEN, SNAPSHOT
from phaseline.machines.language.fields import IF_VERSION, LOG
from phaseline.schemas.records import Mark, Rejection

COUNTING = (SEEN, ANSWERS)
"""The fields whose values are positions in a log."""


def of_this_log(tree: Tree, kind: Kind, arrival: Arrival) -> Arrival | Decision:
    """The event without what counts in another log; or why it is not taken.

    A log that does not know its identity takes what it is told.
    """
    if all(field.name != LOG for field in kind.common[arrival.trigger]):
        return arrival  # the table's own field
    data = {name: value for name, value in arrival.data.items() if name != LOG}
    named = arrival.data[LOG]
    if named is None or tree.log == 0:
        return replace(arrival, data=data)
    if named == tree.log:
        return _ahead(tree, arrival) or replace(arrival, data=data)
    other = f"of the log {named}, and this one is {tree.log}"
    if data.get(IF_VERSION) is not None and kind.roles[arrival.trigger] == "intent":
        message = f"{arrival.trigger} was meant for version {data[IF_VERSION]} {other}: look at what is there now"
        return Decision([reject(tree, arrival, "changed", message)])
    if data.get(CONFIRM) and arrival.trigger == SNAPSHOT:
        message = f"data.confirm needs data.seen, which is {other}: read the states again, and say what is seen then"
        return Decision([reject(tree, arrival, "stale", message)])
    return replace(arrival, data={name: value for name, value in data.items() if name not in COUNTING})


def _ahead(tree: Tree, arrival: Arrival) -> Decision | None:
    """The answer to an event that names a position of this very log which it does not have yet; None to another one."""
    for name in COUNTING:
        value = arrival.data.get(name)
        if value is not None and value >= arrival.cause.sequence:
            message = (
                f"data.{name} is {value} of the log {tree.log}, but this is event {arrival.cause.sequence} of it: the "
                "log is shorter than what was read of it, so it was put back from a backup; read the states again"
            )
            return Decision([reject(tree, arrival, "invalid", message)])
    return None


def is_ahead(arrival: Arrival, log: int) -> bool:
    """Whether an event names a position of this very log which it does not have yet: then it was put back."""
    data = arrival.data
    return (
        log > 0 and data.get(LOG) == log
        and any(type(data.get(name)) is int and data[name] >= arrival.cause.sequence for name in COUNTING)
    )  # fmt: skip


def heard_again(tree: Tree, arrival: Arrival, decision: Decision) -> Decision:
    """The decision on an event, with marks of what it shows to be as the backup has it: that is known again."""
    records = decision.records
    if (
        decision is REPEAT
        or arrival.timer is not None
        or tree.kinds[arrival.kind].roles[arrival.trigger] != "observation"
    ):
        return decision
    if records and all(isinstance(record, Rejection) for record in records):
        return decision
    told = {(one.entity.kind, one.entity.id) for one in records if not isinstance(one, Rejection)}
    again = [key for key in _shown(arrival) if key in tree.unheard and key not in told]
    if not again:
        return decision
    marks = [Mark(tree.entities[kind][entity_id], arrival.cause, arrival.time) for kind, entity_id in again]
    return replace(decision, records=[*records, *marks])


def _shown(arrival: Arrival) -> Iterator[tuple[str, str]]:
    """The entities that an observation speaks of."""
    yield arrival.kind, arrival.id
    if arrival.trigger == SNAPSHOT:
        for item in arrival.data["items"]:
            if type(item.get("id")) is str:
                yield arrival.data["kind"], f"{arrival.id}/{item['id']}"
