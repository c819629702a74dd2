"""What comes back when the last cause is cleared: what the causes interrupted (docs/spec/reading-the-tables.md).

Belongs here: the law for every kind whose causes add up, and the lives of nodes in arrears. Does not: the conditions
that stand meanwhile (`tests/pure/test_tables_exhaustive`).
"""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from phaseline.engine.surfaces.testing.histories import play
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.machine import FacetMachine
from phaseline.machines.language.table import ABSENT, DELETED, Row
from phaseline.schemas import wire_codec
from phaseline.schemas.records import FacetState, Rejection, State, Transition, facets_of
from tests.support import edge_worlds, sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.strategies import History, event, histories, hold

KINDS = {**sample_kinds.KINDS, **BUILT_IN_KINDS}
ACCUMULATING = [
    (kind, index)
    for kind in KINDS.values()
    for index, facet in enumerate(kind.table.facets)
    if facet.accumulates_in is not None
]


def settled(kind: Kind, index: int, phase: str) -> str:
    """The phase that comes back for an interrupted one, in the words of the specification."""
    facet = kind.table.facets[index]
    if phase not in facet.pending_phases:
        return phase
    rows = [row for row in facet.rows if phase in row.source]
    ends = {row.to for row in rows} - {facet.accumulates_in, *facet.pending_phases, DELETED, "=", "*"}
    return ends.pop() if len(ends) == 1 else facet.healthy


def taken(machine: FacetMachine, row: Row, before: FacetState) -> FacetState | None:
    """The facet after a row, guards aside; None if it does not fit."""
    for step in machine.steps[row.trigger].get(before.base.phase, ()):
        if (
            step.row is row
            and step.row.to != "*"
            and step.fits(before.base, before.base, row.given, before.interrupted)
        ):
            base = step.result(before.base, row.given)
            return FacetState(base, base, 0, machine.interrupted(before, base))
    return None


def interruptions(kind: Kind, index: int) -> Iterator[tuple[str, FacetState]]:
    """Each live phase, with a facet that a row has taken from it into the accumulating phase."""
    machine, facet = kind.machines[index], kind.table.facets[index]
    for base in kind.bases[index]:
        if base.phase in (ABSENT, DELETED, facet.accumulates_in):
            continue
        for row in facet.rows:
            after = taken(machine, row, FacetState(base, base, 0))
            if after is not None and after.base.phase == facet.accumulates_in:
                yield base.phase, after


@pytest.mark.parametrize(("kind", "index"), ACCUMULATING, ids=lambda one: getattr(one, "name", str(one)))
def test_clearing_the_last_cause_brings_back_what_it_interrupted(kind: Kind, index: int) -> None:
    machine, facet, tried = kind.machines[index], kind.table.facets[index], 0
    for phase, interrupted in interruptions(kind, index):
        queue, seen = [interrupted], {interrupted}
        while queue:
            here = queue.pop()
            for row in facet.rows:
                after = taken(machine, row, here)
                if after is None:
                    continue
                if after.base.phase == facet.accumulates_in:
                    if after not in seen and len(seen) < 60:
                        seen.add(after)
                        queue.append(after)
                elif row.to == "=":
                    assert after.base.phase == settled(kind, index, phase), (phase, here, row.trigger)
                    assert after.interrupted is None
                    tried += 1
    assert tried


NODE = (("cluster", "adopt", "c"), ("node_pool", "adopt", "c/p"), ("node", "adopt", "c/p/n"))


def node(*triggers: str) -> tuple[History, list[str]]:
    """The states of a node of a pool that recycles its nodes, after each of these events."""
    made, states = History(edge_worlds.KINDS), []
    for kind, trigger, entity_id in NODE:
        assert made.take(event(kind, trigger, entity_id, {"phase": "Running"})).accepted
    made.take(event("node_pool", "configure", "c/p", {"autoscaling_mode": "Recycle"}))
    for trigger in triggers:
        step = made.take(event("node", trigger, "c/p/n"))
        assert step.accepted, step.records
        states.append(str(made.tree.entities["node"]["c/p/n"].facets[0].state))
    return made, states


LIVES = {
    "from Stopped": (("stop", "stopped", "overdue", "renewed"), "Stopped [Ok]"),
    "from Stopping": (("stop", "overdue", "renewed"), "Stopped [Ok]"),
    "stopped meanwhile": (("stop", "overdue", "stopped", "renewed"), "Stopped [Ok]"),
    "several causes": (("stop", "stopped", "overdue", "error", "renewed", "recovered"), "Stopped [Ok]"),
    "a standing condition stays": (("cordon", "stop", "stopped", "overdue", "renewed"), "Stopped [Unschedulable]"),
    "an error of a stopped node": (("stop", "stopped", "error", "recovered"), "Stopped [Ok]"),
    "from Running": (("overdue", "renewed"), "Running [Ok]"),
    "from Updating": (("update", "overdue", "renewed"), "Running [Ok]"),
    "from Starting": (("stop", "stopped", "start", "overdue", "renewed"), "Running [Ok]"),
    "a later interruption counts": (
        ("stop", "stopped", "overdue", "renewed", "start", "started", "overdue", "renewed"), "Running [Ok]",
    ),
    "what ends the failure otherwise forgets it": (
        ("stop", "stopped", "overdue", "delete", "cleanup_failed", "renewed"), "Failed [ResourceCleanupFailed]",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("triggers", "ends"), LIVES.values(), ids=list(LIVES))
def test_a_node_comes_back_as_what_it_was(triggers: tuple[str, ...], ends: str) -> None:
    made, states = node(*triggers)
    assert states[-1] == ends
    again = play(edge_worlds.KINDS, [step.sent for step in made.steps])
    assert again.tree.entities == made.tree.entities


def test_the_log_remembers_the_interrupted_phase_and_logs_without_it_are_read() -> None:
    made, _ = node("stop", "stopped", "overdue")
    record, *_ = made.steps[-1].records
    assert isinstance(record, Transition)
    wire = wire_codec.to_wire(record, 0, 1, "phaseline/pl")
    body = wire_codec.write(record, 0, 1, "phaseline/pl")
    names, facets = zip(*facets_of(record.entity), strict=True)  # `contact` is not written: nobody waits for the node
    assert wire_codec.read(body) == replace(record, entity=replace(record.entity, names=names, facets=facets))
    assert wire_codec.entity_map(record.entity)["facets"]["phase"]["interrupted"] == "Stopped"
    assert wire.data.entity.facets["phase"].interrupted == "Stopped"  # type: ignore[union-attr]
    older, _ = node("overdue")
    assert "interrupted" not in wire_codec.entity_map(older.tree.entities["node"]["c/p/n"])["facets"]["phase"]


def test_what_a_stopping_node_reports_while_it_is_overdue_is_no_news() -> None:
    made, _ = node("stop", "overdue")
    assert made.decide(event("node", "stopped", "c/p/n")).records == []
    [refused] = made.decide(event("node", "started", "c/p/n")).records
    assert isinstance(refused, Rejection)


def nothing_is_remembered_outside(history: History) -> None:
    """Only a facet in its accumulating phase remembers a phase, and only one that comes back."""
    for kind in history.kinds.values():
        for entity in history.tree.entities[kind.name].values():
            for machine, facet in zip(kind.machines, entity.facets, strict=True):
                if facet.interrupted is not None:
                    assert facet.base.phase == machine.facet.accumulates_in
                    assert facet.interrupted in machine.returns


@pytest.mark.parametrize("kinds", [edge_worlds.KINDS, sample_kinds.KINDS], ids=["edge hosting", "orchard"])
def test_nothing_is_remembered_outside(kinds: Kinds) -> None:
    hold(nothing_is_remembered_outside, histories(kinds), "ci")


def test_an_adopted_failure_returns_to_the_healthy_phase() -> None:
    made = History(edge_worlds.KINDS)
    made.take(event("node", "adopt", "c/p/n", {"phase": "Failed", "conditions": ["Balance"]}))
    made.take(event("node", "renewed", "c/p/n"))
    assert made.tree.entities["node"]["c/p/n"].facets[0].base == State("Running", ("Ok",))
