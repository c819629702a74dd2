"""The option `--cell`: a command reads several installations as one.

Belongs here: the option, opening one installation or several, saying which cells cannot be read. Does not: asking and
following them (`surfaces.cells`), what a command prints of each.
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource
from msgspec.structs import replace

from phaseline.engine.log.when import When
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cells import places
from phaseline.engine.surfaces.cells.places import Places
from phaseline.engine.surfaces.cells.reading import Reading
from phaseline.engine.surfaces.cli import entity_name, names, options, similar_ids, terminal, undecided
from phaseline.engine.surfaces.cli.connection import CONNECTION, flag
from phaseline.engine.surfaces.cli.help import Function, option
from phaseline.engine.surfaces.cli.output import NAME, Output
from phaseline.engine.surfaces.client import nats_context
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.engine.surfaces.client.session import Session
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import (
    BadSetting,
    Exit,
    InvalidInput,
    NameUnknown,
    NoAnswer,
    PhaselineError,
    TreeUnknown,
    exit_of,
)

if TYPE_CHECKING:
    from phaseline.engine.surfaces.cells.cells import Cells

FORM = "write NAME=URL, or NAME=@CONTEXT, and after it #PREFIX if the prefix is not --prefix"


class CellAddress(NamedTuple):
    """A cell on the command line: the servers or the context, and the prefix; empty for that of `--prefix`."""

    name: str
    nats: str
    context: str
    prefix: str


def _cell(text: str) -> CellAddress:
    name, equals, rest = text.partition("=")
    place, _, prefix = rest.partition("#")
    if not equals or not place.removeprefix("@"):
        raise ValueError(f"{text!r} names no cell: {FORM}")
    from phaseline.engine.surfaces.cells.cells import check_name  # noqa: PLC0415  # few read several cells

    check_name(name)
    if place.startswith("@"):
        return CellAddress(name, "", nats_context.SELECTED if place == nats_context.SELECTED else place[1:], prefix)
    return CellAddress(name, place, "", prefix)


cell = option(
    "reading", "--cell", "cells", type=options.ParsedText("cell", _cell), multiple=True, metavar="NAME=URL",
    envvar="PHASELINE_CELL",
    help="Read several installations as one: name each, and give the URL of its servers, or @ and the name of a "
    "context of the nats command. #PREFIX may follow. Repeat the option for each. A command about one entity reads the "
    "one that has it.",
)  # fmt: skip


def _start(text: str) -> Any:
    """The moment; of several cells their moments, by name."""
    found = places.read(text)
    return {name: options.read_when(when) for name, when in found.items()} or options.read_when(text)


START = options.ParsedText("moment", _start)
"""Where a watch begins: a `When`, or by cell `east=4711,west=15m`."""


class Installations:
    """What a command is to read: one installation, or several cells."""

    def __init__(self, settings: Settings, cells: Mapping[str, Settings]) -> None:
        """cells: empty for the one installation of `settings`."""
        self.settings, self.cells = settings, cells

    @property
    def kinds(self) -> Kinds:
        """The tables."""
        return installed(next(iter(self.cells.values()), self.settings).prefix)

    @asynccontextmanager
    async def reading(self, about: str | None, at: When | None) -> AsyncIterator[Reading]:
        """Open them for a read of the latest states, or of those at a moment. Says at the end what is not decided.

        about: the id in whose tree the read is; None for all trees.
        """
        async with self.opened() as found:
            there = await found.clients()
            suggesting = nullcontext() if self.cells else similar_ids.suggested(there[""])
            async with suggesting, undecided.beside(there, about, at):
                yield found

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Reading]:
        """Open them."""
        if not self.cells:
            async with ReadingClient.open(self.settings) as client:
                yield Reading(client)
            return
        from phaseline.engine.surfaces.cells.cells import ReadingCells  # noqa: PLC0415  # few read several cells

        async with self.several() as cells:
            yield ReadingCells(cells)

    def several(self) -> "Cells":
        """The cells, to be opened."""
        from phaseline.engine.surfaces.cells.cells import Cells  # noqa: PLC0415  # few read several cells
        from phaseline.engine.surfaces.client.connecting import Connecting  # noqa: PLC0415  # likewise

        return Cells({name: Connecting(partial(Session.start, one, None, None)) for name, one in self.cells.items()})

    def check_common(self, param: str, when: When | None) -> None:
        """Raise `InvalidInput.bad_parameter` for a place where several cells are read: it is one of a single log."""
        try:
            places.check_common(self.cells, when)
        except BadSetting as error:
            raise click.BadParameter(error.problem, param_hint=param) from None

    def begins(self, start: When | Places) -> When | Places:
        """Where a watch begins; raises `InvalidInput.bad_parameter` for places of cells that there are not."""
        if isinstance(start, Mapping) and not self.cells:
            raise click.BadParameter("it names places of cells, and there is no --cell", param_hint="--from")
        try:
            return places.for_each(self.cells, start) if self.cells else start
        except (InvalidInput, NameUnknown) as error:
            problem = error.problem if isinstance(error, BadSetting) else str(error)
            raise click.BadParameter(problem, param_hint="--from") from None


def end(reading: Reading, output: Output) -> Exit:
    """Say which cells could not be read; the exit code of the command, which is that of their first error."""
    for name, error in reading.away.items():
        tell(output, name, error)
    return next((exit_of(error) for error in reading.away.values()), Exit.DONE)


def missing(away: Mapping[str, PhaselineError], error: PhaselineError) -> PhaselineError:
    """The error for what no installation has. One that is away may have it."""
    return NoAnswer.not_in_cells(missing=str(error).partition(": ")[0], away=", ".join(away)) if away else error


def named(cell: str, shown: dict[str, Any]) -> dict[str, Any]:
    """What programs get of a cell: with its name; of the one installation without."""
    return {"cell": cell, **shown} if cell else shown


def tell(output: Output, name: str, error: PhaselineError | None) -> None:
    """Say that a cell cannot be read, or that it can be read again: on stderr, and in JSON and YAML."""
    if output.is_data and output.form != NAME:
        output.show({"cell": name, "away": None if error is None else str(error)})
    output.flush()
    if error is None:
        terminal.say(f"cell {name} is back")
    else:
        terminal.say(f"{name}: {error}", terminal.styled("cell away: ", "yellow"))


def connected(function: Function) -> Function:
    """Add all options of the connection, and `--cell`; `function` gets them as `installations`."""

    @functools.wraps(function)
    def call(*, cells: tuple[CellAddress, ...], **values: Any) -> int | None:
        named = _chosen(cells, values)
        return function(installations=Installations(options.settings_of(values), named), **values)

    return options.connected_plainly(cell(call))


def reading(function: Function) -> Function:
    """As `connected`, and the options of all commands that read, for the one installation."""

    @functools.wraps(function)
    def call(*, installations: Installations, **values: Any) -> int | None:
        read = {name: values.pop(name) for name in options.READING}
        source = click.get_current_context().get_parameter_source("archive")
        if read["archive"] is not None and installations.cells and source == ParameterSource.COMMANDLINE:
            raise click.UsageError("an archive is of one installation: give either --archive or --cell")
        settings = replace(installations.settings, **read)
        return function(installations=Installations(settings, installations.cells), **values)

    return connected(options.of_readers(call))


def locating(function: Function) -> Function:
    """Add all options of the connection, `--cell` and `--archive`, to a command about one entity.

    `function` gets the `settings` of the cell that has the entity.
    """
    function = options.archived(function)

    @functools.wraps(function)
    def call(*, cells: tuple[CellAddress, ...], **values: Any) -> int | None:
        named = _chosen(cells, values)
        settings = options.settings_of(values)
        if named and values["kind"] is not None:
            kinds = names.chosen_kinds(click.get_current_context())
            about = entity_name.read(kinds, values["kind"], values["entity_id"]).id
            settings = named[asyncio.run(_home(Installations(settings, named), about))]
        return function(settings=settings, **values)

    return options.connected_plainly(cell(call))


async def _home(installations: Installations, entity_id: str) -> str:
    """The cell that has an entity; raises `UsageError` if several have it, `TreeUnknown`, `NoAnswer.not_in_cells`."""
    async with installations.several() as cells:
        found = await cells.having(entity_id)
    if len(found) > 1:
        problem = f"{entity_id} is in the cells {', '.join(found)}: name the servers of one of them by --nats"
        raise click.UsageError(problem)
    if not found:
        raise missing(cells.away, TreeUnknown(root=entity_id))
    terminal.say(f"in the cell {found[0]}")
    return found[0]


def _chosen(cells: Sequence[CellAddress], values: Mapping[str, Any]) -> dict[str, Settings]:
    """The settings of the cells that are to be read, by name."""
    if not _is_chosen(cells):
        return {}
    found = {one.name: _settings_of(one, values) for one in cells}
    if len(found) < len(cells):
        raise click.BadParameter("two cells have the same name", param_hint="--cell")
    return found


def _is_chosen(cells: Sequence[CellAddress]) -> bool:
    """Whether cells are to be read. An option that names one installation goes before cells of the environment."""
    context = click.get_current_context()
    given = [name for name in ("nats", "context") if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    if cells and given and context.get_parameter_source("cells") == ParameterSource.COMMANDLINE:
        raise click.UsageError(f"give either --cell or {flag(given[0])}")
    return bool(cells) and not given


def _settings_of(cell: CellAddress, values: Mapping[str, Any]) -> Settings:
    """The settings of a cell. A URL goes with the other options; a context describes the whole connection."""
    chosen = {name: values[name] for name in CONNECTION if name in values and name != "context"}
    try:
        if cell.context:
            kept = {name: value for name, value in chosen.items() if name not in nats_context.SETTINGS}
            chosen = nats_context.applied(cell.context, kept)
        else:
            chosen["nats"] = cell.nats
        return options.settings_from({**chosen, **({"prefix": cell.prefix} if cell.prefix else {})})
    except BadSetting as error:
        raise click.BadParameter(f"{cell.name}: {error.problem}", param_hint="--cell") from error
