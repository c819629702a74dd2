"""Entities of all cells: the cells themselves, a list, counts.

Belongs here: the handlers of these routes, putting the cells' answers together. Does not: what one cell answers
(`reading.entities`).
"""

import base64
import heapq
import json
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from phaseline.engine.cells import places
from phaseline.engine.client import maps
from phaseline.engine.client.selection import by_id, order_of
from phaseline.engine.http.call import Call, CallOf, HttpAnswer
from phaseline.engine.http.cells.cells_service import CellsService, at, away
from phaseline.engine.http.fleet import columns
from phaseline.engine.http.reading.entities import PAGING, columns_at, counted, fleet_of, listed
from phaseline.engine.http.service import Service, ViewAt
from phaseline.engine.log.when import Moment
from phaseline.schemas import codec
from phaseline.schemas.errors import BadSetting, InvalidInput, NameUnknown
from phaseline.schemas.records import Transition
from phaseline.schemas.version import __version__

CellsCall = CallOf[CellsService]
"""A request about all cells."""
NOT_KEPT = {"Cache-Control": "no-store"}


def of_cell(call: CellsCall, name: str) -> Call:
    """The request, about one of the cells."""
    return CallOf(call.service.cells[name], call.request, call.values, call.caller, call.given, call.budgets)


class CellsToken(NamedTuple):
    """Where a list over cells goes on: at an offset, with each cell at a place. query: as in `PageToken`."""

    places: dict[str, int]
    offset: int
    query: int

    def write(self) -> str:
        """The text that a client sends back."""
        return base64.urlsafe_b64encode(json.dumps(self).encode()).decode().rstrip("=")

    @classmethod
    def read(cls, text: str, query: int) -> "CellsToken":
        """The token in a text; raises `InvalidInput.other_query`."""
        try:
            found = msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls)
        except ValueError:
            raise InvalidInput.other_query(what="no list of this server") from None
        if found.query != query or found.offset < 0 or min(found.places.values(), default=0) < 0:
            raise InvalidInput.other_query(what="another query")
        return found


class _Item(NamedTuple):
    """An entity in a list over cells."""

    cell: str
    record: Transition


async def cells(call: CellsCall) -> HttpAnswer:
    """All cells: whether they can be read, where they stand, how many entities they have."""
    return HttpAnswer({"cells": [_described(name, one) for name, one in call.service.cells.items()]}, headers=NOT_KEPT)


async def cell(call: CellsCall) -> HttpAnswer:
    """One cell."""
    name, known = call.values["cell"], call.service.cells
    if name not in known:
        raise NameUnknown.among("cell", name[:64], known)
    return HttpAnswer(_described(name, known[name]), headers=NOT_KEPT)


def _described(name: str, service: Service) -> dict[str, Any]:
    if service.problem is not None:
        return {"cell": name, "connected": service.is_connected, **away(service)}
    fleet = service.follower.fleet
    moment = Moment(fleet.place, fleet.time_ns)
    return {"cell": name, "connected": service.is_connected, **at(moment), "entities": len(fleet),
            **columns.tally(fleet)}  # fmt: skip


async def readyz(call: CellsCall) -> HttpAnswer:
    """Whether at least one cell is loaded and followed: 200, or 503."""
    problems = {name: one.problem for name, one in call.service.cells.items()}
    is_ready = None in problems.values()
    body: dict[str, Any] = {"status": "ok" if is_ready else "not ready"}
    if call.values["verbose"]:
        body |= {"cells": problems, "version": __version__}
    return HttpAnswer(body, status=200 if is_ready else 503)


async def entities(call: CellsCall) -> HttpAnswer:
    """A page of the entities of all cells that fit, with counts of all that fit."""
    values, query = call.values, zlib.crc32(call.query_without(*PAGING).encode())
    token = None if values["continue"] is None else CellsToken.read(values["continue"], query)
    views = await _views(call, None if token is None else token.places)
    found = {name: await listed(of_cell(call, name), view) for name, view in views.items()}
    total = sum(map(len, found.values()))
    offset = 0 if token is None else min(token.offset, total)
    page = [*islice(_in_order(call, found), offset, offset + values["limit"])]
    more = offset + len(page) < total
    if more:
        for name, view in views.items():
            call.service.cells[name].keep(view)
    stand = {name: view.moment.place for name, view in views.items()}
    body = {
        "cells": call.service.told({name: view.moment for name, view in views.items()}),
        "counts": Counter(one.entity.facets[0].state.phase for records in found.values() for one in records),
        "total": total,
        "items": [one async for one in _maps(call, views, page)],
        "continue": CellsToken(stand, offset + len(page), query).write() if more else None,
    }
    return HttpAnswer(body, headers=NOT_KEPT)


async def all_columns(call: CellsCall) -> HttpAnswer:
    """The columns of each cell that can be read."""
    views = await _views(call, None)
    parts: list[bytes] = []
    for name, view in views.items():
        head = codec.encode_json({"cell": name, **at(view.moment)})
        parts.append(head[:-1] + b"," + (await columns_at(of_cell(call, name), view))[1:])
    told = codec.encode_json({"cells": call.service.told({name: view.moment for name, view in views.items()})})
    return HttpAnswer(b'%s,"parts":[%s]}' % (told[:-1], b",".join(parts)), headers=NOT_KEPT)


async def _views(call: CellsCall, stand: Mapping[str, int] | None) -> dict[str, ViewAt]:
    """The entities of each cell that can be read: at the time that was asked for, or at the place of a former page."""
    when = call.values["at"]
    try:
        places.check_common(call.service.cells, when)
    except BadSetting as error:
        raise InvalidInput.bad_parameter(name="at", problem=error.problem) from None
    loaded = call.service.loaded()
    if stand is None:
        return {name: await one.view(when) for name, one in loaded.items()}
    return {name: await loaded[name].view(str(place)) for name, place in stand.items() if name in loaded}


def _in_order(call: CellsCall, found: Mapping[str, list[Transition]]) -> Iterator[_Item]:
    """The entities of all cells in the order that was asked for. Those of each cell have it already."""
    values, kinds = call.values, call.service.kinds
    key: Callable[[Transition], Any] = by_id
    if values["sort"] is not None:
        everything = [one for records in found.values() for one in records]
        key = order_of(kinds, everything, values["sort"], values["kind"])
    runs = ([_Item(name, one) for one in records] for name, records in found.items())
    return heapq.merge(*runs, key=lambda one: key(one.record))


async def _maps(call: CellsCall, views: Mapping[str, ViewAt], page: list[_Item]) -> AsyncIterator[dict[str, Any]]:
    """The entities of a page as JSON shows them."""
    of_cells = {name: [one.record.entity for one in page if one.cell == name] for name in views}
    stale = {name: await view.entities.stale(of_cells[name]) for name, view in views.items()}
    unknown = {name: await view.entities.unknown_parts(of_cells[name]) for name, view in views.items()}
    for cell_name, record in page:
        since = stale[cell_name].get((record.entity.kind, record.entity.id))
        found = maps.entity_map(call.service.kinds, record, call.values["lang"], since, unknown[cell_name])
        yield {"cell": cell_name, **found}


async def counts(call: CellsCall) -> HttpAnswer:
    """How many entities of all cells are in which state, and in which class."""
    views = await _views(call, None)
    whole: dict[str, Any] = {"total": 0, "classes": {}, "kinds": {}}
    for name, view in views.items():
        one = of_cell(call, name)
        fleet = await fleet_of(one, view)
        _add(whole, columns.tally(fleet, counted(one, fleet)))
    told = call.service.told({name: view.moment for name, view in views.items()})
    return HttpAnswer({"cells": told, **whole}, headers=NOT_KEPT)


def _add(whole: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Add counts to counts of the same shape."""
    for name, value in part.items():
        if isinstance(value, Mapping):
            _add(whole.setdefault(name, {}), value)
        else:
            whole[name] = whole.get(name, 0) + value
