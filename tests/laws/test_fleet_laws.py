"""The laws of Fleet's counts over random truths, printed as Fleet prints them (`tests/support/fleet_objects.py`)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import strategies as st

from phaseline.engine.products.fleet.counts import ORDER
from phaseline.machines.kinds.fleet.counts import of_resources
from phaseline.schemas.records import Entity
from tests.support.fleet_history import FleetHistory
from tests.support.fleet_objects import CUT, Resource, bundle_deployment, git_repo, status_of, truth
from tests.support.strategies import hold, law_by_law

NAMES = tuple(f"r{number:02}" for number in range(26))
CLUSTERS = ("c1", "c2")
SORTS = (
    (True, True, True, False, True), (True, True, True, False, True), (True, True, True, False, False),
    (True, True, True, True, True), (True, True, True, True, False), (True, False, True, False, True),
    (True, True, False, False, True), (False, True, True, False, True), (False, False, True, False, True),
)  # fmt: skip
"""Declared, exists, ours, changed, ready: what an object can be. Each is as likely as the others, ready twice."""


class Seen:
    """One printed object: of a cluster, what was true then, and whether anybody was there to see it."""

    def __init__(self, cluster: str, sorts: list[int], fate: int) -> None:
        self.cluster, self.fate = cluster, fate
        self.resources = [
            Resource(name, *SORTS[sort], kind="Deployment" if sort % 2 else "ConfigMap")
            for name, sort in zip(NAMES, sorts, strict=False)
        ]

    def __repr__(self) -> str:
        states = [f"{one.name}={one.state}" for one in self.resources if one.state is not None]
        return f"Seen({self.cluster}, fate={self.fate}, {' '.join(states)})"


def lives() -> st.SearchStrategy[list[Seen]]:
    """Sequences of printed objects. A truth often has many objects of one sort: that is what cuts the lists."""
    mixed = st.lists(st.integers(0, len(SORTS) - 1), max_size=len(NAMES))
    many = st.tuples(st.integers(0, len(SORTS) - 1), st.integers(8, 20), mixed).map(lambda t: [t[0]] * t[1] + t[2])
    return st.lists(st.builds(Seen, st.sampled_from(CLUSTERS), mixed | many, st.integers(0, 9)), min_size=1, max_size=8)


def played(seen: list[Seen]) -> Iterator[tuple[FleetHistory, dict[str, list[Resource]]]]:
    """The history after each object that was observed, with what is true of each cluster.

    Of ten objects one is lost, and one is the first that an observer without memory sees.
    """
    life, now = FleetHistory(), dict[str, list[Resource]]()
    status: dict[str, dict[str, Any]] = {}
    life.see(git_repo(commit="abc"))
    for one in seen:
        status[one.cluster] = status_of(one.resources, "v1", status.get(one.cluster))
        if one.fate == 0:
            continue
        if one.fate == 1:
            life.restart()
        life.see(bundle_deployment(status[one.cluster], one.cluster))
        now[one.cluster] = one.resources
        yield life, now


def as_far_as_printed(counts: Mapping[str, int], resources: list[Resource]) -> dict[str, int]:
    """The counts. Behind the end of its list, Fleet does not tell what is missing from what belongs to others."""
    found = {word: counts[word] for word in truth(())}
    if any(one.state == "not_owned" for one in resources) and len(resources) > CUT:
        found["not_ready"] += found.pop("missing")
    return found


def shown_as_it_is(seen: list[Seen]) -> None:
    """After an object is observed, the counts are the truth, over all clusters and on each."""
    for life, now in played(seen):
        found = life.counts("git_repo", "infra")
        whole = [one for resources in now.values() for one in resources]
        assert as_far_as_printed(found["resources"], whole) == as_far_as_printed(truth(whole), whole)
        for cluster, resources in now.items():
            part = found["per_cluster"][f"fleet-default+{cluster}"]["resources"]
            assert as_far_as_printed(part, resources) == as_far_as_printed(truth(resources), resources)
            state = life.state("bundle_deployment", f"infra/web/fleet-default+{cluster}")
            assert (state == "Ready") == (all(one.state in (None, "ready") for one in resources))


def named_rightly(seen: list[Seen]) -> None:
    """A resource that is known by name is shown in the state that it is in, or as one that is only counted.

    One that is changed and not ready may be shown as either, where the lists are cut.
    """
    for life, now in played(seen):
        for cluster, resources in now.items():
            states = {one.end: one for one in resources}
            prefix = f"infra/web/fleet-default+{cluster}/"
            for entity in life.history.tree.entities["bundle_resource"].values():
                phase = entity.facets[0].state.phase
                if entity.id.startswith(prefix) and phase not in ("Deleted", "Counted"):
                    found = states[entity.id.removeprefix(prefix)]
                    both = phase == "NotReady" and found.changed and not found.ready
                    assert both or phase.lower() == str(found.state).replace("_", "")


def always_add_up(seen: list[Seen]) -> None:
    """At every moment, also between the events of one object: the counts add up, and follow from what is below."""
    again = FleetHistory()
    for step in [step for life, _ in [*played(seen)][-1:] for step in life.history.steps]:
        again.history.take(step.sent)
        tree, found = again.history.tree, again.counts("git_repo", "infra")
        words = [word for word in found["resources"] if word not in ("desired_ready", "orphaned")]
        assert sum(found["resources"][word] for word in words) == found["resources"]["desired_ready"]
        parts = [one["resources"] for one in found["per_cluster"].values()]
        assert all(sum(one[word] for one in parts) == found["resources"][word] for word in words)
        if not any(one.attributes.get("counted") for one in tree.entities["bundle_deployment"].values()):
            tally = dict(tree.tally("infra", "git_repo", "bundle_resource", 0))
            unknown = tally.pop("Counted", 0)
            assert found["resources"] == of_resources(tally, {"unknown": unknown})


SAID: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("bundle_deployment", "target", {"deployment_id": "v1"}), ("bundle_deployment", "target", {"deployment_id": "v2"}),
    ("bundle_deployment", "applied", {"deployment_id": "v1"}), ("bundle_deployment", "staged", {"deployment_id": "v2"}),
    ("bundle_deployment", "apply_failed", {}), ("bundle_deployment", "removed", {}),
    ("bundle_deployment", "checked_in", {"last_seen": None}),
    ("bundle_deployment", "checked_in", {"last_seen": "1970-01-01T00:00:00Z"}),
    ("bundle", "failed", {"message": "no"}), ("bundle", "recovered", {}), ("bundle", "removed", {}),
    ("bundle", "rollout", {"waiting": 2}), ("bundle", "rollout", {}), ("bundle", "rollout", {"targets": 2}),
    ("bundle", "rollout", {"targets": 3, "waiting": 1}),
    ("bundle_deployment", "observed", {"counted": {"unknown": 2, "ready": 1}}),
    ("bundle_deployment", "observed", {"ready": True}), ("bundle_resource", "unknown", {}),
    ("bundle_resource", "counted", {}),
    ("git_repo", "failed", {"message": "no"}), ("git_repo", "recovered", {}), ("git_repo", "removed", {}),
    ("git_repo", "fetch_failed", {"message": "no"}), ("git_repo", "fetched", {"commit": "c"}),
    *(("bundle_resource", word, {}) for word in ("ready", "ready", "not_ready", "modified", "missing", "not_owned")),
)  # fmt: skip


def worst_by_rank(said: list[tuple[int, int, int]]) -> None:
    """A bundle and a repository are the worst of their deployments, targets and errors; Ready only if all are ready."""
    life = FleetHistory().do("bundle_deployment", "target", "infra/b0/c0", deployment_id="v1")
    for number, bundle, cluster in said:
        kind, trigger, data = SAID[number]
        ids = ("infra", f"b{bundle}", f"c{cluster}", "core:ConfigMap", "shop", "it")
        arity = {"git_repo": 1, "bundle": 2, "bundle_deployment": 3, "bundle_resource": 6}[kind]
        life.say(kind, trigger, "/".join(ids[:arity]), **data)
        for top_kind in ("git_repo", "bundle"):
            for top in life.history.tree.entities[top_kind].values():
                if top.facets[0].state.phase != "Deleted":
                    is_worst_by_rank(life, top)


def is_worst_by_rank(life: FleetHistory, top: Entity) -> None:
    tree, state = life.history.tree, top.facets[0].state
    below = [
        one for kind in ("git_repo", "bundle", "bundle_deployment") for one in tree.entities[kind].values()
        if f"{one.id}/".startswith(f"{top.id}/") and one.facets[0].state.phase != "Deleted"
    ]  # fmt: skip
    phases = {one.facets[0].state.phase for one in below if one.kind == "bundle_deployment"}
    errors = {word for one in below for word in one.facets[0].base.conditions if one is top or word == "Error"}
    if any(one.attributes.get("waiting") for one in below):
        phases.add("Pending")
    placed = {one.id.rpartition("/")[0] for one in below if one.kind == "bundle_deployment"}
    if any(one.kind == "bundle" and one.id not in placed and not one.facets[0].base.conditions for one in below):
        phases.add("Pending")
    if errors:
        phases.add("NotReady")
    deployed = Counter(one.id.rpartition("/")[0] for one in below if one.kind == "bundle_deployment")
    if any(one.kind == "bundle" and one.attributes.get("targets", 0) > deployed[one.id] > 0 for one in below):
        phases.add("NotAssessed")
    worst = min(phases, key=ORDER.index, default="Pending")
    for one in [one for one in below if one.kind == "bundle_deployment"]:
        parts = life.counts("bundle_deployment", one.id)["resources"]
        told = {word for word in parts if parts[word]} - {"desired_ready", "ready"}
        assert one.facets[0].state.phase != "Ready" or one.attributes.get("ready") or (parts["ready"] and not told)
    # A base NotReady shows itself only if all deployments are ready.
    assert (state.phase, set(state.conditions) - {"Waiting", "NoDeployment"}) == (worst, errors)
    counts = life.counts(top.kind, top.id)["deployments"]
    assert (state.phase == "Ready") == (bool(phases) and counts["ready"] == counts["desired_ready"] and not errors)


@pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])
def test_the_worst_by_rank(effort: str) -> None:
    said = st.tuples(st.integers(0, len(SAID) - 1), st.integers(0, 1), st.integers(0, 1))
    hold(worst_by_rank, st.lists(said, max_size=25), effort)


@law_by_law(shown_as_it_is, named_rightly, always_add_up)
def test_law(law: Any, effort: str) -> None:
    hold(law, lives(), effort)
