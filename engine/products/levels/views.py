"""Levels in the Python client.

Belongs here: `Levels`. Does not: reading the log (`reading`), counting (`levels.fold`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import When
from phaseline.engine.products.levels import excuses
from phaseline.engine.products.levels.fold.reckoning import ENTITY, OBJECTIVE, LevelsReport, read_grouping
from phaseline.engine.products.levels.fold.spared import Excuse
from phaseline.engine.products.levels.reading import LevelsQuestion, levels
from phaseline.engine.products.notices.fold.rules import QuietWindow
from phaseline.engine.surfaces.client.entity_view import states_of
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import SECOND


class Levels:
    """Availability, outages and time in each class: `client.levels`."""

    def __init__(self, client: ReadingClient) -> None:
        self._client = client

    async def measure(
        self, start: When = "30d", end: When | None = None, *, tree: str | Sequence[str] = (), kind: str | None = None,
        by: str = ENTITY, objective: float = OBJECTIVE, windows: Path | str | None = None, slices: float = 0,
        flaps: bool = False, progress: Callable[[int], None] = lambda _: None,
    ) -> LevelsReport:  # fmt: skip
        """How available entities were from `start` to `end` (None: now), the worst first.

        tree: these ids and those below them. by: what makes a row: `entity`, `tree`, `kind` or `label=NAME`.
        objective: in percent. windows: a file of rules of notices, or its text, whose windows are excused. slices: the
        seconds of the slices of which the times are wanted too, such as 86400. flaps: only who flaps, the most often
        first. progress: called with the number of records read so far. Raises `TreeUnknown`, `NotInLog`.
        """
        try:
            grouping = read_grouping(by)
        except ValueError as error:
            raise InvalidInput.bad_parameter(name="by", problem=str(error)) from None
        trees = (tree,) if isinstance(tree, str) else tuple(tree)
        asked = LevelsQuestion(
            start, end, trees, kind, *grouping, objective, self._excused(windows), round(slices * SECOND), flaps
        )  # fmt: skip
        return await levels(self._client, asked, progress)

    def _excused(self, windows: Path | str | None) -> Sequence[QuietWindow]:
        """The windows of a file, or of its text."""
        if windows is None:
            return ()
        # it needs YAML, which is not always installed
        from phaseline.engine.products.notices.fold import read_rules  # noqa: PLC0415

        if isinstance(windows, Path):
            return read_rules.read_file(windows, self._client.kinds).windows
        return read_rules.read(windows, self._client.kinds).windows

    async def excuse(self, tree: str, start: When, end: When, why: str) -> Excuse:
        """Excuse a time of an entity and all below it, by a note in the log. Raises `InvalidInput`, `NotPermitted`."""
        begin, until = await self._client.moment(start), await self._client.moment(end)
        given = Excuse(tree, begin.time_ns, until.time_ns, why)
        await excuses.give(await self._installation(), given, self._client.default_source)
        return given

    async def excuses(self) -> Sequence[Excuse]:
        """The excuses that stand, oldest first."""
        return await excuses.all_of(await self._installation())

    async def withdraw(self, place: int, why: str) -> Excuse:
        """Withdraw the excuse that stands at a place of the log. Raises `NotFound.no_excuse`, `NotPermitted`."""
        return await excuses.withdraw(await self._installation(), place, why, self._client.default_source)

    async def _installation(self) -> Installation:
        return states_of(await self._client.at()).installation
