"""Fleet's counts of a repository, a bundle, a deployment or a cluster, from the states below it (docs/spec/fleet.md).

Belongs here: reading the states, those of a cluster over all repositories too, adding up, and naming what is not ready.
Does not: what counts as what (`kinds.fleet.counts`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NotRequired, TypedDict

from phaseline.engine.log import latest
from phaseline.engine.log.state_view import Pattern, StateView, in_order
from phaseline.engine.log.watch import RecordFilter, chosen
from phaseline.machines.compiler.labels import message_of
from phaseline.machines.kinds.fleet import bundle, bundle_deployment, bundle_resource, git_repo
from phaseline.machines.kinds.fleet.bundle import NO_DEPLOYMENT, NO_TARGETS, RANKED, ROLLOUT
from phaseline.machines.kinds.fleet.bundle_deployment import WAIT_CHECK_IN
from phaseline.machines.kinds.fleet.counts import COUNTED as UNTOLD
from phaseline.machines.kinds.fleet.counts import fraction, of_deployments, of_resources, unnamed
from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.profiles import NOT_ASSESSED
from phaseline.machines.language.contact import HEARD_AT, silent_since
from phaseline.machines.language.table import DELETED
from phaseline.schemas.errors import EntityUnknown, InvalidInput
from phaseline.schemas.records import Entity, timestamp
from phaseline.schemas.state_choice import StateChoice
from phaseline.schemas.subjects import quote

KINDS = ("git_repo", "bundle", "bundle_deployment")
COUNTED = (*KINDS, "bundle_resource")
NAMED = 10
"""The most entities that a message names; of the others it gives the number."""
REPO, CLUSTER = 0, 2
"""The parts of an id that name the repository and the cluster."""
TABLES = (git_repo.GIT_REPO, bundle.BUNDLE, bundle_deployment.BUNDLE_DEPLOYMENT, bundle_resource.BUNDLE_RESOURCE)
ORDER = (*RANKED[:-1], NOT_ASSESSED, RANKED[-1], NO_TARGETS)
FINE = ("Ready", DELETED, UNTOLD)


class FleetPart(TypedDict):
    """Counts of deployments and of resources, by word: `desired_ready`, `ready`, `not_ready` and so on.

    stale_since: if something that is counted is silent, when the first of it was heard last (RFC 3339).
    """

    deployments: dict[str, int]
    resources: dict[str, int]
    stale_since: NotRequired[str]


class FleetDisplay(TypedDict):
    """The texts that Fleet shows: fractions such as `10/11`, and what is not ready."""

    ready_deployments: str
    ready_resources: str
    message: str


class FleetCounts(FleetPart):
    """Counts of a repository, a bundle or a deployment, over all clusters and for each.

    named: what is not ready, one by one; `display` has the same in one message.
    """

    kind: str
    id: str
    state: str
    conditions: list[str]
    per_cluster: dict[str, FleetPart]
    rollouts: dict[str, dict[str, Any]]
    """By bundle, what Fleet says of its rollout, where it says anything."""
    named: list[str]
    display: FleetDisplay


class FleetClusterCounts(FleetPart):
    """Counts of one cluster, or of several, over all repositories and for each. `state`: the worst of its deployments.

    clusters: the clusters that are counted. per_cluster: their counts. named: as in `FleetCounts`.
    """

    cluster: str
    clusters: list[str]
    state: str
    per_git_repo: dict[str, FleetPart]
    per_cluster: dict[str, FleetPart]
    named: list[str]
    display: FleetDisplay


async def counts_of(view: StateView, entity_id: str, condition: str | Sequence[str] = ()) -> FleetCounts:
    """Counts of a repository, a bundle or a deployment; raises `TreeUnknown`, `EntityUnknown`, `InvalidInput`.

    condition: count only what has this condition, or several that stand together, and what is below that.
    """
    choice = _choice(view, condition)
    depth = entity_id.count("/")
    if depth >= len(KINDS):
        raise InvalidInput.invalid_id(problem=f"{entity_id!r} is longer than <repo>/<bundle>/<cluster>")
    kind = KINDS[depth]
    latest.check_name(view.installation.kinds, kind, entity_id)
    tree = [record.entity for record in await view.tree(entity_id)]
    counted = [entity for entity in tree if entity.kind in COUNTED]
    top = next((entity for entity in counted if (entity.kind, entity.id) == (kind, entity_id)), None)
    if top is None:
        raise EntityUnknown(kind=kind, id=entity_id)
    return counts(top, _selected(counted, choice))


async def counts_of_cluster(view: StateView, *clusters: str, condition: str | Sequence[str] = ()) -> FleetClusterCounts:
    """Counts of clusters, across all repositories. Names may be globs. Raises `EntityUnknown`, `InvalidInput`."""
    if not clusters:
        raise InvalidInput.invalid_id(problem="no cluster is named")
    for cluster in clusters:
        latest.check_tree(cluster)
    choice = _choice(view, condition)
    found = await on_clusters(view, clusters)
    above = [one.entity for kind in KINDS[:2] for one in await view.states(kind)] if choice.looks_at_conditions else []
    return cluster_counts(", ".join(clusters), _selected(found, choice, above))


def _choice(view: StateView, condition: str | Sequence[str]) -> StateChoice:
    """The states with some conditions; raises `NameUnknown` for a condition that no table has."""
    kinds = view.installation.kinds
    choice = chosen(kinds, None, None, condition)
    RecordFilter(choice=choice).check(kinds)
    return choice


def _selected(entities: Sequence[Entity], choice: StateChoice, above: Sequence[Entity] = ()) -> Sequence[Entity]:
    """The entities in such a state, and those below an entity whose base is one. above: what stands above them.

    A state that an entity only shows for something below it does not select its other parts.
    """
    if not choice.looks_at_conditions:
        return entities
    selected = {one.id for one in (*entities, *above) if any(choice.selects(facet.base) for facet in one.facets)}
    return [
        one
        for one in entities
        if any(choice.selects(facet.state) for facet in one.facets)
        or selected.intersection(accumulate(one.id.split("/"), "{}/{}".format))
    ]


def counts(top: Entity, below: Sequence[Entity]) -> FleetCounts:
    """Counts of `top`, whose descendants are `below` (`top` may be among them)."""
    state = top.facets[0].state
    whole = _both(below)
    return {
        "kind": top.kind,
        "id": top.id,
        "state": state.phase,
        "conditions": list(state.conditions),
        **whole,
        "per_cluster": _by_part(below, CLUSTER),
        "rollouts": {one.id: _rollout(one) for one in _of_kind(below, "bundle") if _is_live(one) and _rollout(one)},
        "named": (named := lines(below)),
        "display": _display(whole, named),
    }


def cluster_counts(cluster: str, entities: Sequence[Entity]) -> FleetClusterCounts:
    """Counts of the entities on some clusters; `cluster` names them.

    The state is the worst of the deployments' states; Pending without any.
    """
    phases = {one.facets[0].state.phase for one in _of_kind(entities, "bundle_deployment")}
    whole, per_cluster = _both(entities), _by_part(entities, CLUSTER)
    return {
        "cluster": cluster,
        "clusters": list(per_cluster),
        "state": min(phases & {*ORDER}, key=ORDER.index, default="Pending"),
        **whole,
        "per_git_repo": _by_part(entities, REPO),
        "per_cluster": per_cluster,
        "named": (named := lines(entities)),
        "display": _display(whole, named),
    }


def _rollout(one: Entity) -> dict[str, Any]:
    """What Fleet says of a bundle's rollout."""
    names = (*(field.name for field in ROLLOUT), "held_back")
    return {name: one.attributes[name] for name in names if name in one.attributes}


def _by_part(entities: Sequence[Entity], part: int) -> dict[str, FleetPart]:
    """Counts by one part of the ids; the parts in alphabetical order."""
    groups: dict[str, list[Entity]] = {}
    for one in _of_kind(entities, "bundle_deployment", "bundle_resource"):
        groups.setdefault(one.id.split("/")[part], []).append(one)
    return {name: _both(groups[name]) for name in sorted(groups)}


def _display(whole: FleetPart, named: Sequence[str]) -> FleetDisplay:
    return {
        "ready_deployments": fraction(whole["deployments"]),
        "ready_resources": fraction(whole["resources"]),
        "message": "; ".join(named),
    }


def _of_kind(entities: Iterable[Entity], *kinds: str) -> list[Entity]:
    return [one for one in entities if one.kind in kinds]


def _both(entities: Sequence[Entity]) -> FleetPart:
    bundles = [one for one in _of_kind(entities, "bundle") if _is_live(one)]
    waiting = sum(one.attributes.get("waiting", 0) for one in bundles)
    waiting += sum(one.attributes.get("targets") or 1 for one in _without_deployment(entities))
    unseen = sum(map(_unseen(entities), bundles))
    deployments, resources = _of_kind(entities, "bundle_deployment"), _of_kind(entities, "bundle_resource")
    found: FleetPart = {
        "deployments": of_deployments(_phases(deployments), waiting, unseen),
        "resources": of_resources(_phases(resources), _unnamed(entities)),
    }
    silences = [since for since in map(silent_since, entities) if since is not None]
    return {**found, "stale_since": timestamp(min(silences))} if silences else found


def _phases(entities: Sequence[Entity]) -> Counter[str]:
    return Counter(one.facets[0].state.phase for one in entities)


def _unnamed(entities: Iterable[Entity]) -> Mapping[str, int]:
    """The resources that deployments count without naming their states, by word. Only here they join the others."""
    entities = list(entities)
    still = Counter(
        one.id.rsplit("/", 3)[0] for one in _of_kind(entities, "bundle_resource") if one.facets[0].state.phase == UNTOLD
    )
    whole: Counter[str] = Counter()
    for one in _of_kind(entities, "bundle_deployment"):
        if _is_live(one):
            told, names = one.attributes.get("counted", {}), one.attributes.get("counted_names", 0)
            whole.update(unnamed(told, names, still[one.id]))
    return whole


def _unseen(entities: Sequence[Entity]) -> Callable[[Entity], int]:
    """How many targets of a bundle Fleet counts beside those that are known here, or that wait."""
    living = [one for one in _of_kind(entities, "bundle_deployment") if _is_live(one)]
    known = Counter(one.id.rpartition("/")[0] for one in living)

    def unseen(one: Entity) -> int:
        counted = one.attributes.get("targets", 0) - one.attributes.get("waiting", 0)
        return max(0, counted - known[one.id]) if known[one.id] else 0

    return unseen


def _without_deployment(entities: Sequence[Entity]) -> list[Entity]:
    """The bundles that lack all their deployments, where Fleet does not say how many wait: all targets are pending."""
    placed = {one.id.rpartition("/")[0] for one in _of_kind(entities, "bundle_deployment") if _is_live(one)}
    bundles = [one for one in _of_kind(entities, "bundle") if _is_live(one) and not one.attributes.get("waiting")]
    return [one for one in bundles if one.id not in placed and one.facets[0].state.phase != NO_TARGETS]


def lines(entities: Sequence[Entity]) -> list[str]:
    """What is not ready, with states and reasons: up to ten by name, and how many more.

    A repository or bundle is named for an error of its own; a bundle if it lacks deployments, or carries another
    commit than its repository. A deployment is named if none of its resources is, or if its agent was not seen.
    """
    resources = [one for one in _of_kind(entities, "bundle_resource") if one.facets[0].state.phase not in FINE]
    explained = {one.id.rsplit("/", 3)[0] for one in resources}
    deployments = [one for one in _of_kind(entities, "bundle_deployment") if one.facets[0].state.phase not in FINE]
    silent = {one.id: one for one in deployments if one.facets[0].state.phase == WAIT_CHECK_IN}
    unseen = _unseen(entities)
    wholes = [one for one in _of_kind(entities, "git_repo", "bundle") if _is_live(one)]
    unwell = [one for one in wholes if _is_named(one) or (one.kind == "bundle" and unseen(one))]
    unwell += [*silent.values(), *resources]
    unwell += [one for one in deployments if one.id not in explained and one.id not in silent]
    counted = sum(count for word, count in _unnamed(entities).items() if word != "ready")
    named = []
    for one in unwell[:NAMED]:
        why = _silence(one) if one.id in silent else _why(one)
        if one.kind == "bundle" and not why and (missing := unseen(one)):
            why = f"nothing is known of {missing:,} of the {one.attributes['targets']:,} targets that Fleet counts"
        named.append(f"{one.id} {one.facets[0].state}{f' ({why})' if why else ''}")
    more = counted + max(0, len(unwell) - NAMED)
    return [*named, *([f"and {more} more"] if more else [])]


def _is_named(one: Entity) -> bool:
    """Whether a repository or a bundle itself is a reason for not being ready."""
    state = one.facets[0].state
    return bool(one.attributes.get("why") or one.attributes.get("behind")) or (
        one.kind == "bundle" and (NO_DEPLOYMENT in state.conditions or state.phase == NO_TARGETS)
    )


def _why(one: Entity) -> str:
    """Why an entity is in its state, as far as it says so itself."""
    facet = next(table.facets[0] for table in TABLES if table.kind == one.kind)
    said = message_of(facet, one.kind, one.attributes, one.facets[0]) or one.attributes.get("why", "")
    return said or ("it has no deployment yet" if NO_DEPLOYMENT in one.facets[0].state.conditions else "")


def _silence(one: Entity) -> str | None:
    """Since when nothing is known of a deployment whose agent was not seen, or of which nothing was heard."""
    if one.attributes.get("agent_seen") is False:
        return one.attributes.get("check_in")
    heard_at = one.attributes.get(HEARD_AT)
    return None if heard_at is None else f"nothing was heard of it since {timestamp(heard_at)}"


def _is_live(one: Entity) -> bool:
    return one.facets[0].state.phase != DELETED


SIGNS = frozenset("*?[{\\")
"""Characters of which each makes a name a glob."""


async def on_clusters(view: StateView, clusters: Sequence[str]) -> list[Entity]:
    """The bundle deployments on clusters and their resources. Raises `EntityUnknown` for a name that fits none.

    The server selects them by subject. For a glob, it is asked for all deployments first.
    """
    names = [cluster for cluster in clusters if not SIGNS & set(cluster)]
    globs = [cluster for cluster in clusters if SIGNS & set(cluster)]
    if globs:
        everywhere = await view.matching([Pattern("*", "bundle_deployment", "*.*.*")])
        there = {one.entity.id.rpartition("/")[2] for one in in_order(everywhere, None, deleted=False)}
        _check(globs, there)
        names += sorted(one for one in there if any(matches(glob, one) for glob in globs))
    tokens = [quote(name) for name in dict.fromkeys(names)]
    wanted = [Pattern("*", "bundle_deployment", f"*.*.{token}") for token in tokens]
    wanted += [Pattern("*", "bundle_resource", f"*.*.{token}.>") for token in tokens]
    found = await view.matching(wanted)
    _check(names, {one.entity.id.split("/")[2] for one in found})
    return [record.entity for record in in_order(found, None, deleted=False)]


def _check(wanted: Sequence[str], there: set[str]) -> None:
    for one in wanted:
        if one not in there and not any(matches(one, name) for name in there):
            raise EntityUnknown(kind="bundle_deployment on the cluster", id=one)
