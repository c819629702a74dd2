"""Answers the status query: reads what the pure part (`status`) needs.

Belongs here: reading manifests, reports and histories; the whole answer from streams alone. Does not: the service
(`service`), the shape of an answer (`status`).
A worker's tree and one read from STATE give the same answer. A worker's is what is committed; STATE is a moment behind it.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from phaseline.engine.core.tree import Tree
from phaseline.engine.emco_status import design_shape, emco_shape
from phaseline.engine.emco_status.design_shape import Objects
from phaseline.engine.emco_status.query import BadQuery, Query
from phaseline.engine.emco_status.select import Item, Selection, select
from phaseline.engine.errors import BadStatusQuery, EntityUnknown
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import event_at
from phaseline.engine.log.state_view import StateView
from phaseline.machines.emco import bundle_state
from phaseline.schemas import codec

KIND = "emco_resource"
AT_ONCE = 200
"""Events asked for at the same time."""


def chosen(tree: Tree, resource_id: str, query: Query) -> Selection:
    """What the tree has of the resource, without waiting; raises `EntityUnknown`, `BadStatusQuery`."""
    try:
        found = select(tree, resource_id, query, items=query.output != "summary" or query.shape == "emco")
    except BadQuery as error:
        raise BadStatusQuery(problem=str(error)) from None
    if found is None:
        raise EntityUnknown(kind=KIND, id=resource_id)
    return found


async def told(view: StateView, found: Selection, query: Query) -> dict[str, Any]:
    """The body of the answer, with what it needs from EVENTS and, for the actions of the shape `emco`, from LOG."""
    objects = await _objects(view.installation, found, query)
    if query.shape == "source":
        return design_shape.answer(found, query, objects)
    history = [] if query.lists else await view.history(KIND, found.resource.id)
    return emco_shape.answer(found, query, objects, history)


async def read(view: StateView, resource_id: str, query: Query) -> dict[str, Any]:
    """The answer from the streams alone; raises as `chosen` does."""
    return await told(view, await gathered(view, resource_id, query), query)


async def gathered(view: StateView, resource_id: str, query: Query) -> Selection:
    """What the streams have of the resource; raises as `chosen` does."""
    tree, last = view.installation.tree(), await view.last(KIND, resource_id)
    tree.put(last.entity)
    name = query.instance or last.entity.attributes.get("context")
    contexts = await view.states("app_context", resource_id, deleted=True)
    for record in contexts:
        tree.put(record.entity)
    if name is not None and tree.get("app_context", f"{resource_id}/{name}") is not None:
        for kind in ("app_cluster", "rsync_resource"):
            for record in await view.states(kind, f"{resource_id}/{name}", deleted=True):
                tree.put(record.entity)
    return chosen(tree, resource_id, query)


async def _objects(installation: Installation, found: Selection, query: Query) -> Objects:
    """By app, cluster and token: the objects in manifests or reports; nothing where EVENTS no longer holds them."""
    if query.output not in ("detail", "rsync"):
        return {}
    manifests = query.output == "rsync" or (query.shape == "emco")
    reports = query.output == "detail" and not (query.shape == "emco" and _is_deployed(query))
    wanted = {sequence for sequence in _sequences(found, manifests=manifests, reports=reports) if sequence is not None}
    events = await _events(installation, sorted(wanted))
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


async def _events(installation: Installation, sequences: Sequence[int]) -> dict[int | None, Mapping[str, Any]]:
    """The data of stored events by their sequence."""
    found: dict[int | None, Mapping[str, Any]] = {}
    for begin in range(0, len(sequences), AT_ONCE):
        part = sequences[begin : begin + AT_ONCE]
        stored = await asyncio.gather(*(event_at(installation, one) for one in part))
        for sequence, kept in zip(part, stored, strict=True):
            if kept is not None:
                found[sequence] = codec.decode(kept.body).get("data") or {}
    return found
