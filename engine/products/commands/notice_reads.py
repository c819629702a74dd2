"""The commands `notices list` and `notices why`: the notices that there are, and their stories.

Belongs here: their options and layout. Does not: reading them (`phaseline.engine.products.notices.story`).
"""

import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import click

from phaseline.engine.products.notices import story
from phaseline.engine.products.notices.events import of_notices
from phaseline.engine.products.notices.fold import matching, read_rules
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.products.notices.fold.telling import sentence
from phaseline.engine.products.notices.story import NoticeStory
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import entity_name, options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.notices.notice import FREE
from phaseline.schemas.errors import EntityUnknown, Exit, NotProvisioned
from phaseline.schemas.records import Transition, nanoseconds, own_facets


@asynccontextmanager
async def notices_of(settings: Settings, source: str | None = None) -> AsyncIterator[Client]:
    """A client of the installation of notices; raises `NotProvisioned.no_notices` if no notifier has made it yet."""
    async with Client.open(of_notices(settings), source=source) as client:
        try:
            yield client
        except NotProvisioned as error:
            if error.prefix != of_notices(settings).prefix:
                raise
            raise NotProvisioned.no_notices(prefix=settings.prefix) from None


@click.command(
    name="list",
    cls=Page,
    examples=[
        ("phaseline notices", "what is open, waits or is held"),
        ("phaseline notices --all", "also what is over, for 30 days"),
        ("phaseline notices --json | jq .attributes.about", "for programs"),
    ],
)
@options.connected
@click.option("--all", "closed", is_flag=True, help="Also those that are over.")
@options.output("json", "yaml", "wide", "name")
def list_(settings: Settings, *, closed: bool, output: Output) -> int | None:
    """List the notices under way, the latest first: since when, in which phase, about what, who takes care of it."""

    async def work() -> None:
        async with notices_of(settings) as client:
            found = await story.listed(client, closed=closed)
            kinds = client.kinds
        if output.is_data:
            for one in found:
                output.show(maps.entity_map(kinds, one), maps.name_of(one.entity))
        elif found:
            output.table(NOTICES, found)
        else:
            output.line("no notice is open" if not closed else "there is no notice")

    return terminal.run(work())


@click.command(
    cls=Page,
    examples=[
        ("phaseline notices why node-down/4711", "why it was told, and to whom"),
        ("phaseline notices why node c1/p/n7 --rules notices.yaml", "what is told of an entity, and why not more"),
        ("phaseline notices why node-down/4711 --json", "for programs"),
    ],
)
@click.option("--rules", "file", type=options.FILE, metavar="FILE",
              help="A file of rules. For each it is said why it is about the entity, or why not.")  # fmt: skip
@entity_name.argument()
@options.connected
@options.output("json", "yaml")
def why(settings: Settings, *, kind: str | None, entity_id: str, file: Path | None, output: Output) -> int | None:
    """Show the story of a notice: why it was told, what became of it, and whom it reached.

    Given an entity, show which notices concern it; with --rules also, rule by rule, why it is told, or why not.
    """

    async def work() -> int:
        async with notices_of(settings) as client:
            if kind in (None, "notice"):
                try:
                    show_story(client, output, await story.story_of(client, entity_id.removeprefix("notice/")))
                except EntityUnknown:
                    if kind == "notice":
                        raise
                else:
                    return Exit.DONE
            return await about_entity(settings, client, kind, entity_id, file, output)

    return terminal.run(work())


async def about_entity(
    settings: Settings, notices: Client, kind: str | None, entity_id: str, file: Path | None, output: Output
) -> int:  # fmt: skip
    """Show the notices about an entity, and what rules say of it."""
    rules = None if file is None else read_rules.read_file(file, installed(settings.prefix))
    async with Client.open(settings) as main:
        kind = await main.kind_of(entity_id, kind)
        record, kinds = await main.last(kind, entity_id), main.kinds
    found = await story.about(notices, kind, entity_id)
    verdicts = [] if rules is None else [*_verdicts(kinds, rules, record)]
    if output.is_data:
        output.show({
            "entity": maps.entity_map(kinds, record),
            "notices": [maps.entity_map(notices.kinds, one) for one in found],
            "rules": [{"rule": name, "selects": selects, "why": said} for name, selects, said in verdicts],
        })  # fmt: skip
        return Exit.DONE
    states = ", ".join(str(facet.state) for facet in own_facets(record.entity))
    output.line(Text.assemble(Text(f"{kind} {entity_id}  ", "bold"), Text(states)))
    if found:
        output.table(NOTICES, found, indent=2)
    else:
        output.line("  no notice is about it")
    for name, selects, said in verdicts:
        output.line(Text(f"  rule {name}: {'yes' if selects else 'no'}, {said}"))
    if rules is None:
        output.line("  give --rules FILE to see, rule by rule, why not")
    return Exit.DONE


def _verdicts(kinds: Kinds, rules: Rules, record: Transition) -> Iterator[tuple[str, bool, str]]:
    now = time.time_ns()
    for rule in rules.rules:
        yield rule.name, *matching.why(kinds, rule, record, now)


def show_story(notices: Client, output: Output, found: NoticeStory) -> None:
    """Print the story of a notice."""
    if output.is_data:
        output.show(story.story_map(notices, found))
        return
    said = found.record.entity.attributes
    output.line(Text.assemble(Text(f"{found.record.entity.id}  ", "bold"), phase_of(found.record)))
    output.pairs([(name, Text(text)) for name, text in _facts(said) if text])
    output.line(Text("history", "bold"))
    for one in found.history:
        if one.facet in ("phase", "attention"):
            output.record(HISTORY, one)
    output.line(Text("deliveries", "bold"))
    output.table(DELIVERIES, found.deliveries.items(), indent=2)
    if not found.deliveries:
        output.line("  none: nobody was told")


def _facts(said: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    cause, because = said.get("cause") or {}, said.get("because") or {}
    message = (said.get("said") or {}).get("message") or (said.get("said") or {}).get("reason")
    yield "about", sentence(said)
    yield "said", message or ""
    yield "severity", said.get("severity") or ""
    yield "since", _time(said.get("since"))
    yield "told", _time(said.get("opened"))
    yield "ended", f"{_time(said.get('ended'))}, {said.get('ended_as') or ''}" if said.get("ended") else ""
    yield "cause", _cause(said, cause) if cause else ""
    told = f": {because['said']}" if because.get("said") else ""
    yield "because", f"{because['about']} is {because['state']}{told}" if because else ""
    yield "held by", said.get("held_by") or ""
    window, by = said.get("window"), said.get("opened_by")
    yield "window", f"{window}, opened by {by}" if window and by else window or ""
    yield "taken by", said.get("taken_by") or ""


def _cause(said: Mapping[str, Any], cause: Mapping[str, Any]) -> str:
    by = cause.get("actor") or cause.get("source")
    return f"{said.get('trigger')} by {by}, event {cause.get('position')}"


def _time(text: str | None) -> str:
    return render.local_time(nanoseconds(text)) if text else ""


def phase_of(record: Transition) -> Text:
    """`Open`, or `Open, taken by ann`."""
    phase, attention = (facet.state.phase for facet in record.entity.facets[:2])
    by = record.entity.attributes.get("taken_by")
    more = "" if attention == FREE else f", {attention}" + (f" by {by}" if by else "")
    return Text(f"{phase}{more}")


NOTICES: Final[tuple[Column[Transition], ...]] = (
    Column("SINCE", lambda one: Text(_time(one.entity.attributes.get("since"))[:19]), worth=80),
    Column("NOTICE", lambda one: Text(one.entity.id)),
    Column("SEVERITY", lambda one: Text(one.entity.attributes.get("severity") or ""), worth=60),
    Column("STATE", phase_of),
    Column("ABOUT", lambda one: Text(sentence(one.entity.attributes)), wraps=True),
)
HISTORY: Final[tuple[Column[Transition], ...]] = (
    Column("TIME", lambda one: Text(f"  {render.local_time(one.time_ns)[:19]}")),
    Column("TRIGGER", lambda one: Text(one.trigger)),
    Column("STATE", lambda one: Text(str(one.after))),
    Column("SAID", lambda one: Text(one.message or "")),
)
DELIVERIES: Final[tuple[Column[tuple[str, Transition]], ...]] = (
    Column("RECEIVER", lambda one: Text(one[0])),
    Column("STATE", lambda one: Text(one[1].entity.facets[0].state.phase)),
    Column("SINCE", lambda one: Text(render.local_time(one[1].entity.facets[0].since_ns)[:19])),
    Column("TOLD", lambda one: Text(one[1].entity.attributes.get("told") or "")),
    Column("TRIES", lambda one: Text(str(one[1].entity.attributes.get("tries") or ""))),
    Column("ERROR", lambda one: Text(one[1].entity.attributes.get("error") or ""), wraps=True),
)
