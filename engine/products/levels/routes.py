"""Levels by HTTP.

Belongs here: the route and its handler. Does not: reading the log (`reading`), how a request is read (`surfaces.http`).
An answer has no tag of the version: what lasts grows with the time, and a time of the past can be excused later.
"""

from collections.abc import Sequence
from typing import Any

from phaseline.engine.log.when import NOW, START
from phaseline.engine.products.levels.fold.reckoning import ENTITY, OBJECTIVE, levels_map, read_grouping
from phaseline.engine.products.levels.reading import LevelsQuestion
from phaseline.engine.products.levels.reading import levels as read_levels
from phaseline.engine.products.notices.fold.rules import QuietWindow
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.engine.surfaces.http.parameters import Parameter
from phaseline.engine.surfaces.http.routes import KIND, LIMIT, READ, TO, TREE, Route
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import SECOND

FROM = Parameter("from", "the first moment: a place, a time, or how long ago", "moment", default="30d", example="1h")
BY = Parameter("by", "what makes a row: `entity`, `tree`, `kind`, or `label=NAME`", default=ENTITY, example="tree")
GOAL = Parameter("objective", "the share of the time in which it should be available, in percent",
                 default=str(OBJECTIVE), example="99.5")  # fmt: skip
SLICE = Parameter("slice", "the times of each piece of so long too, from 00:00 UTC on: `1h`, `1d`", "duration",
                  default="0s", example="1h")  # fmt: skip
WINDOWS = Parameter("windows", "windows that are excused, as JSON: what stands under `windows` in a file of rules",
                    example='[{"name":"night","cron":"0 2 * * SUN","for":"3h"}]')  # fmt: skip
FLAPS = Parameter("flaps", "only who flaps, the most often first", "flag", default=False)


def _number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1
    if not 0 <= found <= 100:
        raise InvalidInput.bad_parameter(name=GOAL.name, problem=f"must be from 0 to 100, found {text[:64]!r}")
    return found


def _grouping(text: str) -> tuple[str, str]:
    try:
        return read_grouping(text)
    except ValueError as error:
        raise InvalidInput.bad_parameter(name=BY.name, problem=str(error)) from None


def _windows(text: str | None, kinds: Kinds) -> Sequence[QuietWindow]:
    if not text:
        return ()
    # it needs YAML, which is not always installed
    from phaseline.engine.products.notices.fold import read_rules  # noqa: PLC0415

    return read_rules.read(f'{{"windows": {text}}}', kinds, WINDOWS.name).windows


async def levels(call: Call) -> HttpAnswer:
    """Availability, time in each class, outages and budgets of a part of the past."""
    values, service = call.values, call.service
    by, objective = _grouping(values["by"]), _number(values["objective"])
    end: Any = None
    if values["to"] not in (None, NOW):
        end = await service.moment(values["to"])
    start = values["from"]
    if start != START:
        start = await service.beginning(start, values["to"], end or await service.moment(NOW))
    windows = _windows(values["windows"], service.kinds)
    asked = LevelsQuestion(
        start, end, call.trees, values["kind"], *by, objective, windows, round(values["slice"] * SECOND),
        values["flaps"],
    )  # fmt: skip
    async with service.places.taken(call.sender):
        found = await read_levels(service.client, asked)
    return HttpAnswer(levels_map(found, values["limit"]))


ROUTES = (
    Route("GET", "/v1/levels", "getLevels", levels,
          "How available things were: time in each class, outages with their cause, budgets; the worst first.",
          (FROM, TO, TREE, KIND, BY, GOAL, SLICE, WINDOWS, FLAPS, LIMIT), problems=READ, reads_past=True),
)  # fmt: skip
