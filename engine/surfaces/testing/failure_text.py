"""The text of a failed test: records and trees in words.

Belongs here: texts. Does not: comparing expected with actual states (`scenario`).
"""

import json
from collections.abc import Iterable, Sequence

from phaseline.engine.core.tree import Tree
from phaseline.schemas.records import Entity, Mark, Record, Rejection, Transition, facets_of

MAX_LINES = 40
"""The most records, and the most entities of the tree, that a text lists."""


def record_line(record: Record) -> str:
    """A record as one line."""
    if isinstance(record, Rejection):
        legal = f" (legal: {', '.join(record.legal)})" if record.legal else ""
        return f"{record.kind} {record.id}: {record.trigger} rejected as {record.reason}, {record.message}{legal}"
    name = f"{record.entity.kind} {record.entity.id}"
    if isinstance(record, Mark):
        return f"{name}: only the sequence is remembered, {dict(record.entity.sequences)}"
    facet = f" {record.facet}" if len([*facets_of(record.entity)]) > 1 else ""
    return f"{name}{facet}: {_change(record)} by {record.trigger}{_origin(record)}"


def _change(record: Transition) -> str:
    start = "new" if record.before is None else str(record.before)
    if record.before != record.after:
        return f"{start} -> {record.after}"
    base = record.entity.facets[record.entity.names.index(record.facet)].base
    return f"still {record.after}, with the new base {base}"


def _origin(record: Transition) -> str:
    return "" if record.cause.by == "event" else f" ({record.cause.by} of {record.cause.origin})"


def passing(what: str, fired: int, following: tuple[str, float] | None) -> str:
    """Time that passes, in words: `60 s later (1 timer fired; next: job j give_up, 540 s later)`.

    following: the timer that fires next, and how many seconds later; None if there is none.
    """
    coming = "none is left" if following is None else f"next: {following[0]}, {following[1]:g} s later"
    return f"{what} ({_timers(fired)} fired; {coming})"


def after_timers(event: str, fired: Sequence[object]) -> str:
    """An event in words, with the timers that fired in the second before it."""
    if not fired:
        return event
    return f"{event} (before it, {_timers(len(fired))} fired: {', '.join(map(str, fired))})"


def _timers(count: int) -> str:
    return f"{count or 'no'} timer{'' if count <= 1 else 's'}"


def failure(expected: str, actual: str, event: str, records: Sequence[Record], after: Tree) -> AssertionError:
    """The error of a failed test: expected and actual result, the records of the event, and the tree after it."""
    made = lines(f"{event} made", map(record_line, records), len(records)) if records else f"{event} made no record"
    return AssertionError(f"expected {expected}; {actual}\n\n{made}\n{tree(after)}")


def tree(after: Tree) -> str:
    """The tree, with each entity under its parent."""
    if not len(after):
        return "the tree is empty"
    entities = [entity for by_id in after.entities.values() for entity in by_id.values()]
    entities.sort(key=lambda entity: (entity.id.split("/"), entity.kind))
    return lines("the tree now", map(entity_line, entities), len(entities))


def entity_line(entity: Entity) -> str:
    """`node c1/p/n1  Failed [ClusterNotRunning] (base Running [Ok])`, with its attributes, indented by its depth."""
    shown = [*facets_of(entity)]
    facets = "; ".join(
        (f"{name} " if len(shown) > 1 else "")
        + f"{facet.state}"
        + (f" (base {facet.base})" if facet.base != facet.state else "")
        for name, facet in shown
    )
    attributes = f"  {data(entity.attributes)}" if entity.attributes else ""
    return f"{'  ' * entity.id.count('/')}{entity.kind} {entity.id}  {facets}{attributes}"


def data(value: object) -> str:
    """Data as JSON."""
    return json.dumps(value, ensure_ascii=False, default=repr)


def lines(title: str, items: Iterable[str], count: int) -> str:
    """A title with the first items under it, and the number of the others."""
    shown = [f"  {line}" for line, _ in zip(items, range(MAX_LINES), strict=False)]
    return "\n".join([f"{title}:", *shown, *([f"  ... and {count - MAX_LINES} more"] if count > MAX_LINES else [])])
