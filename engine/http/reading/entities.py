"""Entities: one, a list, their counts, all as columns.

Belongs here: the handlers of these routes, and the tokens of further pages. Does not: selecting entities
(`fleet.fleet_moment`, `client.selection`), how an entity looks as JSON (`client.maps`).
"""

import asyncio
import base64
import json
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from phaseline.engine.client import maps
from phaseline.engine.client.selection import EVERYTHING, Selector, in_order
from phaseline.engine.http.call import Call, HttpAnswer
from phaseline.engine.http.fleet import columns
from phaseline.engine.http.fleet.fleet import LiveFleet
from phaseline.engine.http.fleet.fleet_moment import FleetMoment
from phaseline.engine.http.fleet.history import PastFleet
from phaseline.engine.http.service import ViewAt
from phaseline.engine.log import latest
from phaseline.engine.log.watch import RecordFilter, chosen
from phaseline.engine.log.when import NOW, Moment
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.docs import wording
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput, NoAnswer
from phaseline.schemas.records import Entity, Transition, timestamp

PAGING = ("continue", "limit")
"""Parameters in which the requests for the pages of one list differ."""


class PageToken(NamedTuple):
    """Where a list goes on: at an offset of the list at a place. query: the checksum of the query it belongs to."""

    place: int
    offset: int
    query: int

    def write(self) -> str:
        """The text that a client sends back."""
        return base64.urlsafe_b64encode(json.dumps(self).encode()).decode().rstrip("=")

    @classmethod
    def read(cls, text: str, query: int) -> "PageToken":
        """The token in a text; raises `InvalidInput.other_query`."""
        try:
            found = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls)
        except ValueError:
            raise InvalidInput.other_query(what="no list of this server") from None
        if found.query != query or found.offset < 0 or found.place < 0:
            raise InvalidInput.other_query(what="another query")
        return found


async def entities(call: Call) -> HttpAnswer:
    """A page of the entities that fit, with counts of all that fit."""
    service, values, query = call.service, call.values, zlib.crc32(call.query_without(*PAGING).encode())
    token = None if values["continue"] is None else PageToken.read(values["continue"], query)
    at = values["at"] if token is None else str(token.place)
    view = await service.view(at, values["min"])
    found = await listed(call, view)
    offset, limit = 0 if token is None else token.offset, values["limit"]
    page = found[offset : offset + limit]
    shown = [record.entity for record in page]
    stale, unknown = await view.entities.stale(shown), await view.entities.unknown_parts(shown)
    more = offset + len(page) < len(found)
    if more:
        service.keep(view)
    body = {
        "counts": Counter(record.entity.facets[0].state.phase for record in found),
        "total": len(found),
        "items": [
            maps.entity_map(
                call.service.kinds, one, values["lang"], stale.get((one.entity.kind, one.entity.id)), unknown
            )
            for one in page
        ],
        "continue": PageToken(view.moment.place, offset + len(page), query).write() if more else None,
    }
    return HttpAnswer(body, view.moment, is_past=view.is_past)


async def listed(call: Call, view: ViewAt) -> list[Transition]:
    """All entities that fit, in order. A list of several pages is made once."""
    service, values = call.service, call.values
    key = (view.moment.place, call.query_without(*PAGING))
    if (known := service.lists.get(key)) is not None:
        return known
    kind = values["kind"]
    choice = chosen(service.kinds, kind, values["state"], values["condition"])
    RecordFilter(kind=kind, state=choice.phase, choice=choice).check(service.kinds)
    selector = _selector(values["label"])
    fits = choice.selects if choice.looks_at_conditions else None
    found: list[Transition] = []
    for tree in _trees(call):
        if isinstance(view.states, FleetMoment):
            found += view.states.select(kind, tree, choice.phase, deleted=values["deleted"], fits=fits)
        else:
            states = await view.states.states(kind, tree, choice.phase, deleted=values["deleted"])
            found += [one for one in states if fits is None or any(fits(facet.state) for facet in one.entity.facets)]
    if len(call.trees) > 1:
        found = latest.in_order(found, None, deleted=True)
    if selector is not EVERYTHING:
        selector.check(service.kinds, kind, found)
        found = [record for record in found if selector.selects(record.entity)]
    if values["sort"] is not None:
        found = in_order(service.kinds, found, values["sort"], kind)
    if len(found) > values["limit"]:
        service.lists.put(key, found)
    return found


def _trees(call: Call) -> Sequence[str | None]:
    """The trees that are asked for, one after the other; None: everything."""
    for tree in call.trees:
        latest.check_tree(tree)
    return call.trees or (None,)


def _selector(text: str | None) -> Selector:
    try:
        return EVERYTHING if text is None else Selector.read(text)
    except ValueError as error:
        raise InvalidInput.bad_parameter(name="label", problem=str(error)) from None


async def entity(call: Call) -> HttpAnswer:
    """One entity."""
    values = call.values
    view = await call.service.view(values["at"], values["min"])
    last = await view.entities.last(values["kind"], values["id"])
    stale = (await view.entities.stale([last.entity])).get((last.entity.kind, last.entity.id))
    body = {
        "entity": maps.entity_map(
            call.service.kinds, last, values["lang"], stale, await view.entities.unknown_parts([last.entity])
        ),
        "legal": legal(call.service.kinds, last.entity),
    }
    return HttpAnswer(body, view.moment, is_past=view.is_past)


def legal(kinds: Kinds, entity: Entity) -> dict[str, str]:
    """The triggers that an entity takes in its states, each with what must hold in other entities; empty: nothing."""
    kind = kinds.get(entity.kind)
    if kind is None:
        return {}
    facets = (*entity.facets, *kind.unborn[len(entity.facets) :])  # `contact` is left out while nobody waits
    found: dict[str, str] = {}
    for trigger, role in kind.roles.items():
        guards = {wording.guards(step.row) for _, step in kind.offered(trigger, facets)}
        if guards and role != "derived":
            found[trigger] = "" if "" in guards else ", or ".join(sorted(guards))
    return found


async def counts(call: Call) -> HttpAnswer:
    """How many entities are in which state."""
    values = call.values
    view = await call.service.view(values["at"], values["min"])
    fleet = await fleet_of(call, view)
    return HttpAnswer(columns.tally(fleet, counted(call, fleet)), view.moment, is_past=view.is_past)


def counted(call: Call, fleet: LiveFleet) -> Sequence[int] | None:
    """The numbers of what is counted; None for all that are not deleted."""
    values = call.values
    everything = values["kind"] is None and not call.trees and not values["deleted"]
    if everything and not isinstance(fleet, PastFleet):
        return None
    return columns.chosen(fleet, values["kind"], call.trees, deleted=values["deleted"])


async def all_columns(call: Call) -> HttpAnswer:
    """All entities of a kind and a tree as columns."""
    view = await call.service.view(call.values["at"], call.values["min"])
    return HttpAnswer(await columns_at(call, view), view.moment, is_past=view.is_past)


async def columns_at(call: Call, view: ViewAt) -> bytes:
    """The columns at a moment, as JSON."""
    kept, key = call.service.bodies, (view.moment.place, call.query)
    body = kept.get(key)
    if body is None:
        fleet = await fleet_of(call, view)
        body = codec.encode_json(columns.columns(fleet, _shape(call, fleet)))
        kept.put(key, body)
    return body


def _shape(call: Call, fleet: LiveFleet) -> columns.Shape:
    """The shape of what is asked for. That of the present fleet is kept."""
    values, service = call.values, call.service
    key, is_present = (fleet.shape, call.query), fleet is service.follower.fleet
    found = service.shapes.get(key) if is_present else None
    if found is None:
        found = columns.shape(fleet, columns.chosen(fleet, values["kind"], call.trees, deleted=values["deleted"]))
        if is_present:
            service.shapes.put(key, found)
    return found


async def strip(call: Call) -> HttpAnswer:
    """How many transitions there were when, by the class of the state that they led to."""
    values, service = call.values, call.service
    fleet = await service.fleet()
    history = service.history.history
    if history is None:
        raise NoAnswer.still_loading(entities=len(fleet), place=fleet.place)
    last = await service.moment(values["to"] or NOW)
    first = await service.beginning(values["from"], values["to"], last)
    if _trees(call) != (None,):
        numbers = columns.chosen(fleet, None, call.trees, deleted=True)
        history = await asyncio.to_thread(history.copy().of, numbers, len(fleet))
    oldest = history.times[0] if len(history) else last.time_ns
    begins = max(first.time_ns, oldest)
    counted = history.folded if values["fold"] else history.strip
    found = counted(min(begins, last.time_ns), last.time_ns, values["buckets"])
    body = {
        "begins": history.begins, "times": list(map(timestamp, found.times)), "places": found.places,
        "classes": found.classes, "gaps": found.gaps,
    }  # fmt: skip
    return HttpAnswer(body, Moment(fleet.place, fleet.time_ns))


async def fleet_of(call: Call, view: ViewAt) -> LiveFleet:
    """The fleet itself, if it stands at the moment; else one of what was there at the moment. Checks kind and trees."""
    kind, trees = call.values["kind"], _trees(call)
    RecordFilter(kind=kind).check(call.service.kinds)
    fleet = await call.service.fleet()
    if fleet.place == view.moment.place:
        return fleet
    place, history = view.moment.place, call.service.history
    if history.history is not None and history.covers(place):
        return PastFleet(fleet, history.history.columns_at(place, len(fleet)), place)
    past = LiveFleet(call.service.kinds)
    for tree in trees:
        latest.patterns(call.service.installation, kind, tree)
        for record in await view.states.states(kind, tree, deleted=True):
            past.apply(1, record)
    return past
