"""What `watch --class` does: who has been in a class for long enough, a line each, and a line when that is over.

Belongs here: reading one installation or several cells, the lines. Does not: the options (`watch`), who has been in a
class for how long (`surfaces.overview`).
"""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from phaseline.engine.log.questions.selection import ClassChoice
from phaseline.engine.log.questions.selector import Selector
from phaseline.engine.log.when import NOW, When
from phaseline.engine.surfaces.cells.places import Places
from phaseline.engine.surfaces.cells.reading import Reading
from phaseline.engine.surfaces.cli import cells, render
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text, width_of
from phaseline.engine.surfaces.client import dwelling, maps
from phaseline.engine.surfaces.client.dwelling import WantedClass
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.engine.surfaces.overview.overview import Dwell
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.machines.language.endings import state_for_people

if TYPE_CHECKING:
    from phaseline.engine.surfaces.overview.dwells import Dwells


def class_of_options(
    of_class: ClassChoice, kind: str | None, selector: Selector, which: Mapping[str, Any]
) -> WantedClass:
    """What the options of the command choose."""
    return WantedClass(of_class, kind, which["tree"], which["state"], which["condition"], selector.selects)


class ClassLines:
    """Prints who has been in a class for long enough, and whose time in it is over."""

    def __init__(
        self, kinds: Kinds, wanted: WantedClass, start: When | Places, output: Output, language: Language
    ) -> None:  # fmt: skip
        """start: where to begin, of several cells by name."""
        self._kinds, self._wanted, self._start, self._output, self._language = kinds, wanted, start, output, language
        self._known: dict[str, Dwells] = {}
        """By cell, what was told of it: after an error its watch goes on from there."""
        self._described = render.Described(kinds, language)

    async def print(self, reading: Reading, limit: int | None, *, follow: bool) -> None:
        """Print them, `limit` lines at most."""
        room = max(map(width_of, reading.names), default=0)
        shown = 0
        async for cell, one in self._all(reading, follow=follow):
            self._show(f"{cell:<{room}}", cell, one)
            self._output.flush_when_idle()
            shown += 1
            if shown == limit:
                return

    async def _all(self, reading: Reading, *, follow: bool) -> AsyncIterator[tuple[str, Dwell]]:
        if follow:
            async for cell, one in reading.follow(self._of_cell, partial(cells.tell, self._output)):
                yield cell, one
            return
        names = {client: name for name, client in (await reading.clients()).items()}
        for cell, found in await reading.each(lambda client: self._until_now(names.get(client, ""), client)):
            for one in found:
                yield cell, one

    async def _until_now(self, cell: str, client: ReadingClient) -> list[Dwell]:
        """All of one installation until now."""
        async with dwelling.watched(client, self._wanted, self._begins(cell), follow=False) as watch:
            return [one async for one in watch]

    async def _of_cell(self, cell: str, client: ReadingClient) -> AsyncIterator[Dwell]:
        if cell not in self._known:
            self._known[cell] = self._wanted.dwells(client)
        dwells = self._known[cell]
        async with dwelling.watched(client, self._wanted, self._begins(cell), follow=True, dwells=dwells) as watch:
            async for one in watch:
                yield one

    def _begins(self, cell: str) -> When:
        return self._start.get(cell, NOW) if isinstance(self._start, Mapping) else self._start

    def _show(self, padded: str, cell: str, one: Dwell) -> None:
        if self._output.is_data:
            shown = dwelling.dwell_map(self._kinds, one, self._language)
            self._output.show(cells.named(cell, shown), maps.name_of(one.entity))
        else:
            row = DwellRow(one, self._described, padded, self._output.width)
            self._output.record(COLUMNS, row)


class DwellRow(NamedTuple):
    """What is told of an entity, and where it is shown. cell: empty where there is one installation."""

    dwell: Dwell
    described: render.Described
    cell: str
    width: int | None


def _time(row: DwellRow) -> Text:
    until = row.dwell.until_ns
    return Text(render.time_within(row.dwell.since_ns if until is None else until, row.width), "bright_black")


def _dwell(row: DwellRow) -> Text:
    """`bad for 5 m 0 s`, `good after 12 m 4 s bad`."""
    one = row.dwell
    if one.until_ns is None:
        return render.lasting(one.state_class, render.now_ns() - one.since_ns)
    lasted = f" after {render.duration(one.until_ns - one.since_ns)} {one.state_class}"
    return Text.assemble(render.word(one.now_class, render.CLASS_COLOURS[one.now_class]), lasted)


def _states(row: DwellRow) -> Text:
    entity = row.dwell.entity
    found = tuple([state_for_people(facet.state, entity.attributes) for facet in entity.facets])
    return row.described[entity.kind, entity.names, found][0]


def _cause(row: DwellRow) -> Text:
    record = row.dwell.record
    message = render.reason_and_message(record.reason, record.message)
    return Text.assemble(render.cause(record), ": ", message) if message else render.cause(record)


COLUMNS: Final[tuple[Column[DwellRow], ...]] = (
    Column("CELL", lambda row: render.word(row.cell, "cyan")),
    Column("TIME", _time),
    Column("ENTITY", lambda row: render.text_of(f"{row.dwell.entity.kind} {row.dwell.entity.id}", "bold")),
    Column("DWELL", _dwell),
    Column("STATE", _states),
    Column("CAUSE", _cause),
)
"""What `phaseline watch --class` shows, one after the other: when it began or ended, who, for how long, how it is."""
