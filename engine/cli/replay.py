"""`replay`: the events folded again, and what that says.

Belongs here: options and choice of what is done. Does not: doing it (`phaseline.engine.replay.audit`, `.whatif`), how it looks
(`verdicts`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import click

from phaseline.engine.cli import log_source, options, render_replay, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.log_source import Part
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
        ("phaseline replay --audit", "is the log what the events make?"),
        ("phaseline replay --audit --tree c1 --from 2h --json", "one tree, the last two hours, for programs"),
        ("phaseline replay --with acme.tables:KINDS", "what would other tables have made of it?"),
        (
            "phaseline replay --with installed --fail-on-difference",
            "may workers with what is installed here take over?",
        ),
        ("phaseline replay --file day.plog.zst", "the states that a recorded day leads to, without any server"),
    ],
)
@click.option(
    "--audit", "audits", is_flag=True, help="Compare each record and each final state with what the events make."
)
@click.option(
    "--with", "changed", metavar="TABLES",
    help="What would differ with other tables: package.module:NAME or file.py:NAME, a table or a list of them,"
    f" which take the place of those of the same name; or `{INSTALLED}`.",
)  # fmt: skip
@click.option(
    "--fail-on-difference", "fail", is_flag=True, help="With --with: exit code 1 where anything would differ."
)
@click.option(
    "--file", type=options.FILE, metavar="FILE", help="A log that `phaseline export` wrote, in place of a server."
)
@log_source.part
@options.as_json
@options.connected
def replay(
    settings: Settings, *, audits: bool, changed: str | None, fail: bool, file: Path | None, part: Part, as_json: bool
) -> int | None:
    """Fold recorded events again through the machines, and compare. Nothing is written.

    --audit: the log must be what the events make: the same records, in the same order, byte for byte, and the states
    that follow; exit code 1 and the first difference of each entity where it is not. A live system is not disturbed.

    --with: the same events through other tables: which entities would end in another state, which transitions and
    rejections would be gained and lost.

    With neither it shows the states that the events lead to.

    Where EVENTS no longer reaches back to the beginning, and with --from, it starts from the states that the log gives for
    that point, and says so.
    """
    if audits and changed:
        raise click.UsageError("--audit and --with are two questions: ask one at a time")
    if fail and not changed:
        raise click.UsageError("--fail-on-difference goes with --with")

    async def work() -> int:
        kinds = load_kinds(changed) if changed else installed()
        async with opened(settings, file, part, kinds) as source:
            if audits:
                return await _audit(source, kinds, part.root, as_json=as_json)
            if changed:
                return await _what_if(source, kinds, part.root, fail=fail, as_json=as_json)
            return await _rebuild(source, kinds, part.root, as_json=as_json)

    return terminal.run(work())


@asynccontextmanager
async def opened(settings: Settings, file: Path | None, part: Part, kinds: Kinds) -> AsyncIterator[Source]:
    """Open the log that is to be replayed."""
    if file is None:
        async with log_source.of_server(settings, part, kinds) as log:
            yield log
    else:
        yield log_source.of_file(file, part)


async def _shown(source: Source, work: Callable[[Show], Awaitable[object]]) -> BadLogFile | None:
    """Do it with a progress bar; the damage of a file, which ends the reading but not what was found until there."""
    with log_source.progress_bar("folding") as bar:
        task = bar.add_task("", total=log_source.total(source))
        try:
            await work(lambda count: bar.advance(task, count))
        except BadLogFile as error:
            return error
    return None


async def _audit(source: Source, kinds: Kinds, root: str | None, *, as_json: bool) -> int:
    if not source.has_records:
        raise NoRecords(
            name=source.file.path if isinstance(source, FileLog) else "it", problem="there is nothing to audit"
        )
    audit: Audit | None = None

    async def run(show: Show) -> None:
        nonlocal audit
        audit = Audit(source, kinds, root, show)
        await audit.run()
        if isinstance(source, ServerLog) and source.span.last is None:
            await compare_states(source.installation, audit)

    damage = await _shown(source, run)
    assert audit is not None
    render_replay.show_audit(audit.report, as_json=as_json)
    if damage is not None:
        raise damage
    return 0 if audit.report.holds else terminal.REFUSED


async def _what_if(source: Source, kinds: Kinds, root: str | None, *, fail: bool, as_json: bool) -> int:
    what_if: WhatIf | None = None

    async def run(show: Show) -> None:
        nonlocal what_if
        what_if = WhatIf(source, installed(), kinds, root, show)
        await what_if.run()

    damage = await _shown(source, run)
    assert what_if is not None
    render_replay.show_difference(what_if.report, kinds, as_json=as_json)
    if damage is not None:
        raise damage
    return terminal.REFUSED if fail and not what_if.report.none else 0


async def _rebuild(source: Source, kinds: Kinds, root: str | None, *, as_json: bool) -> int:
    processors = Processors(kinds, source)
    damage = await _shown(source, lambda show: rebuild(source, processors, root, show))
    render_replay.show_states(processors, source, as_json=as_json)
    if damage is not None:
        raise damage
    return 0
