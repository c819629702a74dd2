"""What `--watch` shows after the present states: each change of what a command shows, once, without a gap.

Belongs here: which records follow a view. Does not: printing (each command), reading the log
(`phaseline.engine.log.watch`).
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple

import click

from phaseline.engine.log.when import When
from phaseline.engine.surfaces.cli import cells, render
from phaseline.engine.surfaces.cli.help import option
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.records import Entity, Transition

follow = option("reading", "-w", "--watch", "follow", is_flag=True, help="After that, show each change as it happens.")


class Following(NamedTuple):
    """A transition that follows, and its place in the log."""

    place: int
    record: Transition


def check(at: When | None) -> None:
    """Raise `UsageError` for a moment: what follows it is in the log."""
    if at is not None:
        raise click.UsageError("--watch goes on from the present states: leave out --at, or use phaseline watch --from")


async def after(
    client: ReadingClient,
    start: int,
    found: Sequence[Transition],
    fits: Callable[[Entity], bool],
    *,
    kind: str | None = None,
    tree: str | None = None,
) -> AsyncIterator[Following]:
    """The transitions after a view: of entities that fit, and of those that fitted until then.

    start: the place that the view gave before it was read. found: all its entities of this kind and tree.
    """
    versions = {(one.entity.kind, one.entity.id): one.entity.version for one in found}
    shown = {(one.entity.kind, one.entity.id) for one in found if fits(one.entity)}
    async with client.watch(kind, tree=tree, start=start) as records:
        async for record in records:
            key = (record.entity.kind, record.entity.id)
            if record.entity.version <= versions.get(key, 0):
                continue
            versions[key] = record.entity.version
            was, is_shown = key in shown, fits(record.entity)
            (shown.add if is_shown else shown.discard)(key)
            if was or is_shown:
                yield Following(records.sequence, record)


async def show(
    client: ReadingClient, start: int, found: Sequence[Transition], fits: Callable[[Entity], bool], output: Output,
    language: Language, *, tree: str | None = None,
) -> None:  # fmt: skip
    """Print what comes `after`: for people in the lines of `phaseline watch`, for programs as entities."""
    output.flush()
    async for one in after(client, start, found, fits, tree=tree):
        show_one("", client.kinds, one, output, language)


def show_one(cell: str, kinds: Kinds, one: Following, output: Output, language: Language) -> None:
    """Print a transition that follows. cell: empty where there is one installation."""
    record = one.record
    if output.is_data:
        output.show(cells.named(cell, maps.entity_map(kinds, record, language)), maps.name_of(record.entity))
    else:
        render.show_record(output, render.RecordRow(kinds, one.place, record, cell=cell))
    output.flush_when_idle()
