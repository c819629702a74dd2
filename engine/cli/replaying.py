"""`replay`: the events folded again, and what that says of the log.

Belongs here: options and words of this command. Does not: the comparison (`phaseline.engine.audit`).
"""

import sys
from dataclasses import asdict

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from phaseline.engine.audit import Verdict, audit
from phaseline.engine.cli import looks, options, talk
from phaseline.engine.cli.pages import Page
from phaseline.engine.settings import Settings
from phaseline.engine.streams import inspect
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import installed


@click.command(
    cls=Page,
    examples=[
        ("phaseline replay --audit", "the whole installation"),
        ("phaseline replay --audit --tree c1 --json", "one tree, for programs"),
    ],
)
@click.option(
    "--audit", "audits", is_flag=True, help="Compare each record and each final state with what the events make."
)
@click.option("--tree", metavar="ROOT", help="Only this tree: a root, like c1.")
@options.as_json
@options.connected
def replay(settings: Settings, *, audits: bool, tree: str | None, as_json: bool) -> int | None:
    """Fold the stored events again through the machines installed here, and compare with the log.

    The log must be what the events make: the same records, in the same order, byte for byte, and the states that
    follow. Nothing is written, and a live system is not disturbed. Where EVENTS no longer reaches back to the
    beginning, it starts from the states that the log gives for that point, and says so. Exit code 1 where they differ.
    """
    if not audits:
        raise click.UsageError("say what to do with the replay: --audit compares it with the log")

    async def work() -> int:
        async with Wire.open(settings, name="phaseline-audit") as wire:
            layout = await inspect(wire, settings)
            stored = (await wire.api(f"STREAM.INFO.{layout.events}"))["state"]["messages"]
            with progress_bar() as bar:
                task = bar.add_task("folding", total=stored if tree is None else None)
                verdict = await audit(wire, layout, installed(), tree, lambda count: bar.advance(task, count))
        show(verdict, as_json=as_json)
        return 0 if verdict.holds else talk.REFUSED

    return talk.run(work())


def progress_bar() -> Progress:
    """Events folded, on stderr, on terminals only."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(file=sys.stderr), transient=True, disable=not sys.stderr.isatty())


def show(verdict: Verdict, *, as_json: bool) -> None:
    """The verdict, and the first difference of each entity."""
    differences = list(verdict.divergences.values())
    if as_json:
        told = [difference._asdict() for difference in differences]
        looks.show_json({**asdict(verdict), "holds": verdict.holds, "divergences": told})
        return
    if differences:
        table = looks.columns("KIND", "ID", "EVENT", "THE EVENTS MAKE", "THE LOG SAYS")
        for found in differences:
            table.add_row(
                looks.text_of(found.kind), looks.text_of(found.id), looks.text_of(found.sequence),
                looks.text_of(found.expected or "nothing"), looks.text_of(found.found or "nothing"),
            )  # fmt: skip
        looks.show(table)
    if verdict.begins > 1:
        talk.say(f"EVENTS begins at {verdict.begins}: all before that is taken from the log as it stands")
    if verdict.undecided:
        talk.say(f"{verdict.undecided:,} events are not decided yet: they are left out")
    counted = f"{verdict.events:,} events, {verdict.records:,} records, {verdict.entities:,} entities"
    differing = "1 entity differs" if len(differences) == 1 else f"{len(differences):,} entities differ"
    words = "the log is what the events make" if verdict.holds else differing
    looks.show_line(looks.text_of(f"{counted}: {words}", "green" if verdict.holds else "red"))
