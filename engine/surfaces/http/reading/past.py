"""How it came to be so: why, histories, timelines, trees, what differs between two moments.

Belongs here: the handlers of these routes. Does not: finding it out (`log.explain`, `engine.log`, `client.ranges`).
"""

from collections import Counter, deque
from collections.abc import Sequence
from itertools import chain
from typing import Any

from phaseline.engine.log import log_records
from phaseline.engine.log.explain import staleness, unknown_parts
from phaseline.engine.log.explain.model import as_map
from phaseline.engine.log.explain.shut import ShutBy
from phaseline.engine.log.latest import check_name
from phaseline.engine.log.log_records import Logged
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import nearest
from phaseline.schemas.records import Transition, timestamp
from phaseline.schemas.subjects import natural


async def why(call: Call) -> HttpAnswer:
    """Why an entity is in its state."""
    values = call.values
    view = await call.service.view(values["at"], values["min"])
    explanation = await view.entities.why(values["kind"], values["id"])
    stale = (await view.entities.stale([explanation.entity])).get((values["kind"], values["id"]))
    body = {**as_map(explanation), **staleness.shown(stale)}
    del body["place"]
    return HttpAnswer(body, view.moment, is_past=view.is_past)


async def history(call: Call) -> HttpAnswer:
    """The transitions of one entity, oldest first: the last ones, or those from a place on."""
    values, service = call.values, call.service
    view = await service.view(values["to"])
    kind, entity_id, limit = values["kind"], values["id"], values["limit"]
    check_name(service.kinds, kind, entity_id)
    start = values["from"]
    after = None
    if start is not None:
        after = (await service.beginning(start, values["to"], view.moment)).place - start.isdecimal()
    installation = service.installation
    filter_ = installation.subjects.transition(installation.partition_of(entity_id), kind, "*", "*", entity_id)
    found, more = deque[Logged](maxlen=limit if after is None else None), None
    async for one in log_records.records(installation, filter_, after or 0, view.moment.place):
        if after is not None and len(found) == limit:
            more = one.sequence
            break
        found.append(one)
    if not found and not await view.states.exists(kind, entity_id):
        raise view.states.unknown([kind], entity_id)
    items = [maps.record_map(service.kinds, one.sequence, one.record, one.wire, values["lang"]) for one in found]
    return HttpAnswer({"items": items, "continue": more}, view.moment, is_past=view.is_past)


async def timeline(call: Call) -> HttpAnswer:
    """The states of an entity, and of those below it, over time."""
    values, service = call.values, call.service
    view = await service.view(values["to"])
    start = await service.beginning(values["from"], values["to"], view.moment)
    check_name(service.kinds, values["kind"], values["id"])
    await view.entities.get(values["kind"], values["id"])
    found = await service.client.timeline(values["id"], start=start, end=view.moment, depth=values["depth"])
    mine = [lane for lane in found.lanes if (lane.kind, lane.id) == (values["kind"], values["id"]) or lane.depth]
    body = {
        "from": timestamp(found.start_ns), "to": timestamp(found.end_ns),
        "lanes": [{**maps.lane_map(service.kinds, lane, values["lang"]), "depth": lane.depth} for lane in mine],
    }  # fmt: skip
    return HttpAnswer(body, view.moment, is_past=view.is_past)


async def tree(call: Call) -> HttpAnswer:
    """An entity and everything below it, nested, some levels deep."""
    values, service = call.values, call.service
    view = await service.view(values["at"], values["min"])
    records = await view.entities.last_of_tree(values["id"], deleted=values["deleted"])
    entities = [record.entity for record in records]
    stale, unknown = (
        await view.entities.stale(entities),
        unknown_parts.count(service.kinds, entities, entities),
    )
    shut = await view.entities.shut(entities)
    nested = NestedEntities(service.kinds, records, stale, unknown, shut, values["lang"])
    body = {"total": len(records), "trees": [nested.shown(top, values["depth"]) for top in nested.tops]}
    return HttpAnswer(body, view.moment, is_past=view.is_past)


class NestedEntities:
    """The entities of a tree, each with its children. tops: those whose parents are not among them."""

    def __init__(
        self, kinds: Kinds, records: Sequence[Transition], stale: Any, unknown: unknown_parts.PartsOf, shut: ShutBy,
        language: str,
    ) -> None:  # fmt: skip
        """stale: since when the states of some are stale, by kind and id. unknown: what is not known of their parts.

        shut: what shuts some to new work.
        """
        self._shut = shut
        self._kinds, self._stale, self._unknown, self._language = kinds, stale, unknown, language
        self._found = {(one.entity.kind, one.entity.id): one for one in records}
        self._below: dict[tuple[str, str], list[Transition]] = {}
        self.tops: list[Transition] = []
        for record in records:
            above = nearest(kinds, record.entity.kind, record.entity.id, self._found)
            (self.tops if above is None else self._below.setdefault(above, [])).append(record)

    def shown(self, record: Transition, depth: int | None) -> dict[str, Any]:
        """An entity with its children; where the depth ends, with the counts of what is below."""
        key = (record.entity.kind, record.entity.id)
        found = maps.entity_map(self._kinds, record, self._language, self._stale.get(key), self._unknown, self._shut)
        children = self._below.get(key, [])
        if depth == 0:
            return {**found, "below": self._counted(children)}
        return {**found, "children": [self.shown(child, None if depth is None else depth - 1) for child in children]}

    def _counted(self, records: Sequence[Transition]) -> dict[str, Counter[str]]:
        """How many of them, and of what is below, are in which state, by kind."""
        found: dict[str, Counter[str]] = {}
        todo = deque(records)
        while todo:
            entity = todo.popleft().entity
            found.setdefault(entity.kind, Counter())[entity.facets[0].state.phase] += 1
            todo += self._below.get((entity.kind, entity.id), [])
        return found


async def changes(call: Call) -> HttpAnswer:
    """What differs between two moments."""
    values, service = call.values, call.service
    view = await service.view(values["to"])
    start = await service.beginning(values["from"], values["to"], view.moment)
    lists = [
        await service.client.changes(start, view.moment, tree=tree, kind=values["kind"])
        for tree in call.trees or (None,)
    ]
    found = sorted(chain.from_iterable(lists), key=lambda change: (natural(change.id), change.kind))
    body = {
        "from": {"place": start.place, "time": timestamp(start.time_ns)},
        "counts": Counter(change.what for change in found), "total": len(found),
        "items": [maps.change_map(change) for change in found[: values["limit"]]],
    }  # fmt: skip
    return HttpAnswer(body, view.moment, is_past=view.is_past)
