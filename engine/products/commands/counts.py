"""The command `counts`: how many entities below one are in which state, of Fleet's how many resources are ready.

Belongs here: its options and layout. Does not: counting (`part_counts`, `products.fleet.counts`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from phaseline.engine.log.watch import RecordFilter, chosen
from phaseline.engine.log.when import When
from phaseline.engine.products.commands import part_counts
from phaseline.engine.products.commands.part_counts import PartCounts
from phaseline.engine.products.fleet.counts import KINDS
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import entity_name, names, options, render, terminal, undecided
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.fleet.counts import fraction
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import nanoseconds


@click.command(
    cls=Page,
    examples=[
        ("phaseline counts c1", "what is below a cluster: states, what is lacking, what is stalled"),
        ("phaseline counts node_pool c1/pool-a --condition Stalled", "only what is stalled"),
        ("phaseline counts infra", "a git repository"),
        ("phaseline counts infra/web", "a bundle"),
        ("phaseline counts infra/web/c1 --json", "a bundle on one cluster, for programs"),
        ("phaseline counts infra --at 15m", "15 minutes ago"),
        ("phaseline counts --cluster east", "a cluster, over all repositories"),
        ("phaseline counts --cluster 'edge-*' --cluster lab", "several clusters together, and each"),
    ],
)
@click.option("--cluster", "clusters", multiple=True, metavar="NAME",
              help="Instead of ID: count over all repositories on this cluster. Can be given several times, and be a "
              "glob (*, ?, [ab], {a,b}).")  # fmt: skip
@options.at
@names.condition
@options.connected
@options.archived
@options.output("json", "yaml", "wide")
@entity_name.argument(required=False)
def counts(
    settings: Settings, entity_id: str | None, *, kind: str | None = None, clusters: tuple[str, ...], at: When | None,
    condition: tuple[str, ...], output: Output,
) -> int | None:  # fmt: skip
    """Show how many entities below one are in which state, what is lacking, and which operations are stalled.

    Of a Fleet repository, bundle or cluster, show how many deployments and resources are ready, and which are not.
    Then ID is <repo>, <repo>/<bundle> or <repo>/<bundle>/<cluster>. Declared resources are counted. A declared resource
    that somebody deleted counts as not ready. A resource that is no longer declared does not count. What Fleet counts
    without naming it is counted too ("and 2 more").

    With --condition, only entities in such a state are counted; of Fleet's also what is below them: `--condition Error`
    counts below the bundles with an error.
    """
    if (entity_id is None) is not bool(clusters):
        both = "not both" if clusters else "as in `phaseline counts c1`; `phaseline overview` counts everything"
        raise click.UsageError(f"give either ID or --cluster, {both}")

    async def work() -> None:
        async with undecided.reading(settings, entity_id, at) as client:
            view = await client.at(at)
            found: Mapping[str, Any]
            of = None if entity_id is None else await _kind(view, kind, entity_id)
            if entity_id is not None and of is not None and of not in KINDS:
                parts = await _parts(view, of, entity_id, condition)
                if output.is_data:
                    output.show(parts.as_map(client.kinds))
                else:
                    _show_parts(client.kinds, parts, render.time_of(view), output)
                return
            if clusters:
                found = await view.fleet.cluster_counts(*clusters, condition=condition)
            else:
                found = await view.fleet.counts(str(entity_id), condition=condition)
            if output.is_data:
                output.show(found)
                return
            _show(found, render.time_of(view), output)

    return terminal.run(work())


async def _kind(view: EntityView[Any], kind: str | None, entity_id: str) -> str:
    """The kind of an id. Where Fleet and another product have it, Fleet's."""
    depth = entity_id.count("/")
    if kind is None and depth < len(KINDS):
        try:
            return await view.kind_of(entity_id, KINDS[depth])
        except EntityUnknown:
            pass
    return await view.kind_of(entity_id, kind)


async def _parts(view: EntityView[Any], kind: str, entity_id: str, condition: tuple[str, ...]) -> PartCounts:
    """The counts of an entity that is none of Fleet's."""
    choice = chosen(view.kinds, None, None, condition)
    RecordFilter(choice=choice).check(view.kinds)
    top = (await view.last(kind, entity_id)).entity
    everything = [
        one.entity
        for one in await view.last_of_tree(entity_id)
        if entity_name.is_part_of(view.kinds, one.entity.kind, kind)
    ]
    shown = [one for one in everything if choice.selects_in(one)]
    return part_counts.count(view.kinds, top, everything, shown, await view.stale([top, *shown]))


def _show_parts(kinds: Kinds, parts: PartCounts, now: int, output: Output) -> None:
    lacking = {key: [one.text() for one in found.values()] for key, found in parts.lacks.items()}
    own = "".join(f", {text}" for text in lacking.pop((parts.top.kind, parts.top.id), []))
    head = Text.assemble(render.text_of(f"{parts.top.kind} ", "bright_black"), render.text_of(parts.top.id, "bold"))
    stale = render.as_of(parts.stale_since_ns, now)
    state = Text.assemble(render.states(kinds, parts.top, "en"), render.text_of(own, "yellow"))
    output.line(Text.assemble(head, "  ", state, "  " if stale else "", stale))
    output.pairs(
        [
            *((f"  {kind}", render.text_of(part_counts.text(counted))) for kind, counted in parts.below.items()),
            *(("  lacks", render.text_of(f"{kind} {name}: {text}", "yellow"))
              for (kind, name), texts in lacking.items() for text in texts),
            *(("  stalled", Text.assemble(f"{one.kind} {one.id}  ", render.states(kinds, one, "en")))
              for one in parts.stalled),
        ]
    )  # fmt: skip


def _show(found: Mapping[str, Any], now: int, output: Output) -> None:
    display = found["display"]
    conditions = f" [{', '.join(found['conditions'])}]" if found.get("conditions") else ""
    several = len(found.get("clusters", ())) > 1
    kind, name = (found["kind"], found["id"]) if "kind" in found else (f"cluster{'s' * several}", found["cluster"])
    parts = found["per_git_repo"] if "per_git_repo" in found and not several else found["per_cluster"]
    head = Text.assemble(render.text_of(f"{kind} ", "bright_black"), render.text_of(name, "bold"))
    stale = _as_of(found, now)
    output.line(Text.assemble(head, f"  {found['state']}{conditions}", "  " if stale else "", stale))
    pairs = [
        ("  deployments", _line(display["ready_deployments"], found["deployments"])),
        ("  resources", _line(display["ready_resources"], found["resources"])),
    ]
    if len(parts) > 1:
        pairs += [(f"    {name}", _part(one, now)) for name, one in parts.items()]
    pairs += [(f"  rollout {name}", render.text_of(text)) for name, text in _rollouts(found.get("rollouts", {}))]
    output.pairs(pairs)
    for line in found["named"]:
        output.line(f"  {line}")


def _as_of(found: Mapping[str, Any], now: int) -> Text:
    """`~ as of 12 m 3 s ago`, if something that is counted is silent."""
    return render.as_of(nanoseconds(found["stale_since"]) if "stale_since" in found else None, now)


def _part(one: Mapping[str, Any], now: int) -> Text:
    """The resources of one cluster or repository, and its deployments whose agent was not seen."""
    unseen = one["deployments"]["wait_check_in"]
    line, stale = _line(fraction(one["resources"]), one["resources"]), _as_of(one, now)
    waiting = render.text_of(f", {unseen:,} wait check in", "red") if unseen else Text()
    return Text.assemble(line, waiting, "  " if stale else "", stale)


def _rollouts(rollouts: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The bundles whose rollout is not through, and what keeps it."""
    for name, found in rollouts.items():
        texts = [found["held_back"]] if "held_back" in found else []
        if found.get("waiting"):
            at_once = f", {found['max_new']:,} are made at once" if "max_new" in found else ""
            texts.append(f"{found['waiting']:,} targets wait for a deployment{at_once}")
        if texts and "max_unavailable" in found:
            texts.append(f"{found.get('unavailable', 0):,} unavailable, {found['max_unavailable']:,} may be")
        if texts:
            yield name, "; ".join(texts)


def _line(ready: str, counted: Mapping[str, int]) -> Text:
    """`10/11 ready, 1 missing`."""
    others = [
        f"{count:,} {word.replace('_', ' ')}"
        for word, count in counted.items()
        if count and word not in ("desired_ready", "ready")
    ]
    style = "red" if others else "green"
    return Text.assemble(render.text_of(f"{ready} ready", style), ", ".join(["", *others]))
