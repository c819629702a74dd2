"""The command `repartition`: changes the number of partitions of an installation while it works.

Belongs here: its options, the question before it, its layout. Does not: the change (`engine.repartition`), which the
workers make.
"""

import asyncio
import sys

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from phaseline.engine.cli import options, render, rights, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.output import Output
from phaseline.engine.jetstream.streams import inspect
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.engine.publish.compose import default_source
from phaseline.engine.repartition import change as changing
from phaseline.engine.repartition.change import Repartition
from phaseline.engine.repartition.repartition_errors import NoWorkers
from phaseline.engine.settings import MAX_PARTITIONS, Settings
from phaseline.machines.built_in import installed


@click.command(
    cls=Page,
    examples=[
        ("phaseline repartition 16 --dry-run", "what would be done"),
        ("phaseline repartition 16 --yes", "do it, without a question"),
    ],
)
@click.argument("partitions", type=click.IntRange(1, MAX_PARTITIONS))
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--wait", type=click.FloatRange(0, min_open=True), default=300.0, show_default=True, metavar="SECONDS",
              help="How long to wait until the workers have done it. They go on without this command too.")  # fmt: skip
@options.connected
@options.output("json", "yaml")
def repartition(
    settings: Settings, *, partitions: int, dry_run: bool, yes: bool, wait: float, output: Output
) -> int | None:
    """Change the number of partitions of an installation while it works.

    Publishers and readers notice nothing: subjects stay as they are. Each event is decided once and in the order of its
    tree, also if workers or this command are killed meanwhile. Workers close their partitions, load the states anew and
    go on, without a restart. Until then events are stored, but not decided.

    The command checks that all workers know how to do it, writes one note, and waits. Called again with the same
    number it waits for what is under way. It is for operators (docs/operating.md says which rights it needs).
    """

    async def work() -> None:
        async with Wire.open(settings, name="phaseline-repartition") as wire:
            installation = Installation(wire, await inspect(wire, settings), installed())
            with rights.of_operators(wire):
                found = await changing.examine(installation, partitions)
            if not found.is_done and not found.workers:
                raise NoWorkers(prefix=settings.prefix)
            if dry_run or found.is_done:
                _show(found, output, None)
                return
            if not yes and not found.is_asked:
                _confirm(found)
            try:
                asked = await changing.ask(found, default_source("cli"))
                seconds = await _finished(asked, wait)
            except asyncio.CancelledError:
                terminal.say("the workers go on by themselves; the same command waits for them again")
                raise
            _show(asked, output, seconds)

    return terminal.run(work())


async def _finished(asked: Repartition, wait: float) -> float:
    """Wait for the workers; the seconds that it took."""
    with _bar() as bar:
        task = bar.add_task("", total=None)
        return await changing.finished(
            asked, wait, lambda now: bar.update(task, completed=now.closed + now.opened, total=now.total)
        )


def _confirm(found: Repartition) -> None:
    """Ask whether to go on; stops the command if not."""
    if not sys.stdin.isatty():
        raise click.UsageError("repartition lets all workers begin anew: add --yes, or --dry-run to see what it does")
    click.confirm(f"{_said(found)}?", abort=True, err=True)


def _show(found: Repartition, output: Output, seconds: float | None) -> None:
    """What is done, or would be. seconds: how long it took; None if nothing was done."""
    if output.is_data:
        output.show(
            {
                "before": found.before, "partitions": found.count, "workers": list(found.workers),
                "done": found.is_done or seconds is not None, "changed": seconds is not None,
                "seconds": None if seconds is None else round(seconds, 3),
            }
        )  # fmt: skip
        return
    if found.is_done:
        text = f"the installation has {found.count} partitions already"
    elif seconds is None:
        text = f"would {'wait: under way is to ' if found.is_asked else ''}{_said(found)}"
    else:
        text = f"{found.count} partitions work, instead of {found.before}, after {seconds:.1f} s"
    render.show_line(render.text_of(text))


def _said(found: Repartition) -> str:
    count = len(found.workers)
    return f"divide the trees of {found.before} partitions among {found.count}, with {count} worker{'s'[: count != 1]}"


def _bar() -> Progress:
    columns = (TextColumn("partitions"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=Console(file=sys.stderr), transient=True, disable=not sys.stderr.isatty())
