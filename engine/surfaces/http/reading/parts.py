"""The parts of an answer: what each installation says that is asked, of one or of several cells.

Belongs here: asking each at its moment, making one answer of all, with what it says of cells that are missing. Does
not: what is asked (`entities`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.engine.log.when import Moment
from phaseline.engine.surfaces.cells import places
from phaseline.engine.surfaces.http.call import AnyCall, Call, HttpAnswer
from phaseline.engine.surfaces.http.service import Service, ViewAt
from phaseline.schemas import codec
from phaseline.schemas.errors import BadSetting, InvalidInput
from phaseline.schemas.records import timestamp

NOT_KEPT = {"Cache-Control": "no-store"}


class AnswerPart(NamedTuple):
    """One installation in an answer. origin: the name of its cell; empty where there is one installation."""

    origin: str
    call: Call
    view: ViewAt

    def named(self, shown: dict[str, Any]) -> dict[str, Any]:
        """What JSON shows of it, with the name of its cell."""
        return {"cell": self.origin, **shown} if self.origin else shown


async def parts_of(call: AnyCall, stand: int | Mapping[str, int] | None = None) -> Sequence[AnswerPart]:
    """The entities of each installation that can be read, at the moment that is asked for. stand: of a former page."""
    service, when = call.service, call.values["at"]
    if not service.cells:
        view = await service.view(when if stand is None else str(stand), call.values["min"])
        return [AnswerPart("", call, view)]
    try:
        places.check_common(service.cells, when)
    except BadSetting as error:
        raise InvalidInput.bad_parameter(name="at", problem=error.problem) from None
    loaded = service.loaded()
    asked = dict.fromkeys(loaded, when) if not isinstance(stand, Mapping) else {
        name: str(place) for name, place in stand.items() if name in loaded
    }  # fmt: skip
    return [AnswerPart(name, call.within(name), await loaded[name].view(at)) for name, at in asked.items()]


def answer(call: AnyCall, parts: Sequence[AnswerPart], body: dict[str, Any] | bytes) -> HttpAnswer:
    """The answer: true at its moment, or with what it says of each cell."""
    cells: Mapping[str, Service] = call.service.cells
    if not cells:
        [one] = parts
        return HttpAnswer(body, one.view.moment, is_past=one.view.is_past)
    moments = {one.origin: one.view.moment for one in parts}
    told = codec.encode_json({"cells": {name: _told(one, moments.get(name)) for name, one in cells.items()}})
    shown = body if isinstance(body, bytes) else codec.encode_json(body)
    return HttpAnswer(told[:-1] + b"," + shown[1:], headers=NOT_KEPT)


def _told(service: Service, moment: Moment | None) -> dict[str, Any]:
    """The moment at which the part of a cell is true, or why it has no part."""
    return away(service) if moment is None else {**at(moment), "connected": service.is_connected}


def at(moment: Moment) -> dict[str, Any]:
    """A moment of a cell."""
    return {"place": moment.place, "time": timestamp(moment.time_ns)}


def away(service: Service) -> dict[str, Any]:
    """Why a cell has no part in an answer."""
    return {"away": service.problem or "the states were loaded after this answer was begun"}
