"""The command `get`: one entity, at a moment.

Belongs here: its options and layout. Does not: reading states (`phaseline.engine.log.state_view`).
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import click
from msgspec.structs import replace

from phaseline.engine.log.explain import identities
from phaseline.engine.log.explain.model import Contradiction, Explanation, GivenReason, record_of, said_map
from phaseline.engine.log.when import Moment, When
from phaseline.engine.surfaces.cli import cells, entity_name, following, options, render, terminal
from phaseline.engine.surfaces.cli.cells import Installations
from phaseline.engine.surfaces.cli.following import Following
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render_why import ExplanationTree
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.entity_view import states_of
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.engine.surfaces.client.surroundings import ALONE, Surroundings, SurroundingsReader, unwatched_by
from phaseline.machines.compiler.classes.entity_classes import class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, advice_of, facet_named, message_of
from phaseline.machines.language.contact import recorded_ns
from phaseline.machines.language.endings import SHOWS, state_for_people
from phaseline.machines.language.fields import FREE
from phaseline.machines.language.table import ABSENT, DELETED, STALLED, Facet
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.errors import Exit, NotFound
from phaseline.schemas.records import NO_MEMORY, SIGNALS, Entity, FacetState, Transition


@click.command(
    cls=Page,
    examples=[
        ("phaseline get node c1/pool-a/n7", ""),
        ("phaseline get node c1/pool-a/n7 --at 03:12", "as it was at 03:12"),
        ("phaseline get node c1/pool-a/n7 --json | jq .facets.phase.state", ""),
        ("phaseline get shop/shop/apps:Deployment/shop/web --manifest", "the object as it was observed last"),
    ],
)
@options.at
@options.language
@following.follow
@click.option(
    "--manifest",
    is_flag=True,
    help="Print the Kubernetes object as it was observed last, with Secrets masked, as YAML.",
)
@cells.reading
@options.output("json", "yaml", "wide", "name")
@entity_name.argument()
def get(
    installations: Installations,
    kind: str | None,
    entity_id: str,
    *,
    at: When | None,
    lang: Language,
    follow: bool,
    manifest: bool,
    output: Output,
) -> int | None:
    """Show one entity: its state and label, since when, its attributes, and the last cause.

    With --at, show it as it was at an earlier moment. With --watch, go on with a line for each change.

    With --cell, look for it in several installations, and show it with the name of its cell; twice if two have it.
    Where a cell cannot be read and no other has it, the exit code is 3.
    """
    if follow:
        following.check(at)
    if manifest and (at is not None or follow):
        raise click.UsageError("the server keeps the last manifest only: --manifest goes with neither --at nor --watch")
    installations.check_common("--at", at)
    wanted = GetQuery(kind, entity_id, at, follow_on=follow, manifest=manifest)

    async def work() -> int:
        kinds = installations.kinds
        async with installations.reading(entity_id, at) as reading:
            answers = await reading.each(wanted.read)
            found = {cell: one for cell, one in answers if isinstance(one, GetResult)}
            if not found:
                raise cells.missing(reading.away, next(one for _, one in answers if isinstance(one, NotFound)))
            for cell, one in found.items():
                if manifest:
                    output.document(cells.named(cell, {**one.manifest}), maps.name_of(one.last.entity))
                    continue
                _show(kinds, cell, one, output, lang)
            if not follow:
                cells.end(reading, output)
                return Exit.DONE
            output.flush()
            async for cell, following_one in reading.follow(partial(wanted.follow, found), partial(cells.tell, output)):
                following.show_one(cell, kinds, following_one, output, lang)
            return Exit.DONE

    return terminal.run(work())


class GetResult(NamedTuple):
    """What an installation has of the entity. start: where a watch goes on. around: what others tell of it.

    stalled: why it is so, if its operation is stalled. said: what was said of its conditions. refused: what was said
    since and refused. unwatched: by what above, and how, it is named as what nobody may look at now. manifest: that of
    its object; empty if that is not there, or nobody asks for it.
    """

    moment: Moment | None
    start: int
    last: Transition
    around: Surroundings = ALONE
    stalled: Explanation | None = None
    said: tuple[GivenReason, ...] = ()
    refused: tuple[Contradiction, ...] = ()
    unwatched: tuple[Entity, str] | None = None
    manifest: Mapping[str, Any] = {}


class GetQuery(NamedTuple):
    """Which entity is shown, and when. follow_on: whether its changes are shown too. manifest: only its object is."""

    kind: str | None
    id: str
    at: When | None
    follow_on: bool
    manifest: bool

    async def read(self, client: ReadingClient) -> GetResult | NotFound:
        """The entity of one installation; the error if it has none."""
        view = await client.at(self.at)
        start = await view.next_place() if self.follow_on else 0
        try:
            last = await view.last(self.kind or await view.kind_of(self.id), self.id)
        except NotFound as error:
            return error
        entity = last.entity
        if self.manifest:
            live = await client.gitops.manifest(entity.kind, entity.id)
            return GetResult(view.moment, start, last, manifest=live or {})
        entity = await identities.remembered(states_of(view), entity)
        last = replace(last, entity=entity)
        stalls = any(STALLED in facet.base.conditions for facet in entity.facets)
        around, said, refused, unwatched = await asyncio.gather(
            SurroundingsReader(states_of(view)).of([entity]), view.said(entity), view.refused(last),
            unwatched_by(states_of(view), entity),
        )  # fmt: skip
        stalled = await view.why(entity.kind, entity.id) if stalls else None
        return GetResult(view.moment, start, last, around, stalled, said, refused, unwatched)

    async def follow(
        self, found: Mapping[str, GetResult], cell: str, client: ReadingClient
    ) -> AsyncIterator[Following]:
        """The changes of the entity in a cell that has it."""
        if cell in found:
            one = found[cell]
            async for after in following.after(
                client, one.start, [one.last], lambda entity: entity.id == self.id, kind=one.last.entity.kind,
                tree=self.id,
            ):  # fmt: skip
                yield after


def _show(kinds: Kinds, cell: str, one: GetResult, output: Output, lang: Language) -> None:
    """Show the entity of one cell."""
    if output.is_data:
        shown = cells.named(cell, maps.entity_map(kinds, one.last, lang, one.around))
        beside = {**_said_map(one.said), **_refused_map(one.refused), **_stalled_map(one.stalled)}
        beside |= _unwatched_map(one.unwatched)
        output.show({**shown, **beside}, maps.name_of(one.last.entity))
        return
    now = render.time_at(one.moment, cell)
    place = [("cell", render.text_of(cell))] if cell else []
    told = (
        *_unwatched(one, now),
        *_said(kinds, one.said, now),
        *_refused(one.refused),
        *_stalled(kinds, one.stalled, now, lang),
    )
    output.pairs([*place, *described(kinds, one.last, lang, now, one.around), *told])


def _unwatched(found: GetResult, now: int) -> Iterator[tuple[str, Text]]:
    """That nobody may look at the entity now, so that it may have changed since its last record."""
    if found.unwatched is not None:
        above, named = found.unwatched
        said = f": nobody may look at {named} now, as {above.kind} {above.id} says"
        yield "stale", Text.assemble(render.as_of(recorded_ns(found.last.entity), now), said)


def _unwatched_map(found: tuple[Entity, str] | None) -> dict[str, Any]:
    """The same for programs."""
    return {} if found is None else {"unwatched": {"by": f"{found[0].kind}/{found[0].id}", "named": found[1]}}


def _said(kinds: Kinds, found: Sequence[GivenReason], now: int) -> Iterator[tuple[str, Text]]:
    """The reason of each condition, by whom, since when, and how often it was said."""
    tree = ExplanationTree(kinds, now)
    yield from (("reason", tree.reason_of(one)) for one in found if one.reason is not None or one.count > 1)


def _said_map(found: Sequence[GivenReason]) -> dict[str, Any]:
    """The same for programs."""
    return {"said": [said_map(one) for one in found]} if found else {}


def _refused(found: Sequence[Contradiction]) -> Iterator[tuple[str, Text]]:
    """What was said since and refused: the state that is shown may be older than that."""
    yield from (("but", render.text_of(f"{one.text}: {one.message}")) for one in found)


def _refused_map(found: Sequence[Contradiction]) -> dict[str, Any]:
    """The same for programs."""
    return {"refused": [{"text": one.text, "message": one.message} for one in found]} if found else {}


def _stalled(kinds: Kinds, found: Explanation | None, now: int, language: Language) -> Iterator[tuple[str, Text]]:
    """Who asked for an operation that is stalled, and what was said last there or below."""
    tree = ExplanationTree(kinds, now, language=language)
    for facet in () if found is None else found.facets:
        if facet.last_said is not None:
            yield "last said", tree.said_last(facet.last_said)
        for asked in facet.asked:
            yield "asked", tree.sentence(asked)


def _stalled_map(found: Explanation | None) -> dict[str, Any]:
    """The same for programs."""
    for facet in () if found is None else found.facets:
        if STALLED in facet.base.conditions:
            asked = [record_of(one) for one in facet.asked]
            return {"stalled": {"asked": asked, "last_said": facet.last_said and record_of(facet.last_said)}}
    return {}


def _beside(table: Facet | None, entity: Entity, found: FacetState, language: Language) -> Iterator[tuple[str, Text]]:
    """Why a facet is not well, as far as the entity says itself, and what to do about it."""
    if table is None or found.state.phase == table.healthy:
        return
    message = "" if found.state.phase == DELETED else message_of(table, entity.kind, entity.attributes, found)
    if message:
        yield "because", render.text_of(message)
    if advice := advice_of(table, state_for_people(found.state, entity.attributes), language):
        yield "to do", render.text_of(advice, "italic")


def _life(entity: Entity) -> Iterator[tuple[str, Text]]:
    """Which thing the entity stands for, since which event, and which ones it stood for before."""
    memory = entity.memory or NO_MEMORY
    if memory.uids:
        yield "identity", render.text_of(", ".join(memory.identities))
    if memory.former:
        yield "earlier", render.text_of(", ".join(memory.former))
    if entity.born and entity.facets[0].base.phase not in (ABSENT, DELETED):
        awaited = memory.awaited
        yield "born", render.text_of(f"event {entity.born}{', which asked for it' if awaited else ''}")


RECORD = ("version", "cause")
"""The facts about the last record. An attribute of such a name is told apart."""


def described(
    kinds: Kinds, last: Transition, language: Language, now: int, around: Surroundings
) -> Iterator[tuple[str, Text]]:
    """The facts about one entity, by name. around: what others tell of it."""
    entity, stale = last.entity, around.stale_of(last.entity)
    yield entity.kind, render.text_of(entity.id, "bold")
    if stale is not None and stale.is_of_backup:
        yield "stale", Text.assemble(render.stale(stale, entity, now), ": nothing was heard since it was put back")
    elif stale is not None:
        whom = "" if stale.is_itself(entity) else f" from {stale.text()} or anything below it"
        since = render.local_time(stale.since_ns)
        yield "stale", Text.assemble(render.as_of(stale.as_of_ns, now), f": nothing was heard since {since}{whom}")
    yield from _facets(kinds, entity, language, now, around)
    if entity.facets[0].state.phase != DELETED or render.telling_dwell(kinds, entity, now):
        since = f" since {render.local_time(class_since(kinds, entity))}"
        yield "class", Text.assemble(render.dwell(kinds, entity, now), since)
    compiled = kinds.get(entity.kind)
    yield from _life(entity)
    if compiled is not None and (waits := compiled.waits_for(entity)):
        yield "waits for", render.text_of(f"the answer to event {waits}")
    yield from _attributes(kinds, entity)
    message = render.reason_and_message(last.reason, last.message)
    yield "version", render.text_of(entity.version)
    whole = _of_event(last) if last.cause.by == "cascade" else ""
    yield "cause", Text.assemble(render.cause(last), whole, ": " if message else "", message)


def _of_event(record: Transition) -> Text:
    """`, of event 371 by /ccm`: the event behind a record that another one led to."""
    return render.text_of(f", of event {record.cause.sequence} by {actors.sender(record.cause)}")


def _facets(
    kinds: Kinds, entity: Entity, language: Language, now: int, around: Surroundings
) -> Iterator[tuple[str, Text]]:
    """The facts about the states of an entity."""
    parts, shut = around.parts_of(entity), around.shut_of(entity) or {}
    for name, facet in zip(entity.names, entity.facets, strict=True):
        label = render.label(kinds, entity.kind, name, state_for_people(facet.state, entity.attributes), language)
        state = render.state(kinds, entity.kind, name, facet.state)
        partly = render.partly(parts.get(name), language)
        yield name if len(entity.names) > 1 else "state", Text.assemble(state, partly, "  " if label else "", label)
        yield from _beside(facet_named(kinds, entity.kind, name), entity, facet, language)
        if facet.base != facet.state:
            yield "base", render.state(kinds, entity.kind, name, facet.base)
        yield "since", render.text_of(f"{render.local_time(facet.since_ns)}, {render.duration(now - facet.since_ns)}")
        if name in entity.timers_ns:
            due = entity.timers_ns[name]
            yield "timer", render.text_of(f"{render.local_time(due)}, in {render.duration(due - now)}")
        known = facet_named(kinds, entity.kind, name)
        fit = None if known is None else maps.fit_for_work(known, facet.state, shut)
        if fit is not None:
            why = "" if name not in shut else f": {shut[name].text()}"
            yield "schedulable", render.text_of("yes" if fit else f"no{why}")


def _attributes(kinds: Kinds, entity: Entity) -> Iterator[tuple[str, Text]]:
    """What an entity keeps beside its states."""
    tables = [one for name in entity.names if (one := facet_named(kinds, entity.kind, name)) is not None]
    for name, value in entity.attributes.items():
        if any(name == one.news_from for one in tables):
            yield from (("event", render.text_of(render.happening(one))) for one in value)
            continue
        if any(name == one.evidence_from for one in tables):
            yield from ((name, render.text_of(render.evidence(one, says=True))) for one in value)
            continue
        if name == SHOWS:
            yield name, render.last_shown(value)
            continue
        if name == FREE:
            yield from ((f"{each} (free)", render.text_of(codec.plain_value(one))) for each, one in value.items())
            continue
        if name == SIGNALS:
            yield from (
                ("signal", render.text_of(render.evidence({"condition": each, **one}))) for each, one in value.items()
            )
            continue
        is_time = name in maps.TIMES and isinstance(value, int)
        named = f"{name} (attribute)" if name in RECORD else name
        yield named, render.text_of(render.local_time(value) if is_time else codec.plain_value(value))
