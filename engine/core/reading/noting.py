"""The records that name the fields of an observation that nothing reads. Pure.

Belongs here: which record names them, and what is made if there is none. Does not: finding them (`unread`).
"""

from collections.abc import Sequence

from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.reading.unread import named_only, said
from phaseline.engine.core.rejections import here, mark, reject
from phaseline.engine.core.transitions import REPEAT, Decision
from phaseline.engine.core.tree import Tree
from phaseline.machines.language.table import MAX_TEXT
from phaseline.schemas.records import Mark, Record, Rejection, Transition


def noted(tree: Tree, arrival: Arrival, decision: Decision, unread: Sequence[str]) -> Decision:
    """The decision on an observation, of which one record names the fields that nothing reads.

    That is the first one of the event's own entity; else the rejection; else a mark. What is unknown has no mark: its
    event, which is without effect otherwise, is rejected.
    """
    if decision is REPEAT:
        return decision
    records, names = decision.records, named_only(unread)
    for index, record in enumerate(records):
        if not isinstance(record, Rejection) and (record.entity.kind, record.entity.id) == (arrival.kind, arrival.id):
            return _with(decision, index, _naming(record, names))
    kind = tree.kinds[arrival.kind]
    told = said(unread, kind, arrival.trigger)
    for index, record in enumerate(records):
        if isinstance(record, Rejection):
            message = f"{record.message.removesuffix('.')}; {told}"
            return _with(decision, index, replace(record, message=message[:MAX_TEXT]))
    if (entity := tree.get(arrival.kind, arrival.id)) is not None:
        return replace(decision, records=[*records, _naming(mark(arrival, entity), names)])
    message = f"{here(tree, arrival)}, and the event changes nothing: {told}"
    return replace(decision, records=[*records, reject(tree, arrival, "invalid", message)])


def _naming(record: Transition | Mark, names: Sequence[str]) -> Transition | Mark:
    return replace(record, noted=record.noted._replace(unread=(*names, *record.noted.unread)))


def _with(decision: Decision, index: int, record: Record) -> Decision:
    records = decision.records
    return replace(decision, records=[*records[:index], record, *records[index + 1 :]])
