"""What a failed test says: records and trees in plain words.

Belongs here: texts. Does not: what is expected and found (`scenario`).
"""

import json
from collections.abc import Iterable, Sequence

from phaseline.engine.core.tree import Tree
from phaseline.schemas.records import Entity, Mark, Record, Rejection, Transition

MOST = 40
"""Lines of records, and of the tree, that are told one by one."""


def told(record: Record) -> str:
    """A record in a line."""
    if isinstance(record, Rejection):
        legal = f" (legal: {', '.join(record.legal)})" if record.legal else ""
        return f"{record.kind} {record.id}: {record.trigger} rejected as {record.reason}, {record.message}{legal}"
    who = f"{record.entity.kind} {record.entity.id}"
    if isinstance(record, Mark):
        return f"{who}: only the sequence is remembered, {dict(record.entity.sequences)}"
    facet = f" {record.facet}" if len(record.entity.names) > 1 else ""
    return f"{who}{facet}: {_change(record)} by {record.trigger}{_why(record)}"


def _change(record: Transition) -> str:
    start = "new" if record.before is None else str(record.before)
    if record.before != record.after:
        return f"{start} -> {record.after}"
    base = record.entity.facets[record.entity.names.index(record.facet)].base
    return f"{record.after} still, its base is now {base}"


def _why(record: Transition) -> str:
    return "" if record.cause.by == "event" else f" ({record.cause.by} of {record.cause.origin})"


def failure(expected: str, found: str, event: str, records: Sequence[Record], after: Tree) -> AssertionError:
    """What is raised where a test fails: what it expected and found, what the event made, the tree after it."""
    made = lines(f"{event} made", map(told, records), len(records)) if records else f"{event} made no record"
    return AssertionError(f"expected {expected}; {found}\n\n{made}\n{tree(after)}")


def tree(found: Tree) -> str:
    """The tree, entity under entity."""
    if not len(found):
        return "the tree is empty"
    entities = [entity for by_id in found.entities.values() for entity in by_id.values()]
    entities.sort(key=lambda entity: (entity.id.split("/"), entity.kind))
    return lines("the tree as it stands", map(standing, entities), len(entities))


def standing(entity: Entity) -> str:
    """`node c1/p/n1  Failed [ClusterNotRunning] (base Running [Ok])`, with its attributes; indented by how deep it is."""
    facets = "; ".join(
        (f"{name} " if len(entity.names) > 1 else "")
        + f"{facet.state}"
        + (f" (base {facet.base})" if facet.base != facet.state else "")
        for name, facet in zip(entity.names, entity.facets, strict=True)
    )
    attributes = f"  {data(entity.attributes)}" if entity.attributes else ""
    return f"{'  ' * entity.id.count('/')}{entity.kind} {entity.id}  {facets}{attributes}"


def data(found: object) -> str:
    """Data as JSON."""
    return json.dumps(found, ensure_ascii=False, default=repr)


def lines(title: str, found: Iterable[str], count: int) -> str:
    """A title with lines under it, the first ones of many."""
    shown = [f"  {line}" for line, _ in zip(found, range(MOST), strict=False)]
    return "\n".join([f"{title}:", *shown, *([f"  ... and {count - MOST} more"] if count > MOST else [])])
