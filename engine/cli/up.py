"""`up`, `worker`, `demo`: running it.

Belongs here: options and words of these commands. Does not: starting and draining (`phaseline.engine.worker.system`).
"""

import asyncio
import functools
import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from phaseline.engine import demo as scenario
from phaseline.engine.cli import options, render, states, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.client.client import Client
from phaseline.engine.errors import BadSetting
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.settings import Settings
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.records import Transition

INSTALLATION = {
    #                  flag               type                          default  words
    "partitions": (
        "--partitions",
        click.IntRange(1, 256),
        None,
        "Shares of the trees; fixed once made.  [default: as it is; 8]",
    ),
    "replicas": ("--replicas", click.Choice(["1", "3", "5"]), "1", "Copies of each stream that is made."),
    "storage": (
        "--storage",
        click.Choice(["file", "memory"]),
        "file",
        "Where streams that are made keep their messages.",
    ),
    "dedupe_window": ("--dedupe-window", float, 600.0, "Seconds in which the server drops a repeated event."),
    "events_max_age": ("--events-max-age", float, 0.0, "Seconds that events are kept; 0 is for ever."),
    "accept_tables": (
        "--accept-tables",
        str,
        "",
        "Digest of the tables installed here, to go on by them where others decided before.",
    ),
    "lease": ("--lease", float, 2.0, "Seconds a worker may be silent before others take its partitions."),
}
SETTLED = 0.3
"""Seconds after which the copy that states are read from has the last record."""
Function = Callable[..., int | None]


def installation(function: Function) -> Function:
    """Options of the streams a worker makes, taken into `settings`."""

    @functools.wraps(function)
    def call(settings: Settings, **values: Any) -> int | None:
        words = {name: values.pop(name) for name in INSTALLATION}
        try:
            wanted = replace(settings, **{**words, "replicas": int(words["replicas"])})
        except BadSetting as error:
            raise click.BadParameter(str(error.problem), param_hint=INSTALLATION[error.name][0]) from error
        return function(settings=wanted, **values)

    wrapped: Function = call
    for name, (flag, type_, default, words) in reversed(INSTALLATION.items()):
        twin = f"PHASELINE_{name.upper()}"
        wrapped = click.option(
            flag,
            name,
            type=type_,
            default=default,
            envvar=twin,
            show_envvar=True,
            show_default=default is not None,
            help=words,
        )(wrapped)
    return wrapped


def log_of_a_server() -> None:
    """Log lines from INFO on: readable on a terminal, JSON for collectors."""
    verbose = bool(click.get_current_context().params.get("verbose"))
    terminal.log_to_stderr(verbose=verbose, quiet=logging.INFO, lines_of_json=not sys.stderr.isatty())


@click.command(
    cls=Page,
    examples=[
        ("phaseline worker --nats nats://a:4222,nats://b:4222,nats://c:4222 --replicas 3", ""),
        ("PHASELINE_NATS=tls://nats.example:4222 PHASELINE_CREDS=worker.creds phaseline worker", ""),
    ],
)
@options.connected
@installation
def worker(settings: Settings) -> int | None:
    """Run a worker against a NATS server or cluster that exists.

    It makes the streams that are absent, shares the partitions with the other workers, and works until Ctrl-C or
    SIGTERM; then it finishes the commits under way. While NATS is away it waits. NATS 2.15 or newer is needed.
    """
    log_of_a_server()

    async def work() -> None:
        await system.work(settings, installed(), system.stopped_by_signals())

    return terminal.run(work())


@click.command(
    cls=Page,
    examples=[
        ("phaseline up", "everything is gone at the end"),
        ("phaseline up --data ./phaseline-data --port 4222", "kept, on a fixed port"),
        ("phaseline up --data ./phaseline-data --workers 2 --sync always", ""),
    ],
)
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              envvar="PHASELINE_DATA", show_envvar=True,
              help="Where everything is kept.  [default: a temporary directory]")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=4222, metavar="P",
              envvar="PHASELINE_PORT", show_envvar=True, show_default=True,
              help="Port on loopback; 0 picks a free one.")  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, metavar="N", envvar="PHASELINE_WORKERS",
              show_envvar=True, help="Worker processes.")  # fmt: skip
@click.option("--sync", type=click.Choice(["default", "always"]), default="default", envvar="PHASELINE_SYNC", show_envvar=True,
              show_default=True, help="`always`: on disk before each answer; survives power cuts, much slower.")  # fmt: skip
@options.connected
@installation
def up(settings: Settings, *, data: Path | None, port: int, workers: int, sync: str) -> int | None:
    """Run the whole system on an embedded NATS server, on loopback, until Ctrl-C.

    For development, demonstrations and single machines. Any NATS client can connect.
    """
    log_of_a_server()

    async def work() -> None:
        stop = system.stopped_by_signals()
        always = sync == "always"
        async with system.system(settings, installed(), data, port, workers=workers, sync_always=always) as (
            server,
            _,
            task,
        ):
            terminal.say(f"Phaseline listens on {server.url}; {data or 'nothing'} keeps its data. Ctrl-C stops it.")
            at = "" if server.url == "nats://127.0.0.1:4222" else f" --nats {server.url}"
            terminal.say(f"Try, in another terminal:  phaseline publish{at} cluster create c1 --wait")
            await system.until(stop, task)
            terminal.say("finishing what is under way ...")

    return terminal.run(work())


@click.command(
    cls=Page, examples=[("phaseline demo", ""), ("phaseline demo --speed 0 --lang zh", "at once, in Chinese")]
)
@click.option(
    "--speed",
    type=click.FloatRange(0),
    default=6.0,
    show_default=True,
    metavar="N",
    help="Events a second; 0 is as fast as they are decided.",
)
@options.language
@options.verbose
def demo(*, speed: float, lang: Language) -> int | None:
    """Play a small fleet's morning on an embedded server: each event, and what comes of it as it is committed.

    Clusters come up, one runs into a stock-out, a pool scales, a node is maintained, an account is overdue and paid,
    a clean-up fails. The events are those of examples/morning.jsonl.
    """
    return terminal.run(_play(speed, lang))


async def _play(speed: float, lang: Language) -> None:
    stop = system.stopped_by_signals()
    kinds = installed()
    async with system.system(Settings(), kinds, None, 0) as (server, settings, task), Client.open(settings) as client:
        terminal.say(f"a real NATS server listens on {server.url}; one worker folds what comes")
        events = scenario.scenario()
        async for event, outcome in scenario.play(client, events, 1 / speed if speed else 0):
            _show_event(kinds, event, outcome)
            if stop.is_set() or task.done():
                return
        await asyncio.sleep(SETTLED)
        roots = sorted({event["subject"].partition("/")[2].partition("/")[0] for event in events})
        render.show(Text("\nThe fleet at the end of the morning", "bold"))
        for root in roots:
            forest = states.Forest(kinds, await client.tree(root, deleted=True))
            for top in forest.tops:
                render.show(forest.drawn(top, lang, None))
    terminal.say("that was it; nothing is kept. Your turn: phaseline up --data ./phaseline-data")


def _show_event(kinds: Kinds, event: Mapping[str, Any], outcome: Outcome) -> None:
    """The event, then what it did, each record on a line."""
    kind, _, trigger = event["type"].partition(".")
    said = render.words(None, (event.get("data") or {}).get("message"))
    render.show_line(
        Text.assemble(
            render.text_of(f"{event['time'][11:19]}  ", "bright_black"),
            render.text_of(f"{kind} {event['subject'].partition('/')[2]} ", "bold"),
            render.text_of(trigger, "bold cyan"),
            render.text_of(f"  from {event['source']}  ", "bright_black"),
            said,
        )
    )
    lines = [_did(kinds, record) for record in outcome.transitions]
    if outcome.rejection is not None:
        lines.append(render.text_of(f"refused: {outcome.rejection.message}", "red"))
    for line in lines or [render.text_of("no effect", "bright_black")]:
        render.show_line(Text.assemble(" " * 12, line))


def _did(kinds: Kinds, record: Transition) -> Text:
    cause = record.cause
    why = "" if cause.by == "event" else f"  ({cause.by} of {cause.origin})"
    who = render.text_of(f"{record.entity.kind} {record.entity.id}  ")
    return Text.assemble(who, render.change(kinds, record), render.text_of(why, "bright_black"))
