"""The option `publish --snapshot`: all that a reporter sees below an entity, from a file.

Belongs here: its checks, and the outcome of its events. Does not: cutting it into events and reading files
(`engine.publish.snapshots`), the outcome of one event (`publish`).
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from phaseline.engine.publish import compose, snapshots
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import publish, publish_many, render, render_dry_run, terminal
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Transition

FORMER = Path()
"""The file of `snapshot KIND ID FILE`, as the command was called: the third word names it."""


def run(
    settings: Settings, words: Sequence[str], file: Path, options: Mapping[str, Any], details: Any, *,
    wait: float | None, dry_run: bool, output: Output,
) -> int | None:  # fmt: skip
    """Publish the items of a file as a snapshot, or show what it would do; return the exit code.

    words: the kind and the id. options: those of `Client.snapshot`, with the kind of the items as `below`.
    """
    if file == FORMER and len(words) == 3:  # KIND ID FILE
        words, file = words[:2], Path(words[2])
    if len(words) != 2 or "below" not in options:  # KIND ID
        raise click.UsageError(
            "a snapshot is `publish KIND ID --snapshot FILE --kind KIND`, with the kind of the items"
        )
    if options.get("confirm") and "seen" not in options:
        raise click.UsageError("--confirm needs --seen: the highest event number in the records that were read")
    (kind, entity_id), range_ = words, {**options}
    below = range_.pop("below")
    if str(file) == "-":
        items = snapshots.read_items(sys.stdin.buffer.read(), "standard input")
    else:
        items = snapshots.read_file(file)

    async def work() -> int:
        async with Client.open(settings, source=compose.default_source("cli")) as client:
            if dry_run:
                found = snapshots.events(below, items, **range_)
                return await render_dry_run.show_snapshots(client, kind, entity_id, found, details, output=output)
            with publish_many.progress_bar(None) as bar:
                outcomes = await client.snapshot(
                    kind, entity_id, below, items, wait=wait,
                    progress=lambda sent, _: bar(PublishResult(stored=sent)), **range_, **details,
                )  # fmt: skip
            return show(client.kinds, len(items), outcomes, waited=wait is not None, output=output)

    return terminal.run(work())


def show(kinds: Kinds, items: int, outcomes: Sequence[Outcome], *, waited: bool, output: Output) -> int:
    """Print the events of a snapshot and their outcomes, and a line that counts; return the exit code."""
    codes = [publish.show_outcome(kinds, outcome, waited=waited, output=output) for outcome in outcomes]
    if waited and not output.is_data:
        records = [logged.record for outcome in outcomes for logged in outcome.records]
        changes = sum(isinstance(record, Transition) for record in records)
        left_out, held, later = (
            len(render_dry_run.parts_not_taken(records, why)) for why in ("left_out", "brake", "stale")
        )
        braked = f", {held:,} not ended" if held else ""
        braked += f", {later:,} not listed have come since it was seen, and stay" if later else ""
        render.show_line(
            render.text_of(f"{items:,} items: {changes:,} transitions, {left_out:,} items left out{braked}")
        )
    return max(codes)
