"""The beginning of a scenario of the test kit: the kinds, and entities put into states.

Belongs here: `given` and `Given.state`. Does not: events and their results (`test_testing`).
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from phaseline.engine.surfaces.testing.laws import states_of
from phaseline.engine.surfaces.testing.recompute import Recomputed
from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kind, table_of
from phaseline.machines.kinds.edge_hosting.cluster import CLUSTER
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, STALLED, Facet, Row, Table
from phaseline.testing import given
from tests.support import edge_worlds, sample_kinds
from tests.support.sample_kinds import label
from tests.support.scenarios import KINDS, RUNNING, failure


@pytest.mark.parametrize(
    "kind", [*edge_worlds.KINDS.values(), sample_kinds.KINDS["row"], sample_kinds.KINDS["fruit"]], ids=lambda k: k.name
)
def test_a_placed_state_equals_an_adopted_one(kind: Kind) -> None:
    """For every possible base, both lead to the same entities around it."""
    kinds = KINDS if kind.name in KINDS else sample_kinds.KINDS
    entity_id = "/".join(part[0] for part in kind.table.id)
    for base in sorted(kind.bases[0]):
        if base.phase in (ABSENT, DELETED) or STALLED in base.conditions:  # only the engine says so
            continue
        data = {"phase": base.phase, "conditions": list(base.conditions)}
        adopted = given(kinds).event(kind.name, "adopt", entity_id, data)
        shown = adopted.entity(kind.name, entity_id).facets[0].state
        placed = given(kinds).state(kind.name, entity_id, shown, base=base)
        assert states_of(placed.tree) == states_of(adopted.tree)
        assert {k: [f.state for f in e.facets] for (k, e) in placed.tree.entities[kind.name].items()} == {
            i: states for (k, i), states in Recomputed(placed.tree).states.items() if k == kind.name
        }


def test_views_around_a_placed_entity_are_computed_again() -> None:
    busy = RUNNING.state("node_pool", "c1/q", "Creating")
    assert busy.entity("cluster", "c1").facets[0].state.phase == "Updating"
    busy.when("node_pool", "created", "c1/q").then("cluster", "c1", "Running")
    moved = busy.state("cluster", "c1", "Stopped").state(
        "node_pool", "c1/q", "Failed [ClusterNotRunning]", base="Running"
    )
    moved.when("cluster", "renewed", "c1").when("cluster", "started", "c1").then("node_pool", "c1/q", "Running")


def test_a_state_comes_with_conditions_and_attributes() -> None:
    made = given(KINDS).state("node", "c1/p/n1", "Failed", conditions=["NotReady", "Balance"])
    assert made.entity("node", "c1/p/n1").facets[0].state == ("Failed", ("NotReady", "Balance"))
    pool = made.state(
        "node_pool", "c1/p", "Failed [AllFailed]", base="Running", attributes={"autoscaling_mode": "Recycle"}
    )
    assert pool.entity("node_pool", "c1/p").attributes == {"autoscaling_mode": "Recycle"}
    assert pool.entity("node_pool", "c1/p").version == 2
    pool.when("node", "ready", "c1/p/n1").then("node", "c1/p/n1", "Failed [Balance]")
    rows = given(sample_kinds.KINDS).state("row", "o/r", "Planted", attributes={"variety": "Boskoop", "organic": False})
    assert rows.entity("row", "o/r").attributes == {"organic": False, "variety": "Boskoop"}


def test_facets_are_placed_one_by_one() -> None:
    made = given(sample_kinds.KINDS).state("orchard", "o", "Growing").state("orchard", "o", "Shut", facet="water")
    made.when("orchard", "spring", "o").then("orchard", "o", "Open", facet="water").then("orchard", "o", "Growing")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: RUNNING.state("clutter", "c1", "Running"), "kind 'clutter' is unknown"),
        (lambda: RUNNING.state("cluster", "c1", "Failed"), "no row of cluster leads to Failed as a base; it can be Failed ["),
        (lambda: RUNNING.state("node_pool", "c1/p", "Failed [ClusterNotRunning]"), "no row of node_pool leads to Failed [ClusterNotRunning] as a base"),
        (lambda: given(sample_kinds.KINDS).state("row", "o/r", "Idle"), "no row of row leads to Idle [Ok] as a base; only a view shows it: name the base"),
        (lambda: RUNNING.state("cluster", "c1", "Stopped").state("node_pool", "c1/p", "Running"),
         "node_pool c1/p cannot be Running there, it shows Failed [ClusterNotRunning] (base Running [Ok]): name that state, with base='Running [Ok]'"),
        (lambda: RUNNING.state("node_pool", "c1/p", "Failed", base="Running"), "node_pool c1/p cannot be Failed there, it shows Running [Ok]"),
        (lambda: RUNNING.state("cluster", "c2", "Deleted").state("node", "c2/p/n", "Running"), "cluster c2 is Deleted: nothing can be placed under it"),
        (lambda: RUNNING.state("node_pool", "c1/p", "Running", attributes={"mode": "x"}), "node_pool has no attribute 'mode'; it has default"),
        (lambda: RUNNING.state("cluster", "c1", "Running", attributes={"mode": "x"}), "cluster has no attribute 'mode'; it has updating_with_components, resources, failed_resources, silence_after, "),
    ],
)  # fmt: skip
def test_an_impossible_state_fails(call: Callable[[], object], says: str) -> None:
    assert failure(call).startswith(f"the test is wrong: {says}")


def test_tables_stand_alone_or_hang_under_the_built_in_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Table(
        kind="gpu", id=("cluster", "node_pool", "node", "gpu"), parent="node", intents=(),
        facets=(Facet(name="phase", labels=(label("Running"),), rows=(Row((ABSENT,), "found", "Running"), Row((LIVE,), "lost", DELETED))),),
    )  # fmt: skip
    assert list(given(gpu).kinds) == [*(table.kind for table in BUILT_IN), "gpu"]
    given(gpu).when("gpu", "found", "c1/p/n/g").then("node", "c1/p/n", "Running").then("gpu", "c1/p/n/g", "Running")
    assert list(given(kind.written for kind in sample_kinds.KINDS.values()).kinds) == list(sample_kinds.KINDS)
    assert list(given(map(table_of, BUILT_IN)).kinds) == list(KINDS)
    changed = replace(CLUSTER, doc="Ours.")
    assert given([changed]).kinds["cluster"].table.doc == "Ours."
    assert set(given([changed]).kinds) == set(KINDS)
    with pytest.raises(WrongTable):
        given([gpu, gpu])
    monkeypatch.setattr("phaseline.machines.built_in.installed", lambda: sample_kinds.KINDS)
    assert given().kinds is sample_kinds.KINDS
