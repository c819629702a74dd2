"""Every trigger in every state of every kind, in every situation that matters, leads to what the specification says.

Belongs here: comparing the core with the page of the specification. Does not: sequences of events (`test_laws`).
"""

import random
from collections.abc import Mapping
from typing import Any, cast

import pytest

from phaseline.engine.core import intake
from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.transitions import transitions
from phaseline.engine.core.tree import Tree
from phaseline.machines.language.table import Table
from phaseline.schemas import codec
from phaseline.schemas.records import Record, Rejection, State
from phaseline.schemas.subjects import Subjects
from tests.support import edge_worlds, spec_edge_hosting, spec_interpreter
from tests.support.edge_worlds import HERE, KINDS, arrival, tree_of, variants, worlds
from tests.support.spec_interpreter import World, act, bases, fire, shown

Seen = dict[tuple[str, str], tuple[Any, Any, Any]]
SPEC_KINDS = tuple(spec_edge_hosting.ID)


def seen_in(world: World) -> Seen:
    """The base, state and attributes of every entity."""
    return {key: (thing.base, shown(world, *key), thing.attributes) for key, thing in world.items()}


def expected(world: World, before: Seen, kind: str, trigger: str, data: dict[str, Any]) -> Seen | str:
    after: World | str = dict(world)
    if trigger in spec_edge_hosting.DERIVED[kind]:
        fire(cast("World", after), kind, HERE[kind], trigger)
    else:
        after = act(world, kind, HERE[kind], trigger, data)
    if isinstance(after, str):
        return after
    if after is world:
        return {}
    return {key: found for key, found in seen_in(after).items() if found != before.get(key)}


def decided(tree: Tree, kind: str, trigger: str, data: dict[str, Any]) -> Seen | str:
    """The rejection reason, or every entity with records as its last record leaves it."""
    found: Seen = {}
    event = arrival(kind, trigger, data)
    for record in fired(tree, event) if trigger in spec_edge_hosting.DERIVED[kind] else decide(tree, event).records:
        if isinstance(record, Rejection):
            return record.reason
        entity = record.entity
        facet = entity.facets[0]
        found[entity.kind, entity.id] = (facet.base, facet.state, without_when(entity.attributes))
    return found


def without_when(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The attributes without the event that showed what is left behind."""
    if "shows" not in attributes:
        return attributes
    return {**attributes, "shows": {name: attributes["shows"][name] for name in ("phase", "conditions")}}


def fired(tree: Tree, event: Arrival) -> list[Record]:
    """The records of a derived trigger, which is fired only at known entities."""
    changeset = Changeset(tree, event.trigger, event.cause.sequence, event.time)
    if tree.get(event.kind, event.id) is not None:
        changeset.cascades.append((event.kind, event.id, Origin(event.trigger, "cascade", "above")))
    changeset.settle()
    return transitions(changeset, event.cause).records


@pytest.mark.parametrize(
    "share", [pytest.param(0.1, id="a-tenth"), pytest.param(1.0, marks=pytest.mark.slow, id="all")]
)
@pytest.mark.parametrize("kind", SPEC_KINDS)
def test_every_state_and_every_trigger(kind: str, share: float) -> None:
    """In a share of the worlds around an entity in each state, the same ones in each run."""
    dice, tried_in = random.Random(kind), set[tuple[str, tuple[str, ...]]]()
    wanted = [(row[0], data) for row in dict.fromkeys(r[:1] for r in spec_edge_hosting.ROWS[kind]) for data in variants(kind, row[0])]  # fmt: skip
    wrong, tried, outcomes = [], 0, set()
    for world in worlds(kind):
        here = spec_interpreter.known(world, kind, HERE[kind]).base
        if here in tried_in and dice.random() > share:
            continue
        tried_in.add(here)
        tree, before = tree_of(world), seen_in(world)
        for trigger, data in wanted:
            right = expected(world, before, kind, trigger, data)
            found = decided(tree, kind, trigger, data)
            if isinstance(found, dict):  # a request that is taken has a record, whatever it changes
                found = {key: one for key, one in found.items() if one != before.get(key)}
            tried += 1
            outcomes.add(found if isinstance(found, str) else bool(found))
            if found != right:
                wrong.append((world, trigger, data, right, found))
    assert wrong[:3] == []
    assert tried > 5_000 * share
    assert outcomes >= {True, False, "illegal"}


@pytest.mark.parametrize("kind", SPEC_KINDS)
def test_bases_are_those_that_the_rows_lead_to(kind: str) -> None:
    assert {State(*base) for base in bases(kind)} == KINDS[kind].bases[0]


@pytest.mark.parametrize("kind", SPEC_KINDS)
def test_triggers_ids_and_roles(kind: str) -> None:
    table: Table = KINDS[kind].table
    triggers = {row[0] for row in spec_edge_hosting.ROWS[kind]}
    everywhere = {*spec_edge_hosting.CONTACT, "reported", "snapshot"}
    assert set(table.triggers).difference(everywhere) == triggers
    assert table.id == spec_edge_hosting.ID[kind]
    assert table.parent == spec_edge_hosting.PARENT[kind]
    attributes = (field.name for field in table.attributes if field.name not in spec_edge_hosting.CONTACT)
    assert tuple(attributes) == spec_edge_hosting.ATTRIBUTES[kind]
    for trigger in triggers:
        role = "derived" if trigger in spec_edge_hosting.DERIVED[kind] else "observation"
        assert table.role(trigger) == ("intent" if trigger in spec_edge_hosting.INTENTS[kind] else role)


@pytest.mark.parametrize("kind", SPEC_KINDS)
def test_derived_triggers_are_rejected_from_outside(kind: str) -> None:
    subjects = Subjects("pl")
    for trigger in spec_edge_hosting.DERIVED[kind]:
        body = {"specversion": "1.0", "id": "1", "source": "/t", "type": f"{kind}.{trigger}"}
        subject = subjects.event(kind, trigger, HERE[kind]).replace("pl.events.", "pl.inbox.0.")
        found = intake.read(KINDS, subjects, subject, codec.encode(body), 1, 1)
        assert isinstance(found, Rejection)
        assert found.reason == "derived"


def test_the_worlds_are_more_than_a_few_and_show_every_view() -> None:
    for kind in SPEC_KINDS:
        views = {view[0].partition(" +")[0] for view in spec_edge_hosting.VIEWS[kind]}
        covered = {
            shown(world, kind, HERE[kind])[0]
            for world in worlds(kind)
            if shown(world, kind, HERE[kind]) != spec_interpreter.known(world, kind, HERE[kind]).base
        }
        assert covered == views
        assert sum(1 for _ in edge_worlds.worlds(kind)) > 100
