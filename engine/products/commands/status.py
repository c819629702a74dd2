"""The command `status`: the status of what EMCO deployed.

Belongs here: its options and layout. Does not: the answer (`phaseline.engine.products.emco`).
"""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import click

from phaseline.engine.log.when import Moment, When
from phaseline.engine.products.emco.query import LISTS, OUTPUTS, SHAPES, STATUSES, TYPES
from phaseline.engine.products.emco.select import AppCluster, LeftItem, StatusItem, StatusSelection
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import entity_name, following, options, render, terminal, undecided
from phaseline.engine.surfaces.cli.help import Function, Page
from phaseline.engine.surfaces.cli.layout import Branch
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import facet_named
from phaseline.machines.language.table import DELETED
from phaseline.schemas import codec
from phaseline.schemas.records import Entity, State, state

BEHIND = 0.02
"""Seconds between two looks whether the states have what the log has. They follow it a moment later."""


def filters(function: Function) -> Function:
    """Add the parameters of the query as options."""
    for option in reversed(
        (
            click.option(
                "--output",
                type=click.Choice(OUTPUTS),
                default="all",
                show_default=True,
                help="How much: summary has counts only, all has resources too, detail adds what the clusters"
                " report, rsync adds what rsync applied.",
            ),
            click.option(
                "--type",
                multiple=True,
                type=click.Choice(TYPES),
                help="Only the states of rsync, or only those in the clusters.",
            ),
            click.option("--app", multiple=True, metavar="APP", help="Only this app. Can be repeated."),
            click.option(
                "--cluster", multiple=True, metavar="PROVIDER+CLUSTER", help="Only this cluster. Can be repeated."
            ),
            click.option(
                "--resource", multiple=True, metavar="NAME", help="Only resources of this name. Can be repeated."
            ),
            click.option("--instance", metavar="CONTEXT", help="Use this app context instead of the current one."),
            click.option(
                "--shape",
                type=click.Choice(SHAPES),
                default="source",
                show_default=True,
                help="Form of --json: as in EMCO's design notes, or as later EMCO versions print it.",
            ),
            click.option("--status", type=click.Choice(STATUSES), help="With --shape emco: this status."),
            *(
                click.option(f"--{name}", is_flag=True, help=f"With --shape emco: only the names of the {name}.")
                for name in LISTS
            ),
        )
    ):
        function = option(function)
    return function


@click.command(
    cls=Page,
    examples=[
        ("phaseline emco status proj+vfw+v1+group", "a tree with counts"),
        ("phaseline emco status proj+vfw+v1+group --output summary", "counts only"),
        ("phaseline emco status proj+vfw+v1+group --app sink --type rsync --json", "for programs"),
        (
            "phaseline emco status proj+vfw+v1+group --shape emco --status ready --json",
            "as later EMCO versions print it",
        ),
        ("phaseline emco status proj+vfw+v1+group --at 15m", "15 minutes ago"),
        ("phaseline emco status proj+vfw+v1+group --output summary --watch", "again after each change"),
    ],
)
@filters
@following.follow
@options.at
@options.connected
@options.archived
@options.output("json", "yaml", "wide", flags=("-o",), name="form")
@entity_name.argument(only=("emco_resource",), metavar="RESOURCE")
def status(
    settings: Settings, entity_id: str, *, at: When | None, follow: bool, form: Output, **query: Any
) -> int | None:
    """Show the status of an EMCO resource: the last action of the user, the app context, and the state on each cluster.

    RESOURCE is the id of an emco_resource: names joined by +.

    Older contexts that are still under way stand beside the current one, with their failures; and so does what is
    Deleted and may still be in a cluster. With --watch, show it again after each change.
    """
    if query["shape"] == "emco" and not form.is_data:
        raise click.UsageError("--shape emco is a form of --json: add --json")
    if follow:
        following.check(at)

    async def work() -> None:
        async with undecided.reading(settings, entity_id, at) as client:
            view = await client.at(at)
            start = await view.next_place() if follow else 0
            shown = await _show(client, view, entity_id, query, form)
            if not follow:
                return
            form.flush()
            async with client.watch(tree=entity_id, start=start) as records:
                while await records.batch():
                    await _until_shown(view, records.sequence)
                    shown = await _show(client, view, entity_id, query, form, shown)
                    form.flush()

    return terminal.run(work())


async def _until_shown(view: EntityView[Any], place: int) -> None:
    """Wait until the states, which follow the log a moment later, show a place of it."""
    while True:
        if await view.next_place() > place:
            return
        await asyncio.sleep(BEHIND)


async def _show(
    client: ReadingClient, view: EntityView[Any], entity_id: str, query: dict[str, Any], form: Output, shown: Any = None
) -> Any:
    """Print the status, and return what programs get. shown: what was printed before; the same is not said twice."""
    if form.is_data:
        body = await view.emco.status(entity_id, **query)
        if body != shown:
            form.show(body)
        return body
    found = await view.emco.selection(entity_id, **query)
    known = {} if query["output"] in ("summary", "all") else await _known(view, entity_id, query)
    drawing = StatusTree(client.kinds, found, query, render.time_of(view), known)
    if shown is not None:
        form.line("")
    for line in drawing.head():
        form.line(line)
    for branch in drawing.apps():
        form.tree(branch)
    return found


async def _known(
    view: EntityView[Moment | None], resource_id: str, query: dict[str, Any]
) -> dict[tuple[str, ...], Any]:
    """By app, cluster, name and kind: the details of each resource in the outputs `detail` and `rsync`."""
    body = await view.emco.status(resource_id, **query)
    return {
        (app["app-name"], cluster["name"], found["Name"], found["GVK"]["Kind"]): found
        for app in body.get("resources", ())
        for cluster in app["clusters"]
        for found in cluster["resources"]
    }


class StatusTree:
    """A status as a terminal shows it."""

    def __init__(
        self,
        kinds: Kinds,
        found: StatusSelection,
        query: Mapping[str, Any],
        now: int,
        known: Mapping[tuple[str, ...], Any],
    ) -> None:
        """Durations end at `now`, ns."""
        self.kinds, self.found, self.query, self.now, self.known = kinds, found, query, now, known
        self.rsync = query["type"] != ("cluster",)
        self.cluster = query["output"] != "rsync" and query["type"] != ("rsync",)

    def head(self) -> Iterator[Text]:
        """The resource, its context, the counts over all apps."""
        yield self._entity(self.found.resource, self.found.resource.id)
        if self.found.context is None:
            if self.found.resource.facets[0].state.phase != DELETED:
                yield render.text_of("not instantiated yet", "bright_black")
            yield from map(self._left, self.found.left_behind)
            return
        stale = render.as_of(self.found.stale_since_ns, self.now)
        context = self._entity(self.found.context, str(self.found.name), self._successor())
        yield Text.assemble(context, "  " if stale else "", stale)
        yield from self._counts(self.found.counts(), self.found.presence(), "  ")
        for one in self.found.previous:
            yield from self._previous(one)
        for left in self.found.left_behind:
            yield self._left(left)

    def _previous(self, older: StatusSelection) -> Iterator[Text]:
        """An older context that is still under way, and what failed in it."""
        if older.context is None:
            return
        entity = self._entity(older.context, f"{older.name}", ", under way beside the current one")
        yield entity
        for at in older.app_clusters:
            where = render.text_of(f"  {at.app} on {at.cluster}: ")
            yield Text.assemble(where, self._counted("rsync", at.counts))
        for at, one in older.failures():
            yield render.text_of(f"    {at.app} {at.cluster} {one.name}: {one.failure}", "red")

    def _left(self, left: LeftItem) -> Text:
        shown = " ".join([left.shows["phase"], *left.shows["conditions"]])
        where = f"{left.name}+{left.kind} of {left.app} on {left.cluster} (context {left.context})"
        return Text.assemble(render.text_of("left behind ", "red"), render.text_of(where), f", last shown {shown}")

    def _successor(self) -> str:
        """The context that took over from an old one."""
        attributes = {} if self.found.context is None else self.found.context.attributes
        is_old = self.found.name != self.found.resource.attributes.get("context")
        to = attributes.get("taken_over_by") if is_old else None
        return f", taken over by {to}" if to else ""

    def _entity(self, entity: Entity, name: str, also: str = "") -> Text:
        facet = entity.facets[0]
        since = f"for {render.duration(self.now - facet.since_ns)}"
        revision = entity.attributes.get("revision")
        more = f"{since}, revision {revision}" if revision else f"{since}{also}"
        shown = render.state(self.kinds, entity.kind, entity.names[0], facet.state)
        if facet.state.phase == DELETED:
            shown = render.states(self.kinds, entity, "en")
        return Text.assemble(
            render.text_of(f"{entity.kind} ", "bright_black"), render.text_of(name, "bold"), "  ", shown, "  ",
            render.text_of(more, "bright_black"),
        )  # fmt: skip

    def _counts(self, rsync: Mapping[str, int], cluster: Mapping[str, int], margin: str) -> Iterator[Text]:
        for wanted, facet, counts in ((self.rsync, "rsync", rsync), (self.cluster, "cluster", cluster)):
            if wanted:
                yield Text.assemble(
                    margin, render.text_of(f"{facet:<8} ", "bright_black"), self._counted(facet, counts)
                )

    def _counted(self, facet: str, counts: Mapping[str, int]) -> Text:
        words = [self._word(facet, state(phase), f"{count:,} {phase}") for phase, count in counts.items() if count]
        return Text(", ").join(words) if words else render.text_of("none", "bright_black")

    def _word(self, facet: str, found: State, text: str | None = None) -> Text:
        known = facet_named(self.kinds, "rsync_resource", facet)
        return render.text_of(text or found, render.colour(found, known))

    def apps(self) -> Iterator[Branch]:
        """App by app: its clusters, and the resources on them."""
        by_app: dict[str, Branch] = {}
        for placed in self.found.app_clusters:
            if placed.app not in by_app:
                by_app[placed.app] = Branch(render.text_of(placed.app, "bold"))
            self._cluster(by_app[placed.app], placed)
        yield from by_app.values()

    def _cluster(self, app: Branch, placed: AppCluster) -> None:
        known = facet_named(self.kinds, "app_cluster", "connectivity")
        reach = render.text_of(placed.connectivity, render.colour(state(placed.connectivity), known))
        counts = [self._counted("rsync", placed.counts)] if self.rsync else []
        counts += [self._counted("cluster", placed.presence)] if self.cluster else []
        stale = render.as_of(placed.stale_since_ns, self.now)
        branch = app.add(
            Text.assemble(
                render.text_of(placed.cluster, "bold"), "  ", reach, "  ", Text("; ").join(counts),
                "  " if stale else "", stale,
            )
        )  # fmt: skip
        for item in placed.items if self.query["output"] != "summary" else ():
            if item.rsync is not None or self.cluster:
                below = branch.add(self._item(item))
                for key in ("metadata", "spec", "status"):
                    found = self.known.get((placed.app, placed.cluster, item.name, item.kind), {}).get(key)
                    if found is not None:
                        below.add(render.text_of(f"{key} {codec.plain_value(found)}", "bright_black"))

    def _item(self, item: StatusItem) -> Text:
        group = f".{item.group}" if item.group else ""
        words = [render.text_of(f"{item.kind}{group}", "bright_black")]
        if self.rsync and item.rsync is not None:
            words.append(self._word("rsync", item.rsync.state))
            words.append(render.text_of(f"for {render.duration(self.now - item.rsync.since_ns)}", "bright_black"))
        if self.cluster:
            words.append(self._word("cluster", state(item.cluster)))
        if item.failure:
            words.append(render.text_of(item.failure, "italic"))
        return Text.assemble(render.text_of(item.name), "  ", Text("  ").join(words))
