"""The commands `admin sites add`, `config`, `list` and `remove`: sites that lose their uplink.

Belongs here: their options and layout. Does not: what they do (`worker.sites`).
"""

import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from phaseline.engine.nats.accounts.keys import KeyFolder
from phaseline.engine.nats.wire import Wire
from phaseline.engine.regular_files import replace_secret
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, render, terminal
from phaseline.engine.surfaces.cli.connection import FILE, connection_option
from phaseline.engine.surfaces.cli.help import DefaultGroup, Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.operations import leave_note
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.worker.sites import adding, edge_state
from phaseline.engine.worker.sites.adding import AddedEdge, StoreOptions
from phaseline.engine.worker.sites.edge_names import EdgeNames, tree_subjects
from phaseline.engine.worker.sites.edge_server import EdgeServer, edge_server, users_at_edge
from phaseline.engine.worker.sites.edge_state import WAITS, Condition, EdgeState
from phaseline.schemas.errors import Exit
from phaseline.schemas.records import timestamp

COLOURS: dict[Condition, str] = {
    "connected": "green", "away": "yellow", "filling": "yellow", "store lost": "bold red", "full": "bold red",
    "failing": "bold red", "incomplete": "bold red",
}  # fmt: skip
WELL = ("connected", *WAITS)
"""The states for which nobody must do anything."""
TREES = click.option(
    "--tree", "trees", multiple=True, metavar="NAME",
    help="Root of a tree whose events the edge may bring; can be repeated.  [default: the edge's own name]",
)  # fmt: skip
PLACE = click.Path(dir_okay=False, path_type=Path)


@click.group(
    cls=DefaultGroup,
    examples=[
        ("phaseline admin sites config c1 --hub nats-leaf://hub:7422 --keys ./keys --output c1.conf", "for its server"),
        ("phaseline admin sites add c1", "at the hub: take the events of c1 from there"),
        ("phaseline admin sites list", "which edges are connected, and how far behind the hub is"),
    ],
)
def edge() -> None:
    """Sites that lose their uplink: a NATS server beside the agents keeps their events, and the hub takes them.

    Without a command, list them. docs/edge.md leads from nothing to a working edge.
    """


@edge.command(
    cls=Page,
    examples=[
        ("phaseline admin sites add c1", "an edge whose agents report on the tree c1"),
        ("phaseline admin sites add factory --tree line-1 --tree line-2", "one for two trees"),
        ("phaseline admin sites add c1 --max-bytes 4000000000", "give its store more room"),
    ],
)
@click.argument("name")
@TREES
@click.option("--max-bytes", type=options.WholeNumber(1 << 20), metavar="BYTES",
              help="How much the edge may keep while the uplink is away. When it is full, agents get an error."
              "  [default: 1 GiB; for an edge that is there, what it has]")  # fmt: skip
@options.connected
@options.output("json", "yaml")
def add(settings: Settings, *, name: str, trees: tuple[str, ...], max_bytes: int | None, output: Output) -> int | None:
    """Add the edge NAME to a running installation, or mend it. It is for operators, at the hub.

    The command makes the stream in which the edge keeps events, and a stream at the hub that takes them from there.
    EVENTS takes from that one the events of the edge's trees. What exists already stays; a second call makes only what
    is missing, for instance the store of an edge that lost its disk. The edge's server must be connected for its store
    to be made; the command waits for it for --timeout seconds.
    """

    async def work() -> int:
        async with Wire.open(settings, name="phaseline-edge") as wire:
            await leave_note(wire, settings, "edge add", name)
            found = await adding.add(wire, settings, name, StoreOptions(trees or None, max_bytes))
        _show_added(found, output)
        return Exit.DONE if found.connected else Exit.NO_ANSWER

    return terminal.run(work())


def _show_added(found: AddedEdge, output: Output) -> None:
    if output.is_data:
        output.show(found._asdict())
    else:
        what = ", ".join(found.changed) or "nothing was missing"
        render.show_line(render.text_of(f"edge {found.edge}, trees {', '.join(found.trees)}: {what}"))
    if not found.connected:
        terminal.say(
            f"{found.edge} is not connected, so it has no store yet: start its server (`phaseline admin sites config "
            f"{found.edge}` prints its configuration), and run this command again"
        )


@edge.command(
    "list",
    cls=Page,
    examples=[
        ("phaseline admin sites list", ""),
        ("phaseline admin sites list --json | jq 'select(.state != \"connected\")'", "edges that need somebody"),
    ],
)
@options.connected
@options.output("json", "yaml", "wide")
def list_(settings: Settings, *, output: Output) -> int | None:
    """Show each edge: how it is, how many events the hub does not have yet, the last event, the last contact.

    The exit code is 1 if an edge is full, or has lost its store, or does not work for another reason. An edge that is
    away is none of these: it keeps its events.
    """

    async def work() -> int:
        async with Wire.open(settings, name="phaseline-edge") as wire:
            found = await edge_state.edges(wire, settings)
        for one in found if output.is_data else ():
            output.show(_map(one))
        if not output.is_data and found:
            _show(found, output)
        if not found:
            terminal.say("no edge was added: `phaseline admin sites add NAME`")
        return Exit.NO if any(one.state not in WELL for one in found) else Exit.DONE

    return terminal.run(work())


def _map(one: EdgeState) -> dict[str, Any]:
    times = {name: None if ns is None else timestamp(ns)
             for name, ns in (("last_event", one.last_event), ("last_contact", one.last_contact))}  # fmt: skip
    return {**one._asdict(), **times}


def _show(found: list[EdgeState], output: Output) -> None:
    now = render.now_ns()
    output.table(COLUMNS, (EdgeRow(one, now) for one in found))
    for one in found:
        if one.advice:
            output.line(f"{one.edge}: {one.advice}")
        if one.repeats:
            output.line(f"{one.edge}: {counted(one.repeats, 'event')} came twice, and counted once")
    output.flush()


class EdgeRow(NamedTuple):
    """An edge in the table. Durations end at `now`, ns."""

    edge: EdgeState
    now: int

    def ago(self, moment: int | None) -> Text:
        """How long ago something was."""
        return Text("-" if moment is None else f"{render.duration(self.now - moment)} ago")


def _state(row: EdgeRow) -> Text:
    edge = row.edge
    since = edge.state == "away" and edge.last_contact is not None
    state = f"away for {render.duration(row.now - (edge.last_contact or row.now))}" if since else edge.state
    return Text(state, COLOURS[edge.state])


def _store(edge: EdgeState) -> Text:
    return Text("?" if edge.used is None or not edge.room else f"{100 * edge.used / edge.room:.0f} %")


COLUMNS: Final[tuple[Column[EdgeRow], ...]] = (
    Column("EDGE", lambda row: Text(row.edge.edge, "bold")),
    Column("STATE", _state),
    Column("WAITING", lambda row: Text("?" if row.edge.waiting is None else f"{row.edge.waiting:,}")),
    Column("LAST EVENT", lambda row: row.ago(row.edge.last_event), worth=60),
    Column("LAST CONTACT", lambda row: row.ago(row.edge.last_contact), worth=80),
    Column("STORE", lambda row: _store(row.edge), worth=70),
    Column("TREES", lambda row: Text(", ".join(row.edge.trees)), worth=50, wraps=True),
)


@edge.command(
    cls=Page,
    examples=[("phaseline admin sites remove c1 --yes", "take no more events from c1")],
)
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.connected
@options.output("json", "yaml")
def remove(settings: Settings, *, name: str, yes: bool, output: Output) -> int | None:
    """Take the edge NAME out of the installation.

    EVENTS takes nothing more from it. Events that the hub took stay. The store at the edge stays too, with the events
    that the hub did not take; `phaseline admin sites add` takes them later.
    """
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("the hub takes no more events from a removed edge: add --yes")
        click.confirm(f"take no more events from the edge {name}?", abort=True, err=True)

    async def work() -> None:
        async with Wire.open(settings, name="phaseline-edge") as wire:
            await leave_note(wire, settings, "edge remove", name)
            removed = await adding.remove(wire, settings, name)
        if output.is_data:
            output.show({"edge": name, "removed": removed})
        else:
            render.show_line(render.text_of(f"removed: {', '.join(removed)}"))

    return terminal.run(work())


@edge.command(
    cls=Page,
    examples=[
        ("phaseline admin sites config c1 --hub nats-leaf://hub:7422 --keys ./keys --output c1.conf", ""),
        ("phaseline admin sites config c1 --hub tls://hub:7422 --keys ./keys --hub-ca /etc/nats/ca.crt", "by TLS"),
        ("phaseline admin sites config lab --hub nats-leaf://127.0.0.1:7422", "for a hub without accounts"),
    ],
)
@click.argument("name")
@click.option("--hub", required=True, metavar="URLS",
              help="Where the hub's servers listen for leaf nodes, separated by commas.")  # fmt: skip
@click.option("--keys", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Folder with the keys of `phaseline admin accounts`. Without it the hub has no accounts, and every"
              " user of the edge's server may do everything.")  # fmt: skip
@TREES
@click.option("--listen", default="127.0.0.1:4222", show_default=True, metavar="HOST:PORT",
              help="Where the agents of the edge connect.")  # fmt: skip
@click.option("--data", default="./data", show_default=True, metavar="DIR", help="Folder of the store, at the edge.")
@click.option("--max-store", type=options.WholeNumber(0), default=2 << 30, show_default=True, metavar="BYTES",
              help="How much the edge's server may store; 0 lets it choose.")  # fmt: skip
@click.option("--hub-ca", type=PLACE, metavar="FILE", help="CA certificates for the hub, as the file is called there.")
@click.option("--hub-cert", type=PLACE, metavar="FILE", help="The edge's certificate, likewise.")
@click.option("--hub-key", type=PLACE, metavar="FILE", help="The key of that certificate, likewise.")
@click.option("--output", type=FILE, metavar="FILE", help="Write to this file.  [default: stdout]")
@connection_option("prefix")
@options.verbose
def config(
    *, name: str, hub: str, keys: Path | None, trees: tuple[str, ...], prefix: str, output: Path | None, **rest: Any
) -> int | None:
    """Print the configuration of the NATS server of the edge NAME. Needs no server.

    With --keys it holds the secret key by which the hub knows the edge, so keep it as you keep keys; --output makes
    a file that only you can read. Agents of the edge have the same users and keys there as at the hub.
    """
    names, roots = EdgeNames(prefix, name), trees or (name,)
    tree_subjects(prefix, roots)
    urls = tuple(url.strip() for url in hub.split(",") if url.strip())
    folder = KeyFolder(keys) if keys else None
    creds = keys / f"edge-{name}.creds" if keys else None
    creds = creds if creds is not None and creds.is_file() else None
    seed = folder.seed(f"edge-{name}") if folder and creds is None else ""
    server = EdgeServer(names, urls, seed=seed, creds=creds, max_store=rest.pop("max_store"), **rest)
    text = edge_server(server, users_at_edge(prefix, roots), folder.public if folder else str)
    if output is None:
        click.echo(text, nl=False)
        return 0
    try:
        replace_secret(output, text)
    except OSError as error:
        raise click.BadParameter(f"cannot write {output}: {error.strerror}", param_hint="--output") from error
    terminal.say(f"wrote {output}")
    return 0
