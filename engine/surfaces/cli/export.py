"""The command `export`: a log, or a part of it, as a file.

Belongs here: its options and messages. Does not: writing the file (`phaseline.engine.replay.export_log`).
"""

from pathlib import Path

import click

from phaseline.engine.replay.export_log import export
from phaseline.engine.replay.server_log import ServerLog
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import log_source, options, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.log_source import LogPart
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.machines.built_in import installed


@click.command(
    name="export",
    cls=Page,
    examples=[
        ("phaseline log export day.plog.zst --from 24h", "the events of one day, compressed"),
        ("phaseline log export c1.jsonl --tree c1 --records", "one tree, with records, as JSON lines"),
        ("phaseline log export tests/c1.jsonl --tree c1 --as-test", "a regression test, see docs/testing.md"),
        ("phaseline log export - | jq -c .event", "to standard output"),
        ("phaseline log export all.plog.zst --records --archive /backup/pl", "archive and streams as one log"),
    ],
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path, allow_dash=True))
@click.option("--records", is_flag=True, help="Include the records of the events, so that the file can be audited.")
@click.option("--as-test", "expect", is_flag=True, help="Include the final states, so that the file is a test.")
@log_source.part
@options.connected
@options.archived
@options.output("json", "yaml")
def export_(
    settings: Settings, file: Path, *, records: bool, expect: bool, part: LogPart, output: Output
) -> int | None:
    """Write the log of events to a file: the whole log, one tree, or a part.

    A file named *.jsonl holds JSON lines, any other file a msgpack stream. A further suffix .zst or .gz compresses
    it. The file has a header with its contents and ends with a checksum. If it does not begin at the very first
    event, it begins with the states at that point. The file appears once it is complete. - is standard output, as
    JSON lines.

    What was archived is left out, unless --archive names the archive.
    """

    async def work() -> None:
        async with log_source.of_server(
            settings, part, installed(settings.prefix), records=records or expect
        ) as source:
            with log_source.progress_bar("writing") as bar:
                task = bar.add_task("", total=log_source.total(source))
                counts = await export(
                    source, file, records=records, expect=expect, progress=lambda n: bar.advance(task, n)
                )
            undecided = source.findings.undecided
            archived = source.archived if isinstance(source, ServerLog) else 0
        totals = {f"{word}s": counts.get(word, 0) for word in ("state", "event", "record")}
        totals["expected"] = counts.get("expected", 0)
        if output.is_data and str(file) != "-":
            output.show({"file": str(file), **totals, "undecided": undecided, "archived": archived})
            return
        if archived:
            terminal.say(f"events up to {archived} left out: they are in an archive (--archive DIR)")
        if undecided:
            terminal.say(f"{counted(undecided, 'event')} left out: not decided yet")
        labels = {"expected": "final states"}
        text = (
            ", ".join(f"{count:,} {labels.get(name, name)}" for name, count in totals.items() if count) or "no events"
        )
        size = "" if str(file) == "-" else f" in {file}, {file.stat().st_size:,} bytes"  # noqa: ASYNC240  # at the end
        terminal.say(f"{text}{size}")

    return terminal.run(work())
