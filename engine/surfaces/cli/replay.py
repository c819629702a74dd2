"""The command `replay`: recorded events, decided again.

Belongs here: its options, its progress bar and its exit code. Does not: the work (`replay_task`), in several processes
(`side_by_side`), the layout of results (`render_replay`).
"""

from dataclasses import replace
from pathlib import Path

import click

from phaseline.engine.replay.audit import AuditReport
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.load_tables import INSTALLED
from phaseline.engine.replay.whatif import WhatIfReport
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import log_source, options, render_replay, side_by_side, terminal
from phaseline.engine.surfaces.cli.connection import FILE
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.log_source import LogPart, Source
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.replay_task import ReplayResult, ReplayTask, Show
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import BadLogFile, Exit


@click.command(
    cls=Page,
    examples=[
        ("phaseline log replay --audit", "check that the log equals a replay"),
        ("phaseline log replay --audit --tree c1 --from 2h --json", "one tree, the last two hours"),
        ("phaseline log replay --with acme.tables:KINDS", "show what would differ with other tables"),
        ("phaseline log replay --with installed --fail-on-difference", "before an upgrade of the workers"),
        ("phaseline log replay --file day.plog.zst", "rebuild the states from a file, without a server"),
    ],
)
@click.option("--audit", "audits", is_flag=True, help="Compare every record and every final state with a replay.")
@click.option(
    "--with", "changed", metavar="TABLES",
    help="Show what would differ with these tables: package.module:NAME or file.py:NAME, one table or a list. They"
    f" replace the tables of the same kind. `{INSTALLED}` means the tables installed here.",
)  # fmt: skip
@click.option("--fail-on-difference", "fail", is_flag=True, help="With --with: exit with 1 if anything would differ.")
@click.option(
    "--file", type=FILE, metavar="FILE", help="Read a log that `phaseline log export` wrote, instead of a server."
)
@log_source.max_unpacked
@click.option(
    "--jobs", type=options.WholeNumber(1), metavar="N",
    help="How many processes share the partitions. Default: for a file one for each processor and each 100,000 events;"
    " for a server 1, so that the replay leaves the machine to others.",
)  # fmt: skip
@log_source.part
@options.connected
@options.archived
@options.output("json", "yaml")
def replay(
    settings: Settings, *, audits: bool, changed: str | None, fail: bool, file: Path | None, most: int | None,
    jobs: int | None, part: LogPart, output: Output,
) -> int | None:  # fmt: skip
    """Decide recorded events again, without storing anything.

    With --audit, compare the log with the replay: it must hold the same records, in the same order, byte for byte, and
    lead to the same states. If not, the command shows the first difference of each entity and exits with 1. A running
    system is not disturbed.

    With --with, decide the events by other tables. The command shows which entities would end in another state, and
    which transitions and rejections would be gained and lost.

    With neither, show the states that the events lead to.

    The answer does not depend on --jobs. A tree, and a file that is read from a pipe, take one process.

    If the first events are no longer stored, or with --from, the replay begins with the states that the log holds at
    that point.
    """
    if audits and changed:
        raise click.UsageError("--audit and --with cannot be combined")
    if fail and not changed:
        raise click.UsageError("--fail-on-difference needs --with")

    task = ReplayTask(settings, file, most, part, audits, changed, output.is_data)

    async def work() -> int:
        kinds = task.kinds()
        found, begins = await _found(task, kinds, jobs)
        if isinstance(found.outcome, AuditReport):
            render_replay.show_audit(found.outcome, output=output)
            code = 0 if found.outcome.holds else Exit.NO
        elif isinstance(found.outcome, WhatIfReport):
            render_replay.show_difference(found.outcome, kinds, output=output)
            code = Exit.NO if fail and not found.outcome.none else 0
        else:
            render_replay.show_states(found.outcome, kinds, begins, output=output)
            code = 0
        if found.damage is not None:
            raise found.damage
        return code

    return terminal.run(work())


async def _found(task: ReplayTask, kinds: Kinds, jobs: int | None) -> tuple[ReplayResult, int]:
    """What the replay finds, with a progress bar on the way; and the first event."""
    several = task.file is None and jobs not in (None, 1)
    # If several processes read a server, this one looks only how much there is.
    async with (replace(task, partitions=range(0)) if several else task).opened(kinds) as source:
        if task.audits and not source.has_records:
            name = source.file.path if isinstance(source, FileLog) else "it"
            raise BadLogFile.no_records(name=name, problem="it cannot be audited")
        count = side_by_side.processes(jobs, task, source)
        with log_source.progress_bar("replaying") as bar:
            shown = bar.add_task("", total=log_source.total(source))

            def show(events: int) -> None:
                bar.advance(shown, events)

            parts = None
            if count > 1:
                parts = await side_by_side.fold(task, source, count, show, verbose=terminal.is_verbose())
                bar.reset(shown)
            if parts is None:
                parts = [await _alone(task, None if several else source, kinds, show)]
    return task.total(parts, source.begins), source.begins


async def _alone(task: ReplayTask, source: Source | None, kinds: Kinds, show: Show) -> ReplayResult:
    """What this process finds. source: the log; None to open it."""
    if source is not None:
        return await task.fold(source, kinds, show)
    async with task.opened(kinds) as opened:
        return await task.fold(opened, kinds, show)
