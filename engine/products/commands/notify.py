"""The command `notify`: notices of an installation, made and told.

Belongs here: its options and messages. Does not: what runs (`phaseline.engine.products.notices.running`).
"""

import asyncio
from pathlib import Path

import click

from phaseline.engine.products.notices import events, running
from phaseline.engine.products.notices.fold import read_rules
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.products.notices.sending import sender
from phaseline.engine.products.notices.sending.counts import DeliveryCounts
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.telemetry import Telemetry
from phaseline.engine.surfaces.cli.telemetry import options as telemetry_options
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed


@click.command(
    cls=Page,
    examples=[
        ("phaseline notify --rules notices.yaml", "for the installation pl"),
        ("phaseline notify --rules notices.yaml --prefix east --metrics 0.0.0.0:9465", "with metrics and probes"),
        ("phaseline notify --rules notices.yaml --archive s3://backup/pl", "go on where the log was trimmed meanwhile"),
    ],
)
@click.option("--rules", "file", type=options.FILE, required=True, envvar="PHASELINE_RULES", show_envvar=True,
              metavar="FILE", help="The file of rules. A change counts once the command is started again.")  # fmt: skip
@click.option("--quiet", is_flag=True, envvar="PHASELINE_QUIET", show_envvar=True,
              help="Log warnings and errors only.")  # fmt: skip
@telemetry_options
@options.connected
@options.archived
def notify(settings: Settings, *, file: Path, quiet: bool, telemetry: Telemetry) -> int | None:
    """Make the notices of an installation by rules, and tell them, until Ctrl-C or SIGTERM.

    Notices live in an installation of their own beside it, pl-notices for pl, with a worker in this process. What
    happened while this command did not run is told when it runs again, and nothing is told twice; the first time it
    begins with what happens from then on. Several at once are safe. docs/notices.md says what a file of rules may
    hold.
    """
    terminal.log_like_a_server(quiet=quiet)
    rules = read_rules.read_file(file, installed(settings.prefix))
    sender.check(rules.receivers)
    own, counts = events.of_notices(settings), DeliveryCounts()

    async def send(own: Settings, rules: Rules, stop: asyncio.Event) -> None:
        await sender.sending(own, rules.receivers, counts, stop)

    def following() -> None:
        many = counted(len(rules.rules), "rule")
        terminal.say(f"{many} of {file.name} at work on {settings.prefix}; the notices are in {own.prefix}.")

    async def work() -> None:
        stop = system.stopped_by_signals()
        async with telemetry.serving(own, counts.values) as watch:
            await running.run(settings, rules, stop, watch, [send], following)

    return terminal.run(work())
