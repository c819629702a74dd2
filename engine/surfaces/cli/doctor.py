"""The command `doctor`: checks of the server and the installation.

Belongs here: its options and layout. Does not: the checks (`surfaces.doctor`).
"""

import logging

import click

from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.doctor.check_result import CheckResult, Verdict
from phaseline.engine.surfaces.doctor.examine import OF_SERVER, examine
from phaseline.machines.built_in import installed
from phaseline.schemas.errors import Exit

MARKS: dict[Verdict, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "warning": ("!", "yellow"),
    "problem": ("✗", "bold red"),
    "unknown": ("?", "bright_black"),
}
WIDTH = 18


@click.command(
    cls=Page,
    examples=[
        ("phaseline doctor", "the server that all commands use"),
        ("phaseline doctor --nats nats://a:4222,nats://b:4222 --creds operator.creds", ""),
        ("phaseline doctor --json | jq 'select(.verdict != \"ok\")'", ""),
    ],
)
@options.connected
@options.output("json", "yaml")
def doctor(settings: Settings, *, output: Output) -> int | None:
    """Check the server, the user's rights, the streams, the workers and the tables, and say what to do.

    Nothing is changed. The exit code is 0 if all is well or there are only warnings, and 1 if there is a problem. If no
    command can work, it is the code with which they end, for instance 3 if the server does not answer. A check that
    could not look is marked with a question mark; if none could, as this user may see nothing, the exit code is 5.
    """
    if not click.get_current_context().params["verbose"]:
        terminal.log_to_stderr(least=logging.CRITICAL)  # the findings say what the log lines would

    async def work() -> int:
        problems, seen = [], 0
        async for finding in examine(settings, installed(settings.prefix)):
            problems += [finding] if finding.verdict == "problem" else []
            seen += finding.check not in OF_SERVER and finding.verdict != "unknown"
            _show(finding, output=output)
        otherwise = Exit.NO if problems else Exit.DONE if seen else Exit.NOT_ALLOWED
        return next((found.code for found in problems if found.code), otherwise)

    return terminal.run(work())


def _show(finding: CheckResult, *, output: Output) -> None:
    if output.is_data:
        output.show(finding.shown())
    else:
        mark, colour = MARKS[finding.verdict]
        output.line(Text.assemble(Text(mark, colour), f" {finding.check:<{WIDTH}} ", finding.found))
        if finding.advice:
            style = "bold" if finding.verdict == "problem" else ""
            output.line(Text(f"  {'':<{WIDTH}} → {finding.advice}", style))
    output.flush()
