"""The command `phaseline`: its group, and the module of each command.

Belongs here: the name, the module and one line of help of each command, so that `--help` loads none of
them; the commands of installed packages. Does not: what commands do.
"""

import sys
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NoReturn

import click

from phaseline.engine.cli import connection
from phaseline.engine.cli.help import Page
from phaseline.engine.worker.collecting import loading_modules
from phaseline.schemas.errors import Exit, NotInstalled, PhaselineError, exit_of
from phaseline.schemas.libraries import ENTRY_POINTS
from phaseline.schemas.similar import did_you_mean
from phaseline.schemas.version import __version__

Sections = dict[str, dict[str, tuple[str, str]]]
"""By title, the commands of a section: name -> (`module.function` in this package, one line of help)."""


def of_packages() -> dict[str, tuple[str, str]]:
    """The commands that installed packages add, as in `Sections`, but each named `package.module:attribute`."""
    if not list(entry_points(group=ENTRY_POINTS)):
        return {}  # to load all tables takes several times as long as the rest of `--help`
    from phaseline.machines.built_in import installed  # noqa: PLC0415  # as above

    commands = (one for product in installed().products or () for one in product.commands)
    return {one.name: (one.command, one.help) for one in commands}


ELSEWHERE = {
    "describe": "get", "show": "get", "ls": "list", "delete": "publish", "apply": "publish", "pub": "publish",
    "sub": "watch", "events": "history", "logs": "history", "log": "history", "top": "counts", "explain": "machines",
    "server": "doctor", "check": "doctor", "start": "up", "run": "up",
}  # fmt: skip
"""By the words of other commands, kubectl and nats above all, ours that does the same."""
REMOVED = {
    "repartition": "export the log and import it into a new installation (Another number of partitions, "
    "docs/operating.md); times and durations are not kept",
}
"""By the names of commands that earlier versions had, what to use instead."""


class Lazy(Page, click.Group):
    """A group in sections, whose commands are imported when they are called."""

    def __init__(self, *, sections: Sections, **rest: Any) -> None:
        """`rest` is what click's groups take."""
        super().__init__(**rest)
        self.sections = sections
        self.table = {name: entry for commands in sections.values() for name, entry in commands.items()}

    @cached_property
    def added(self) -> dict[str, tuple[str, str]]:
        """The commands of installed packages. Phaseline's own go before them."""
        return {name: entry for name, entry in of_packages().items() if name not in self.table}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click calls it
        """The names, in the order of the sections."""
        return [*self.table, *self.added]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command of that name."""
        if name in self.table:
            module, _, function = self.table[name][0].partition(".")
            module = f"{__name__}.{module}"
        elif name in self.added:
            return _of_package(name, self.added[name][0])
        else:
            return super().get_command(ctx, name)
        with loading_modules():
            command: click.Command = getattr(import_module(module), function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; a wrong word is answered with the most similar command."""
        name = str(args[0])
        if name not in self.table and not name.startswith("-") and not ctx.resilient_parsing and name not in self.added:
            if name in REMOVED:
                raise click.UsageError(f"{name!r} was removed; {REMOVED[name]}", ctx)
            word, known = ELSEWHERE.get(name, ""), [*self.table, *self.added]
            meant = f" (did you mean {word}?)" if word in known else did_you_mean(name, known)
            raise click.UsageError(f"there is no command {name!r}{meant}: phaseline --help lists all commands", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section, without importing any."""
        sections = {**self.sections, **({"Commands of installed packages": self.added} if self.added else {})}
        width = max(map(len, self.list_commands(ctx)))
        for title, commands in sections.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", help_) for name, (_, help_) in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the exit codes."""
        super().format_epilog(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), code.meaning) for code in Exit])


def _of_package(name: str, at: str) -> click.Command:
    """The command of an installed package; raises `ClickException` if it cannot be loaded."""
    module, _, attribute = at.partition(":")
    try:
        command = getattr(import_module(module), attribute)
    except Exception as error:
        raise click.ClickException(f"the command {name} ({at}) cannot be loaded: {error}") from error
    if not isinstance(command, click.Command):
        raise click.ClickException(f"the command {name} ({at}) is no command of click")
    return command


SECTIONS: Sections = {
    "Run a system": {
        "up": ("up.up", "Run a whole system on an embedded NATS server."),
        "worker": ("worker.worker", "Run a worker on an existing NATS server."),
        "serve": ("serve.serve", "Serve the page and the API by HTTP."),
        "token": ("token.token", "Make a token for the HTTP server."),
        "accounts": ("accounts.accounts", "Print the NATS accounts of an installation: who may do what."),
        "demo": ("demo.demo", "Play the morning of a small fleet on an embedded server."),
    },
    "Publish": {
        "publish": ("publish.publish", "Publish one event, or a file of events."),
        "snapshot": ("snapshot.snapshot", "Publish all that there is below an entity; what is not listed is gone."),
        "observe": ("observe.observe", "Publish events about Kubernetes objects, as kubectl prints them."),
    },
    "Read states": {
        "overview": ("overview.overview", "Show what is bad now, since when and because of what."),
        "get": ("get.get", "Show one entity."),
        "list": ("list_.list_", "List entities."),
        "tree": ("tree.tree", "Show an entity and everything below it."),
        "counts": ("counts.counts", "Show how many entities are in which state, what is lacking and what is stalled."),
    },
    "History and why": {
        "watch": ("watch.watch", "Show transitions as they happen, or from an earlier moment on."),
        "history": ("history.history", "Show the transitions of one entity."),
        "changes": ("changes.changes", "Show what differs between two moments."),
        "timeline": ("timeline.timeline", "Show states over time."),
        "why": ("why.why", "Show why an entity is in its state, back to the events behind it."),
        "rejections": ("rejections.rejections", "Show rejected events and the reasons, and send them again."),
    },
    "Notices": {
        "notify": ("notify.notify", "Make notices by rules, and tell them."),
        "notices": ("notices.notices", "Show what people are told, take it, hold it; try rules on the past."),
    },
    "Operate": {
        "doctor": ("doctor.doctor", "Check the server, rights, streams, workers and tables, and say what to do."),
        "sources": ("sources.sources", "Show who sends events: how many were taken, rejected, or came again."),
        "streams": ("streams.streams", "Show how the streams differ from what is wanted, and change them."),
        "tables": ("tables.tables", "Show what a change of tables would do, and who would be stranded."),
        "edge": ("edge.edge", "Sites that lose their uplink: add, list and configure them."),
        "purge": ("purge.purge", "Erase the observations of one entity for good."),
        "operations": ("operations.operations", "Show what operators did by the command, and who they say they are."),
    },
    "Replay": {
        "replay": ("replay.replay", "Decide recorded events again: rebuild states, audit, what-if."),
        "export": ("export.export_", "Write a log to a file."),
        "archive": ("archive.archive", "Move finished parts of the log to files, and trim the streams."),
        "import": ("import_.import_", "Publish the events of an exported log."),
    },
    "Products: GitOps, Fleet, EMCO": {
        "assess": ("assess.assess", "GitOps: show the health and sync of manifests. Needs no server."),
        "diff": ("diff.diff", "GitOps: show where a Kubernetes object differs from Git."),
        "status": ("status.status", "EMCO: show the status of what was deployed."),
    },
    "Shell": {
        "help": ("help.help_", "Show the help of a command, or of a group of options."),
        "completion": ("completion.completion", "Print the script that completes commands in a shell."),
    },
    "Tables": {
        "machines": ("machines.machines", "Print the state machines. Needs no server."),
        "new": ("new.new", "Write a package with a kind of your own. Needs no server."),
    },
}


@click.group(
    cls=Lazy,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    examples=[
        ("phaseline up --data ./data", "run a whole system in this terminal"),
        ("phaseline publish cluster create c1 --wait", "publish an event, and show its records"),
        ("phaseline watch --state Failed", "show failures as they happen"),
        ("phaseline tree c1", "show a cluster and everything in it"),
        ("phaseline COMMAND --help", "show the options of a command, with examples"),
    ],
)
@click.version_option(__version__, message="phaseline %(version)s")
@connection.options
def cli(**_: Any) -> None:
    """Lifecycle events in, explicit state machines, committed transitions out.

    Programs publish events to NATS. Workers decide each event by the state machines, and commit each transition once,
    in order, with its cause. The id of an entity is its path from the root of its tree: c1/pool-a/n7. Commands take it
    alone, as node/c1/pool-a/n7 (what -o name prints), or with its kind: node c1/pool-a/n7.

    Data goes to stdout, in the form that -o names: json (--json for short) and yaml everywhere, wide and name where
    they make a difference. Messages go to stderr.
    Colours appear on terminals only, and never if NO_COLOR is set. Connection options can stand before the command or
    behind it, or in the environment, for example as PHASELINE_NATS.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and end the process with its exit code."""
    try:
        code = cli.main(arguments, prog_name="phaseline", standalone_mode=False)
    except click.Abort:
        code = Exit.INTERRUPTED
    except NotInstalled as error:  # loading a command may need a further library
        click.echo(f"error: {error}", err=True)
        code = Exit.NOT_SET_UP
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except PhaselineError as error:  # of a command of another package
        from phaseline.engine.cli.failures import say_error  # noqa: PLC0415  # few commands end here

        say_error(error, verbose=False)
        code = exit_of(error)
    sys.exit(code if isinstance(code, int) else 0)
