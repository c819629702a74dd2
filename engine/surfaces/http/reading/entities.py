"""Entities: one, a list, their counts, all as columns.

Belongs here: the handlers of these routes, and the tokens of further pages. Does not: selecting entities
(`fleet.fleet_moment`, `client.selection`), how an entity looks as JSON (`client.maps`).
"""

import asyncio
import base64
import heapq
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from time import time_ns
from typing import Any, NamedTuple

import msgspec

from phaseline.engine.log import latest, state_view
from phaseline.engine.log.explain.fetch import legal
from phaseline.engine.log.questions.selection import ClassChoice
from phaseline.engine.log.questions.selector import EVERYTHING, Selector
from phaseline.engine.log.watch import RecordFilter, chosen
from phaseline.engine.log.when import NOW, Moment
from phaseline.engine.publish.backlog import backlog
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.selection import by_id, in_order, order_of
from phaseline.engine.surfaces.client.surroundings import SurroundingsReader
from phaseline.engine.surfaces.http.call import AnyCall, Call, HttpAnswer
from phaseline.engine.surfaces.http.fleet import columns
from phaseline.engine.surfaces.http.fleet.fleet import LiveFleet
from phaseline.engine.surfaces.http.fleet.fleet_moment import FleetMoment
from phaseline.engine.surfaces.http.fleet.history import PastFleet
from phaseline.engine.surfaces.http.reading.parts import AnswerPart, answer, at, parts_of
from phaseline.engine.surfaces.http.service import Service, ViewAt
from phaseline.engine.surfaces.overview.overview import as_map, overview
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.machines.language.table import CLASSES
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import Transition, timestamp

PAGING = ("continue", "limit")
"""Parameters in which the requests for the pages of one list differ."""


class PageToken(NamedTuple):
    """Where a list goes on: at an offset of the list at a place. query: the checksum of the query it belongs to.

    stand: the place; of several cells that of each.
    """

    stand: int | dict[str, int]
    offset: int
    query: int

    def write(self) -> str:
        """The text that a client sends back."""
        return base64.urlsafe_b64encode(json.dumps(self).encode()).decode().rstrip("=")

    @classmethod
    def read(cls, text: str, query: int, *, of_cells: bool = False) -> "PageToken":
        """The token in a text; raises `InvalidInput.other_query`."""
        try:
            found = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls)
        except ValueError:
            raise InvalidInput.other_query(what="no list of this server") from None
        stand = found.stand
        places = [*stand.values()] if isinstance(stand, dict) else [stand]
        if found.query != query or min(found.offset, *places, 0) < 0 or isinstance(stand, dict) is not of_cells:
            raise InvalidInput.other_query(what="another query")
        return found


async def entities(call: AnyCall) -> HttpAnswer:
    """A page of the entities that fit, with counts of all that fit."""
    values, query, cells = call.values, zlib.crc32(call.query_without(*PAGING).encode()), call.service.cells
    token = None if values["continue"] is None else PageToken.read(values["continue"], query, of_cells=bool(cells))
    parts = await parts_of(call, None if token is None else token.stand)
    found = [await listed(one.call, one.view) for one in parts]
    total = sum(map(len, found))
    offset = 0 if token is None else min(token.offset, total)
    page = [*islice(_in_order(call, parts, found), offset, offset + values["limit"])]
    more = offset + len(page) < total
    if more:
        for one in parts:
            one.call.service.keep(one.view)
    places = {one.origin: one.view.moment.place for one in parts}
    body = {
        "counts": Counter(record.entity.facets[0].state.phase for records in found for record in records),
        "total": total,
        "items": await _maps(page, values["lang"]),
        "continue": PageToken(places if cells else places[""], offset + len(page), query).write() if more else None,
    }
    return answer(call, parts, body)


Placed = tuple[AnswerPart, Transition]
"""An entity, and the part that has it."""


def _in_order(call: AnyCall, parts: Sequence[AnswerPart], found: Sequence[list[Transition]]) -> Iterator[Placed]:
    """The entities of all parts in the order that was asked for. Those of each part have it already."""
    values = call.values
    key: Callable[[Transition], Any] = by_id
    if values["sort"] is not None and len(parts) > 1:
        key = order_of(call.service.kinds, [*chain.from_iterable(found)], values["sort"], values["kind"])
    return heapq.merge(*map(zip, map(repeat, parts), found), key=lambda one: key(one[1]))


async def _maps(page: Sequence[Placed], language: Language) -> list[dict[str, Any]]:
    """The entities of a page as JSON shows them."""
    around = {}
    for part in {one.origin: one for one, _ in page}.values():
        shown = [record.entity for one, record in page if one is part]
        around[part.origin] = await SurroundingsReader(part.view.states).of(shown)
    return [
        part.named(maps.entity_map(part.call.service.kinds, record, language, around[part.origin]))
        for part, record in page
    ]


async def listed(call: Call, view: ViewAt) -> list[Transition]:
    """All entities that fit, in order. A list of several pages is made once."""
    service, values = call.service, call.values
    key = (view.moment.place, call.query_without(*PAGING))
    grows = values["for"] and values["continue"] is None  # with the time alone: only later pages are of the same list
    if not grows and (known := service.lists.get(key)) is not None:
        return known
    kind = values["kind"]
    choice = chosen(service.kinds, kind, values["state"], values["condition"])
    RecordFilter(kind=kind, state=choice.phase, choice=choice).check(service.kinds)
    selector = _selector(values["label"])
    wanted = choice if choice.looks_at_conditions else None
    found: list[Transition] = []
    of_class = ClassChoice.read(values["class"], values["for"])
    deleted = of_class.with_ended(deleted=values["deleted"] or values["left_behind"])
    for tree in _trees(call):
        if isinstance(view.states, FleetMoment):
            found += view.states.select(kind, tree, choice.phase, deleted=deleted, choice=wanted)
        else:
            states = await view.states.states(kind, tree, choice.phase, deleted=deleted)
            found += [one for one in states if wanted is None or wanted.selects_in(one.entity)]
    if len(call.trees) > 1:
        found = state_view.in_order(found, None, deleted=True)
    if not of_class.selects_all:
        now = view.moment.time_ns if view.is_past else max(view.moment.time_ns, time_ns())
        found = of_class.among(service.kinds, found, now)
    if selector is not EVERYTHING:
        selector.check(service.kinds, kind, found)
        found = [record for record in found if selector.selects(record.entity)]
    if values["left_behind"]:
        found = [record for record in found if state_view.is_left_behind(record.entity)]
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
    around = await SurroundingsReader(view.states).of([last.entity])
    body = {
        "entity": maps.entity_map(call.service.kinds, last, values["lang"], around),
        "legal": await legal(view.states, last.entity.kind, last.entity.id),
    }
    return HttpAnswer(body, view.moment, is_past=view.is_past)


async def counts(call: AnyCall) -> HttpAnswer:
    """How many entities are in which state, and in which class."""
    parts = await parts_of(call)
    whole: dict[str, Any] = {}
    for one in parts:
        fleet = await fleet_of(one.call, one.view)
        _add(whole, columns.tally(fleet, counted(one.call, fleet)))
    return answer(call, parts, whole)


async def overviewed(call: Call) -> HttpAnswer:
    """What is bad now, since when and because of what; and what else calls for somebody."""
    service, values, trees = call.service, call.values, _trees(call)
    view = await service.view(values["at"], values["min"])
    shown = (values["limit"], values["symptoms"])
    if view.is_past:
        return HttpAnswer(await _overview(service.kinds, view, trees, *shown), view.moment, is_past=True)

    async def made() -> tuple[dict[str, Any], Moment]:
        view = await service.view()
        found = _overview(service.kinds, view, trees, *shown)
        body, deciding = await asyncio.gather(found, _deciding(service, trees))
        return {**body, "deciding": deciding}, view.moment

    body, moment = await service.overviews.get((trees, shown), made)
    return HttpAnswer(body, moment)


async def _deciding(service: Service, trees: Sequence[str | None]) -> str | None:
    """Whether the events of these trees are decided: "none", "all", or "some" as far as is seen; None: NATS is away."""
    if not service.is_connected:
        return None
    found = await asyncio.gather(*(backlog(service.installation, tree) for tree in trees))
    if any(one.workers == 0 for one in found):
        return "none"
    return "some" if any(one.unowned or one.silent or not one.is_seen for one in found) else "all"


async def _overview(
    kinds: Kinds, view: ViewAt, trees: Sequence[str | None], limit: int, symptoms: int
) -> dict[str, Any]:
    """The overview of some trees at a moment: all entities are looked at, beside the event loop."""
    found = list[Transition]()
    for tree in trees:
        found += await view.states.states(None, tree, None, deleted=True)
    now = view.moment.time_ns if view.is_past else max(view.moment.time_ns, time_ns())
    return await asyncio.to_thread(lambda: as_map(overview(kinds, found, now, limit), symptoms))


def _add(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Add counts to counts of the same shape."""
    for name, value in part.items():
        if isinstance(value, Mapping):
            _add(whole.setdefault(name, {}), value)
        else:
            whole[name] = whole.get(name, 0) + value


def counted(call: Call, fleet: LiveFleet) -> Sequence[int] | None:
    """The numbers of what is counted; None for all that are not deleted."""
    values = call.values
    everything = values["kind"] is None and not call.trees and not values["deleted"]
    if everything and not isinstance(fleet, PastFleet):
        return None
    return columns.chosen(fleet, values["kind"], call.trees, deleted=values["deleted"])


async def all_columns(call: AnyCall) -> HttpAnswer:
    """All entities of a kind and a tree as columns; of several cells those of each."""
    parts = await parts_of(call)
    found = [await columns_at(one.call, one.view) for one in parts]
    if call.service.cells:
        heads = (codec.encode_json({"cell": one.origin, **at(one.view.moment)})[:-1] for one in parts)
        joined = b",".join(b"%s,%s" % (head, body[1:]) for head, body in zip(heads, found, strict=True))
        return answer(call, parts, b'{"parts":[%s]}' % joined)
    return answer(call, parts, found[0])


async def columns_at(call: Call, view: ViewAt) -> bytes:
    """The columns at a moment, as JSON."""
    kept, key = call.service.bodies, (view.moment.place, call.query)
    body = kept.get(key)
    if body is None:
        fleet = await fleet_of(call, view)
        body = codec.encode_json(columns.columns(fleet, _shape(call, fleet)))
        kept.put(key, body)
    return body


def _shape(call: Call, fleet: LiveFleet) -> columns.FixedColumns:
    """The shape of what is asked for. That of the present fleet is kept."""
    values, service = call.values, call.service
    key, is_present = (fleet.shape, call.query), fleet is service.follower.fleet
    found = service.shapes.get(key) if is_present else None
    if found is None:
        found = columns.shape(fleet, columns.shown(fleet, values["kind"], call.trees, deleted=values["deleted"]))
        if is_present:
            service.shapes.put(key, found)
    return found


async def strip(call: Call) -> HttpAnswer:
    """How many transitions there were when, by the class of the state that they led to."""
    values, service = call.values, call.service
    fleet = await service.fleet()
    last = await service.moment(values["to"] or NOW)
    first = await service.beginning(values["from"], values["to"], last)
    history = service.history.history
    if history is None:
        return _no_strip(Moment(fleet.place, fleet.time_ns), service.history.problem)
    if _trees(call) != (None,):
        numbers = columns.chosen(fleet, None, call.trees, deleted=True)
        history = await asyncio.to_thread(history.copy().of, numbers, len(fleet))
    oldest = history.times[0] if len(history) else last.time_ns
    begins = max(first.time_ns, oldest)
    counted = history.folded if values["fold"] else history.strip
    found = counted(min(begins, last.time_ns), last.time_ns, values["buckets"])
    body = {
        "begins": history.begins, "times": list(map(timestamp, found.times)), "places": found.places,
        "classes": found.classes, "gaps": found.gaps, "problem": None,
    }  # fmt: skip
    return HttpAnswer(body, Moment(fleet.place, fleet.time_ns))


def _no_strip(now: Moment, problem: str | None) -> HttpAnswer:
    """The answer while the past is not known: without a bucket. It may differ at the same place soon."""
    body: dict[str, Any] = {
        "place": now.place, "time": timestamp(now.time_ns), "begins": now.place, "times": [], "places": [],
        "classes": {name: [] for name in CLASSES}, "gaps": [], "problem": problem,
    }  # fmt: skip
    return HttpAnswer(body, headers={"Cache-Control": "no-store"})


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
        state_view.patterns(call.service.installation, kind, tree)
        for record in await view.states.states(kind, tree, deleted=True):
            past.apply(1, record)
    return past
