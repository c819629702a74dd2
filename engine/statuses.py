"""Answering the status query: the pure part (`status`) with what has to be read for it.

Belongs here: reading manifests, reports and histories; the whole answer from streams alone. Does not: answering others
(`service`), what the answer looks like (`status`).
A worker's tree and one read from STATE give the same answer; a worker's is what is committed, STATE's a moment behind it.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from phaseline.engine import past, queries
from phaseline.engine.errors import BadStatusQuery, EntityNotYet, EntityUnknown
from phaseline.engine.fold import partition_of_id
from phaseline.engine.past import LATEST
from phaseline.engine.status import emco_shape, source_shape
from phaseline.engine.status.query import BadQuery, Query
from phaseline.engine.status.selection import Item, Selection, select
from phaseline.engine.status.source_shape import Objects
from phaseline.engine.streams import Layout
from phaseline.engine.tree import Tree
from phaseline.engine.wire import Wire
from phaseline.machines.emco import bundle_state
from phaseline.machines.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.records import Transition
from phaseline.schemas.subjects import Subjects

KIND = "emco_resource"
AT_ONCE = 200
"""Events asked for at the same time."""


def chosen(tree: Tree, resource_id: str, query: Query) -> Selection:
    """What the tree says of the resource, without waiting; raises `EntityUnknown`, `BadStatusQuery`."""
    try:
        found = select(tree, resource_id, query, items=query.output != "summary" or query.shape == "emco")
    except BadQuery as error:
        raise BadStatusQuery(problem=error) from None
    if found is None:
        raise EntityUnknown(kind=KIND, id=resource_id)
    return found


async def told(wire: Wire, layout: Layout, found: Selection, query: Query, place: int | None = None) -> dict[str, Any]:
    """The body of the answer, with what it needs from EVENTS and, for the actions of the shape `emco`, from LOG."""
    objects = await _objects(wire, layout, found, query)
    if query.shape == "source":
        return source_shape.answer(found, query, objects)
    history = [] if query.lists else await _history(wire, layout, found.resource.id, place)
    return emco_shape.answer(found, query, objects, history)


async def read(
    wire: Wire, layout: Layout, kinds: Kinds, resource_id: str, query: Query, place: int | None = None
) -> dict[str, Any]:
    """The answer from the streams alone: from STATE, or as the log had it at `place`. Raises as `chosen` does."""
    return await told(wire, layout, await gathered(wire, layout, kinds, resource_id, query, place), query, place)


async def gathered(
    wire: Wire, layout: Layout, kinds: Kinds, resource_id: str, query: Query, place: int | None = None
) -> Selection:
    """What the streams say of the resource; raises as `chosen` does."""
    tree, last = Tree(kinds), await _last(wire, layout, resource_id, place)
    tree.put(last.entity)
    name = query.instance or last.entity.attributes.get("context")
    contexts = await _states(wire, layout, kinds, "app_context", resource_id, place)
    for record in contexts:
        tree.put(record.entity)
    if name is not None and tree.get("app_context", f"{resource_id}/{name}") is not None:
        for kind in ("app_cluster", "rsync_resource"):
            for record in await _states(wire, layout, kinds, kind, f"{resource_id}/{name}", place):
                tree.put(record.entity)
    return chosen(tree, resource_id, query)


async def _last(wire: Wire, layout: Layout, resource_id: str, place: int | None) -> Transition:
    if place is None:
        return await queries.last(wire, layout, KIND, resource_id)
    try:
        return await past.last(wire, layout, KIND, resource_id, place)
    except EntityNotYet:
        raise
    except EntityUnknown as error:
        raise EntityNotYet(kind=KIND, id=resource_id, place=place) from error


async def _states(
    wire: Wire, layout: Layout, kinds: Kinds, kind: str, below: str, place: int | None
) -> Sequence[Transition]:
    if place is None:
        return await queries.states(wire, layout, kinds, kind, below, None, deleted=True)
    return await past.states(wire, layout, kinds, kind, below, None, deleted=True, place=place)


async def _history(wire: Wire, layout: Layout, resource_id: str, place: int | None) -> list[Transition]:
    partition = partition_of_id(resource_id, layout.partitions)
    filter_ = Subjects(layout.prefix).transition(partition, KIND, "*", "*", resource_id)
    found = past.records(wire, layout, filter_, 0, LATEST if place is None else place)
    return [logged.record async for logged in found if isinstance(logged.record, Transition)]


async def _objects(wire: Wire, layout: Layout, found: Selection, query: Query) -> Objects:
    """By app, cluster and token, what manifests or reports say; nothing where EVENTS no longer holds them."""
    if query.output not in ("detail", "rsync"):
        return {}
    manifests = query.output == "rsync" or (query.shape == "emco")
    reports = query.output == "detail" and not (query.shape == "emco" and _is_deployed(query))
    wanted = {sequence for sequence in _sequences(found, manifests=manifests, reports=reports) if sequence is not None}
    events = await _events(wire, layout, sorted(wanted))
    objects: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for placed in found.placed:
        for item in placed.items if manifests else ():
            if item.added in events:
                objects[placed.app, placed.cluster, item.token] = _manifest(item, events[item.added])
        if reports and placed.report in events:
            for one in bundle_state.listed(events[placed.report]):
                objects[placed.app, placed.cluster, one.token] = one.found
    return objects


def _is_deployed(query: Query) -> bool:
    return query.status == "deployed" or (query.status is None and query.type in ((), ("rsync",)))


def _sequences(found: Selection, *, manifests: bool, reports: bool) -> Iterator[int | None]:
    for placed in found.placed:
        if reports:
            yield placed.report
        yield from (item.added for item in placed.items if manifests)


def _manifest(item: Item, data: Mapping[str, Any]) -> dict[str, Any]:
    named = {"apiVersion": f"{item.group}/{item.version}" if item.group else item.version, "kind": item.kind}
    return {**named, **{key: data[key] for key in ("metadata", "spec") if data.get(key) is not None}}


async def _events(wire: Wire, layout: Layout, sequences: Sequence[int]) -> dict[int | None, Mapping[str, Any]]:
    """The data of stored events by their sequence."""
    found: dict[int | None, Mapping[str, Any]] = {}
    for begin in range(0, len(sequences), AT_ONCE):
        part = sequences[begin : begin + AT_ONCE]
        for sequence, kept in zip(
            part, await asyncio.gather(*(queries.event_at(wire, layout, one) for one in part)), strict=True
        ):
            if kept is not None:
                found[sequence] = codec.decode(kept.body).get("data") or {}
    return found
