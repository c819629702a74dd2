"""Reads what an answer needs from the streams: manifests, reports, histories, and trees where no worker has them.

Belongs here: that reading; whole answers, of a worker (`answered`) and from the streams alone. Does not: the service
(`worker.services`), the shapes of an answer (`design_shape`, `emco_shape`).
The tree of a worker and one read from STATE give the same answer. STATE follows the worker's commits a moment later.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.engine.core.tree import Tree
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.state_view import StateView
from phaseline.engine.products.emco import design_shape, emco_shape
from phaseline.engine.products.emco.design_shape import Objects
from phaseline.engine.products.emco.query import Query, read
from phaseline.engine.products.emco.select import StatusItem, StatusSelection, select
from phaseline.machines.kinds.emco import bundle_state
from phaseline.machines.language.endings import SHOWS
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas import codec
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Transition

if TYPE_CHECKING:
    from phaseline.engine.worker.services import ServiceQuery

KIND = "emco_resource"
OWN_NOTHING = (ABSENT, DELETED, "Created", "Updated", "Terminated")
"""The states of a context that owns nothing which may be in a cluster."""
AT_ONCE = 200
"""Events that are requested at the same time."""


def select_status(tree: Tree, resource_id: str, query: Query) -> StatusSelection:
    """What the tree holds for the query. Does not wait. Raises `EntityUnknown`, `InvalidInput.bad_status_query`."""
    found = select(tree, resource_id, query, items=query.output != "summary" or query.shape == "emco")
    if found is None:
        raise EntityUnknown(kind=KIND, id=resource_id)
    return found


async def answered(asked: "ServiceQuery") -> dict[str, Any]:
    """The answer of a worker. Raises `EntityUnknown`, `InvalidInput.bad_status_query`."""
    query = read(asked.data)
    selection = await asked.look(lambda tree: select_status(tree, asked.id, query))
    return await answer(asked.states, selection, query)


async def answer(view: StateView, selection: StatusSelection, query: Query) -> dict[str, Any]:
    """The body of the answer. Reads EVENTS for manifests and reports, and LOG for the actions of the shape `emco`."""
    objects = await _objects(view.installation, selection, query)
    if query.shape == "source":
        return design_shape.answer(selection, query, objects)
    history = [] if query.lists else await view.history(KIND, selection.resource.id)
    return emco_shape.answer(selection, query, objects, history)


async def answer_from_streams(view: StateView, resource_id: str, query: Query) -> dict[str, Any]:
    """The answer from the streams alone. Raises what `select_status` raises."""
    return await answer(view, await select_from_streams(view, resource_id, query), query)


async def select_from_streams(view: StateView, resource_id: str, query: Query) -> StatusSelection:
    """What the streams hold for the query. Raises what `select_status` raises."""
    tree, last = view.installation.tree(), await view.last(KIND, resource_id)
    tree.put(last.entity)
    name = query.instance or last.entity.attributes.get("context")
    contexts = await view.states("app_context", resource_id, deleted=True)
    for record in contexts:
        tree.put(record.entity)
    gone = [one.entity for one in await view.states("rsync_resource", resource_id, DELETED, deleted=True)]
    wanted = {name, *(one.id.split("/")[1] for one in gone if SHOWS in one.attributes)}
    if query.instance is None:
        wanted.update(_unsettled(contexts))
    for one in sorted(filter(None, wanted)):
        if tree.get("app_context", f"{resource_id}/{one}") is not None:
            for kind in ("app_cluster", "rsync_resource"):
                for record in await view.states(kind, f"{resource_id}/{one}", deleted=True):
                    tree.put(record.entity)
    for one in gone:
        tree.put(one)
    return select_status(tree, resource_id, query)


def _unsettled(contexts: Sequence[Transition]) -> Iterator[str]:
    """The contexts that may own what is in a cluster."""
    for one in contexts:
        if one.entity.facets[0].state.phase not in OWN_NOTHING:
            yield one.entity.id.rpartition("/")[2]


async def _objects(installation: Installation, selection: StatusSelection, query: Query) -> Objects:
    """The objects from manifests or reports, without those whose events are stored no longer."""
    if query.output not in ("detail", "rsync"):
        return {}
    manifests = query.output == "rsync" or (query.shape == "emco")
    reports = query.output == "detail" and not (query.shape == "emco" and _is_deployed(query))
    wanted = {
        sequence for sequence in _sequences(selection, manifests=manifests, reports=reports) if sequence is not None
    }
    events = await _events(installation, sorted(wanted))
    objects: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for on_cluster in selection.app_clusters:
        for item in on_cluster.items if manifests else ():
            if item.added in events:
                objects[on_cluster.app, on_cluster.cluster, item.token] = _manifest(item, events[item.added])
        if reports and on_cluster.report in events:
            for one in bundle_state.listed_resources(events[on_cluster.report]):
                objects[on_cluster.app, on_cluster.cluster, one.token] = one.found
    return objects


def _is_deployed(query: Query) -> bool:
    return query.status == "deployed" or (query.status is None and query.type in ((), ("rsync",)))


def _sequences(selection: StatusSelection, *, manifests: bool, reports: bool) -> Iterator[int | None]:
    for on_cluster in selection.app_clusters:
        if reports:
            yield on_cluster.report
        yield from (item.added for item in on_cluster.items if manifests)


def _manifest(item: StatusItem, data: Mapping[str, Any]) -> dict[str, Any]:
    named = {"apiVersion": f"{item.group}/{item.version}" if item.group else item.version, "kind": item.kind}
    return {**named, **{key: data[key] for key in ("metadata", "spec") if data.get(key) is not None}}


async def _events(installation: Installation, sequences: Sequence[int]) -> dict[int | None, Mapping[str, Any]]:
    """The data of stored events by their sequence."""
    found: dict[int | None, Mapping[str, Any]] = {}
    for begin in range(0, len(sequences), AT_ONCE):
        part = sequences[begin : begin + AT_ONCE]
        for sequence, kept in (await Log(installation).events(part)).items():
            found[sequence] = codec.decode(kept.body).get("data") or {}
    return found
