"""The command `replay`: recorded events, decided again.

Belongs here: its options, and the choice between rebuild, audit and what-if. Does not: these
(`phaseline.engine.replay`), their layout (`render_replay`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import click

from phaseline.engine.cli import log_source, options, render_replay, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.log_source import Part
from phaseline.engine.cli.output import Output
from phaseline.engine.error_help.exit_codes import Exit
from phaseline.engine.errors import BadLogFile, NoRecords
from phaseline.engine.replay.audit import Audit, compare_states
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.load_tables import INSTALLED, load_kinds
from phaseline.engine.replay.recorded_log import Processors, rebuild
from phaseline.engine.replay.server_log import ServerLog
from phaseline.engine.replay.whatif import WhatIf
from phaseline.engine.settings import Settings
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds

Source = ServerLog | FileLog
Show = Callable[[int], None]


@click.command(
    cls=Page,
    examples=[
        ("phaseline replay --audit", "check that the log equals a replay"),
        ("phaseline replay --audit --tree c1 --from 2h --json", "one tree, the last two hours"),
        ("phaseline replay --with acme.tables:KINDS", "show what would differ with other tables"),
        ("phaseline replay --with installed --fail-on-difference", "before an upgrade of the workers"),
        ("phaseline replay --file day.plog.zst", "rebuild the states from a file, without a server"),
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
    "--file", type=options.FILE, metavar="FILE", help="Read a log that `phaseline export` wrote, instead of a server."
)
@log_source.max_unpacked
@log_source.part
@options.connected
@options.output("json", "yaml")
def replay(
    settings: Settings, *, audits: bool, changed: str | None, fail: bool, file: Path | None, most: int | None,
    part: Part, output: Output,
) -> int | None:  # fmt: skip
    """Decide recorded events again, without storing anything.

    With --audit, compare the log with the replay: it must hold the same records, in the same order, byte for byte, and
    lead to the same states. If not, the command shows the first difference of each entity and exits with 1. A running
    system is not disturbed.

    With --with, decide the events by other tables. The command shows which entities would end in another state, and
    which transitions and rejections would be gained and lost.

    With neither, show the states that the events lead to.

    If the first events are no longer stored, or with --from, the replay begins with the states that the log holds at
    that point.
    """
    if audits and changed:
        raise click.UsageError("--audit and --with cannot be combined")
    if fail and not changed:
        raise click.UsageError("--fail-on-difference needs --with")

    async def work() -> int:
        kinds = load_kinds(changed) if changed else installed()
        async with opened(settings, file, part, kinds, most) as source:
            if audits:
                return await _audit(source, kinds, part.root, output=output)
            if changed:
                return await _what_if(source, kinds, part.root, fail=fail, output=output)
            return await _rebuild(source, kinds, part.root, output=output)

    return terminal.run(work())


@asynccontextmanager
async def opened(
    settings: Settings, file: Path | None, part: Part, kinds: Kinds, most: int | None
) -> AsyncIterator[Source]:
    """Open the log to replay. most: how many bytes a file may unfold to."""
    if file is None:
        async with log_source.of_server(settings, part, kinds) as log:
            yield log
    else:
        yield log_source.of_file(file, part, most)


async def _shown(source: Source, work: Callable[[Show], Awaitable[object]]) -> BadLogFile | None:
    """Do the work with a progress bar. Return the error of a damaged file: what was read before it still counts."""
    with log_source.progress_bar("replaying") as bar:
        task = bar.add_task("", total=log_source.total(source))
        try:
            await work(lambda count: bar.advance(task, count))
        except BadLogFile as error:
            return error
    return None


async def _audit(source: Source, kinds: Kinds, root: str | None, *, output: Output) -> int:
    if not source.has_records:
        raise NoRecords(name=source.file.path if isinstance(source, FileLog) else "it", problem="it cannot be audited")
    audit: Audit | None = None

    async def run(show: Show) -> None:
        nonlocal audit
        audit = Audit(source, kinds, root, show)
        await audit.run()
        if isinstance(source, ServerLog) and source.span.last is None:
            await compare_states(source.installation, audit)

    damage = await _shown(source, run)
    assert audit is not None
    render_replay.show_audit(audit.report, output=output)
    if damage is not None:
        raise damage
    return 0 if audit.report.holds else Exit.NO


async def _what_if(source: Source, kinds: Kinds, root: str | None, *, fail: bool, output: Output) -> int:
    what_if: WhatIf | None = None

    async def run(show: Show) -> None:
        nonlocal what_if
        what_if = WhatIf(source, installed(), kinds, root, show)
        await what_if.run()

    damage = await _shown(source, run)
    assert what_if is not None
    render_replay.show_difference(what_if.report, kinds, output=output)
    if damage is not None:
        raise damage
    return Exit.NO if fail and not what_if.report.none else 0


async def _rebuild(source: Source, kinds: Kinds, root: str | None, *, output: Output) -> int:
    processors = Processors(kinds, source)
    damage = await _shown(source, lambda show: rebuild(source, processors, root, show))
    render_replay.show_states(processors, source, output=output)
    if damage is not None:
        raise damage
    return 0
