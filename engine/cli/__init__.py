"""The command `phaseline`: its group, and where each command is.

Belongs here: names, places and one line on each command, so that `--help` need not load them. Does not: what they do.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from phaseline.engine.cli.help import Page
from phaseline.schemas.libraries import NotInstalled
from phaseline.schemas.version import __version__

EXIT_CODES = {
    "0": "it is done",
    "1": "refused, not found, or not possible",
    "2": "the command line is wrong",
    "3": "NATS cannot be reached, or nobody answered in time",
    "130": "stopped by Ctrl-C",
}


class Lazy(Page, click.Group):
    """A group whose commands are loaded when they are called. `table`: name -> (`module.function` under `cli`, help)."""

    def __init__(self, *, table: dict[str, tuple[str, str]], **rest: Any) -> None:
        """`rest` is what click's groups take."""
        super().__init__(**rest)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click calls it
        """The names, in the table's order."""
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Load the command of that name."""
        if name not in self.table:
            return super().get_command(ctx, name)
        module, _, function = self.table[name][0].partition(".")
        command: click.Command = getattr(import_module(f"{__name__}.{module}"), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Their help, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in self.table.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, then what the exit codes mean."""
        super().format_epilog(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl(list(EXIT_CODES.items()))


@click.group(
    cls=Lazy,
    table={
        "up": ("up.up", "Run the whole system on an embedded NATS server."),
        "worker": ("up.worker", "Run a worker against a NATS server that exists."),
        "demo": ("up.demo", "Play a small fleet's morning on an embedded server."),
        "publish": ("publish.publish", "Publish one event, or a file of them."),
        "observe": ("observe.observe", "Publish what Kubernetes objects say, as kubectl prints them."),
        "watch": ("watch.watch", "Show transitions as they happen, or from the past on."),
        "get": ("states.get", "Show one entity as it stands."),
        "list": ("states.list_", "List entities as they stand."),
        "tree": ("states.tree", "Show an entity and all that is under it."),
        "diff": ("diff.diff", "Show where a Kubernetes object differs from Git, and what is ignored."),
        "counts": ("counts.counts", "Show how much of what Fleet deploys is ready, and what is not."),
        "status": ("status.status", "Show what became of what EMCO deployed."),
        "history": ("watch.history", "Show how an entity came to be what it is."),
        "changes": ("changes.changes", "Show what differs between two moments."),
        "timeline": ("timeline.timeline", "Show states over time, in the terminal or as a picture."),
        "why": ("why.why", "Show why an entity is as it is, back to the outside events."),
        "rejections": ("rejections.rejections", "Show what was refused and why; send it again."),
        "replay": ("replay.replay", "Fold the events again: rebuild, audit, what if."),
        "export": ("log_files.export_", "Write the log of events to a file."),
        "import": ("log_files.import_", "Play a log from a file into an installation."),
        "assess": ("assess.assess", "Say what manifests' health and sync are, and why."),
        "machines": ("machines.machines", "Print the state machines."),
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    examples=[
        ("phaseline up --data ./data", "a whole system, in this terminal"),
        ("phaseline publish cluster create c1 --wait", "an event, and what comes of it"),
        ("phaseline watch --state Failed", "whatever fails, as it happens"),
        ("phaseline tree c1", "a cluster and all that is in it"),
        ("phaseline COMMAND --help", "more, with examples"),
    ],
)
@click.version_option(__version__, message="phaseline %(version)s")
def cli() -> None:
    """Lifecycle events in, explicit state machines, committed transitions out.

    Events go to NATS; workers fold them through the machines; each transition is committed once, in order, with its
    cause. Ids are paths from the root of a tree: c1/pool-a/n7.

    Data goes to stdout, as JSON with --json; everything else to stderr. Colours on terminals only, and none with NO_COLOR.
    Options of the connection can be set in the environment: PHASELINE_NATS and so on, as each command's help says.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and end the process with its exit code."""
    try:
        code = cli.main(arguments, prog_name="phaseline", standalone_mode=False)
    except click.Abort:
        code = 130
    except NotInstalled as error:  # loading a command may need a further library
        sys.exit(f"error: {error}")
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    sys.exit(code if isinstance(code, int) else 0)
