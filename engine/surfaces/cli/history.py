"""The command `history`: the transitions of one entity.

Belongs here: its options and layout. Does not: reading the log (`phaseline.engine.log.watch`).
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from math import inf
from typing import Any, Final, NamedTuple, TypeVar

import click

from phaseline.engine.log.event_order import EventWatch
from phaseline.engine.log.explain.staleness import Stale
from phaseline.engine.log.watch import Clock, Watch
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cells.reading import CellRecord, records_of
from phaseline.engine.surfaces.cli import cells, entity_name, options, render, terminal, undecided
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.cli.watch import show_records
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.machines.language.endings import state_for_people
from phaseline.schemas.records import State, Transition

Recorded = TypeVar("Recorded", "TransitionSpan", CellRecord[Any])


@click.command(
    cls=Page,
    examples=[
        ("phaseline history node c1/pool-a/n7", ""),
        ("phaseline history node c1/pool-a/n7 --json", "the records, for programs"),
    ],
)
@options.clock
@options.language
@cells.locating
@options.output("json", "yaml", "wide")
@entity_name.argument()
def history(
    settings: Settings, kind: str | None, entity_id: str, *, clock: Clock, lang: Language, output: Output
) -> int | None:
    """Show the transitions of one entity: when, from which state to which, for how long, and the event behind each."""

    async def work() -> None:
        async with undecided.reading(settings, entity_id, None) as client:
            name = kind or await client.kind_of(entity_id)
            records = client.history(name, entity_id, clock=clock)
            if output.is_data:
                await show_records(client.kinds, _from_the_first(records_of(records)), None, output, lang)
            else:
                await _show(client, name, entity_id, records, output, lang)
            if isinstance(records, EventWatch):
                terminal.without_time(records.without_time)

    return terminal.run(work())


async def _show(
    client: ReadingClient, kind: str, entity_id: str, records: Watch[Transition], output: Output, language: Language
) -> None:
    """Print the transitions in rows, as they are read."""
    view = await client.at()
    entity = await view.get(kind, entity_id)
    stale = (await view.stale([entity])).get((kind, entity_id))
    rows = output.rows(COLUMNS)
    async for some in _from_the_first(lasting(records)):
        for one in some:
            rows.add(HistoryRow(client.kinds, one, one.record, language, stale, output.width))
    rows.settle()


async def _from_the_first(records: AsyncIterator[list[Recorded]]) -> AsyncGenerator[list[Recorded], None]:
    """The records; at their end it is said which versions are missing before the first one."""
    begins: float = inf  # with the clock `event`, the first record need not have the first version
    async for some in records:
        begins = min(begins, *(one.record.entity.version for one in some))
        yield some
    if 1 < begins < inf:
        which = "version 1 is" if begins == 2 else f"versions 1 to {begins - 1} are"
        terminal.say(f"{which} no longer in the log: an archive has what is missing (--archive DIR)")


@dataclass(slots=True)
class TransitionSpan:
    """A transition with the one before it, and when its facet left the state: None where it is still in it."""

    record: Transition
    previous: Transition | None
    until: int | None = None


async def lasting(records: Watch[Transition]) -> AsyncIterator[list[TransitionSpan]]:
    """The transitions in order, each once it is known how long its state lasted; as many at a time as are there."""
    waiting, last = deque[TransitionSpan](), dict[str, TransitionSpan]()
    previous: Transition | None = None
    while batch := await records.batch():
        for record in (one.record for one in batch if isinstance(one.record, Transition)):
            if record.facet in last:
                last[record.facet].until = record.time_ns
            last[record.facet] = TransitionSpan(record, previous)
            waiting.append(last[record.facet])
            previous = record
        known = []
        while waiting[0].until is not None:
            known.append(waiting.popleft())
        if known:
            yield known
    if waiting:
        yield [*waiting]


class HistoryRow(NamedTuple):
    """A transition in the table. stale: why the entity is. width: of the terminal."""

    kinds: Kinds
    lasting: TransitionSpan
    record: Transition
    language: Language
    stale: Stale | None
    width: int | None

    @property
    def has_several(self) -> bool:
        """Whether the entity has several facets."""
        return len(self.record.entity.names) > 1

    @property
    def is_narrow(self) -> bool:
        """Whether there is no room for what may stand elsewhere."""
        return self.width is not None and self.width < render.NARROW

    def state(self, found: State | None) -> Text:
        """A state of the facet."""
        kind = self.record.entity.kind
        return render.NOTHING if found is None else render.state(self.kinds, kind, self.record.facet, found)

    @property
    def label(self) -> Text:
        """How the new state is called."""
        record = self.record
        shown = state_for_people(record.after, record.entity.attributes)
        return render.label(self.kinds, record.entity.kind, record.facet, shown, self.language)

    @property
    def message(self) -> Text:
        """What the event said; else which attributes it changed."""
        record = self.record
        said = record.message or _attributes_changed(self.lasting.previous, record)
        return render.reason_and_message(None if self.is_narrow else record.reason, said)


def _how_long(one: TransitionSpan, stale: Stale | None) -> Text:
    """How long the state lasted; for the last one so far, and as of when that is known. stale: see `get`."""
    if one.until is not None:
        return Text(render.duration(one.until - one.record.time_ns))
    now = render.now_ns()
    so_far = render.text_of(f"{render.duration(now - one.record.time_ns)} so far")
    return so_far if stale is None else Text.assemble(so_far, " ", render.as_of(stale.as_of_ns, now))


def _facet(row: HistoryRow) -> Text:
    """The facet, if the entity has several. In a narrow terminal it stands before the new state (`_to`)."""
    return render.word(row.record.facet) if row.has_several and not row.is_narrow else render.NOTHING


def _to(row: HistoryRow) -> Text:
    """The new state; `sync: OutOfSync` in a narrow terminal, where the reason needs the room of a column."""
    state = row.state(row.record.after)
    return Text.assemble(f"{row.record.facet}: ", state) if row.has_several and row.is_narrow else state


def _cause(row: HistoryRow) -> Text:
    """The cause; in a narrow terminal with the reason, because the messages may be left out there."""
    reason = row.record.reason if row.is_narrow else None
    said = render.reason_and_message(reason, None)
    return Text.assemble(render.cause(row.record), ": ", said) if said else render.cause(row.record)


def _attributes_changed(previous: Transition | None, record: Transition) -> str | None:
    """What a transition that left the state alone changed: `revision 2, context c2`, without lists, maps and times."""
    if previous is None or record.before != record.after:
        return None
    before, after = previous.entity.attributes, record.entity.attributes
    plain = (str, int, float, bool)
    changed = [
        f"{name} {value}"
        for name, value in after.items()
        if before.get(name) != value and isinstance(value, plain) and name not in maps.TIMES
    ]
    return ", ".join(changed) or None


COLUMNS: Final[tuple[Column[HistoryRow], ...]] = (
    Column("VERSION", lambda row: Text(str(row.record.entity.version)), worth=30),
    Column("TIME", lambda row: Text(render.time_within(row.record.time_ns, row.width)), worth=90),
    Column("FACET", _facet, worth=85),
    Column("FROM", lambda row: row.state(row.record.before), worth=45, wraps=True),
    Column("TO", _to, wraps=True),
    Column("LABEL", lambda row: row.label, worth=20, wraps=True),
    Column("FOR", lambda row: _how_long(row.lasting, row.stale), worth=50),
    Column("CAUSE", _cause, wraps=True),
    Column("EVENT", lambda row: Text(f"{row.record.cause.sequence} {row.record.cause.event}"), worth=10),
    Column("MESSAGE", lambda row: row.message, worth=80, wraps=True),
)
