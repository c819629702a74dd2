"""The command `phaseline`: its group, and the module of each command.

Belongs here: the name, the module and one line of help of each command, so that `--help` loads none of them; former
names; the standard streams. Does not: what commands do, groups of commands (`groups`).
"""

import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from phaseline.engine.surfaces.cli import connection
from phaseline.engine.surfaces.cli.lazy import OF_PRODUCTS, Commands, Moved, Sections
from phaseline.schemas.errors import Exit, NotInstalled, PhaselineError, exit_of
from phaseline.schemas.version import __version__

SECTIONS: Sections = {
    "Run a system": {
        "up": ("up.up", "Run a whole system on an embedded NATS server."),
        "worker": ("worker.worker", "Run a worker on an existing NATS server."),
        "serve": ("serve.serve", "Serve the page and the API by HTTP."),
        "demo": ("demo.demo", "Play the morning of a small fleet on an embedded server."),
    },
    "Publish": {
        "publish": ("publish.publish", "Publish one event, a file of events, or all that there is below an entity."),
        "observe": (
            f"{OF_PRODUCTS}.observe.observe",
            "Publish events about Kubernetes objects, as kubectl prints them.",
        ),
    },
    "Read states": {
        "overview": ("overview.overview", "Show what is bad now, since when and because of what."),
        "get": ("get.get", "Show one entity."),
        "list": ("list_.list_", "List entities."),
        "tree": ("tree.tree", "Show an entity and everything below it."),
        "counts": (
            f"{OF_PRODUCTS}.counts.counts",
            "Show how many entities are in which state, what is lacking and what is stalled.",
        ),
    },
    "History and why": {
        "watch": ("watch.watch", "Show transitions as they happen, or from an earlier moment on."),
        "history": ("history.history", "Show the transitions of one entity."),
        "changes": ("changes.changes", "Show what differs between two moments."),
        "timeline": ("timeline.timeline", "Show states over time."),
        "levels": (f"{OF_PRODUCTS}.levels.levels", "Show availability, outages and the time in each class."),
        "why": ("why.why", "Show why an entity is in its state, back to the events behind it."),
        "rejections": ("rejections.rejections", "Show rejected events and the reasons, and send them again."),
    },
    "Notices": {
        "notify": (f"{OF_PRODUCTS}.notify.notify", "Make notices by rules, and tell them."),
        "notices": (
            f"{OF_PRODUCTS}.notices.notices",
            "Show what people are told, take it, hold it; try rules on the past.",
        ),
    },
    "Operate": {
        "doctor": ("doctor.doctor", "Check the server, rights, streams, workers and tables, and say what to do."),
        "admin": ("groups.admin", "Streams, backups, accounts, sites, sources; what operators did."),
        "log": ("groups.log", "Decide recorded events again; export, import and archive the log."),
        "kinds": ("groups.kinds", "Show the state machines, check a change of them, begin one of your own."),
    },
    "Products": {
        "gitops": ("groups.gitops", "GitOps: the health and sync of manifests, and differences. Needs no server."),
        "emco": ("groups.emco", "EMCO: the status of what was deployed."),
    },
    "Shell": {
        "help": ("help.help_", "Show the help of a command, or of a group of options."),
        "completion": ("completion.completion", "Print the script that completes commands in a shell."),
    },
}
MOVED: Moved = {
    ("accounts",):    ("admin", "accounts"),
    ("archive",):     ("log", "archive"),
    ("assess",):      ("gitops", "assess"),
    ("diff",):        ("gitops", "diff"),
    ("edge",):        ("admin", "sites"),
    ("export",):      ("log", "export"),
    ("import",):      ("log", "import"),
    ("machines",):    ("kinds", "show"),
    ("new",):         ("kinds", "new"),
    ("new", "kind"):  ("kinds", "new"),
    ("operations",):  ("admin", "operations"),
    ("purge",):       ("admin", "purge"),
    ("replay",):      ("log", "replay"),
    ("snapshot",):    ("publish", "--snapshot", ""),
    ("sources",):     ("admin", "sources"),
    ("status",):      ("emco", "status"),
    ("streams",):     ("admin", "streams"),
    ("tables",):      ("kinds", "check"),
    ("token",):       ("admin", "token"),
}  # fmt: skip
"""The former names of commands. They work for one version. A snapshot of the file "" has its file as a third word."""
ELSEWHERE = {
    "describe": "get", "show": "get", "ls": "list", "delete": "publish", "apply": "publish", "pub": "publish",
    "sub": "watch", "events": "history", "logs": "history", "top": "overview", "explain": "kinds show",
    "server": "doctor", "check": "doctor", "start": "up", "run": "up", "backup": "admin backup",
    "restore": "admin restore",
}  # fmt: skip
"""By the words of other commands, kubectl and nats above all, ours that does the same."""
REMOVED = {
    "repartition": "export the log and import it into a new installation (Another number of partitions, "
    "docs/run.md); times and durations are not kept",
}
"""By the names of commands that earlier versions had, what to use instead."""


@click.group(
    cls=Commands,
    sections=SECTIONS,
    moved=MOVED,
    removed=REMOVED,
    elsewhere=ELSEWHERE,
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


OPENED = (("stdin", "r", os.O_WRONLY), ("stdout", "w", os.O_RDONLY), ("stderr", "w", os.O_WRONLY))
"""How those standard streams are opened that were closed: reading and printing fail, as nobody gave a place for it."""


class _Talk(io.FileIO):
    """Where messages and log lines go. A disk that is full, or a reader that has gone, ends no command, no worker."""

    def write(self, data: Any) -> int:
        """Write, or drop what nobody takes."""
        try:
            return super().write(data)
        except BlockingIOError:
            raise
        except OSError:
            return memoryview(data).nbytes


def _prepare_streams() -> None:
    """Open the streams that are closed, so that no file or socket takes their numbers, and let messages never fail."""
    for number, (name, mode, flags) in enumerate(OPENED):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # it stays
    raw, encoding = _Talk(sys.stderr.fileno(), "w", closefd=False), sys.stderr.encoding
    sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=True)


def _let_go() -> None:
    """Drop what standard output did not take, so that it does not fail again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and end the process with its exit code."""
    _prepare_streams()
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
    except (PhaselineError, OSError) as error:  # of a command of another package; of printing help
        from phaseline.engine.surfaces.cli.failures import say_error  # noqa: PLC0415  # few commands end here

        say_error(error, verbose=False)
        code = exit_of(error)
    _let_go()
    sys.exit(code if isinstance(code, int) else 0)
