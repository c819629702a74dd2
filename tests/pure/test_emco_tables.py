"""EMCO's tables against a copy of the spec by hand: every trigger in every small world."""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree, evolve
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.records import NONE, Cause, Entity, FacetState, Rejection, State, own_facets, state
from tests.support import spec_emco
from tests.support.emco_history import CTX, GROUP, KINDS, NEW, cluster, context, resource
from tests.support.spec_emco import World

NAMES = ("dep+Deployment", "svc+Service")


def facet(base: str, shown: str, conditions: tuple[str, ...] = ()) -> FacetState:
    return FacetState(state(base, conditions), state(shown, conditions), 1)


def put(tree: Tree, kind: str, entity_id: str, facets: tuple[FacetState, ...], **attributes: Any) -> None:
    names = KINDS[kind].names
    tree.put(Entity(kind, entity_id, 1, names, facets, {**KINDS[kind].attributes, **attributes}, NONE))


def tree_of(world: World) -> Tree:
    tree = Tree(KINDS, NoScripts())
    put(tree, "emco_resource", GROUP, (facet("Instantiated", "Instantiated"),), context=CTX, revision=1, contexts=[CTX])
    stopped = ("Stopped",) if world.stopped else ()
    put(tree, "app_context", context(), (facet(world.base, world.state, stopped),), taken_over_by=NEW)
    put(tree, "app_cluster", cluster(), (facet(world.reach, world.reach),))
    for name, base in zip(NAMES, world.resources, strict=False):
        put_resource(tree, resource(name), base, world.resource_state(base))
    return tree


def put_resource(tree: Tree, entity_id: str, base: str, shown: str) -> None:
    if base == "HandedOver":
        put(tree, "rsync_resource", entity_id, (facet("Deleted", "Deleted"),) * 3, handed_over_to=NEW)
        return
    facets = (facet(base, shown), facet("Unknown", "Unknown"), facet("NotAssessed", "NotAssessed"))
    put(tree, "rsync_resource", entity_id, facets)


def told(kind: str, trigger: str, entity_id: str, **data: Any) -> Arrival:
    return Arrival(kind, trigger, entity_id, data, Cause(7, "e", "/t", "event"), None, 7)


def after(tree: Tree, arrival: Arrival) -> str:
    """`refused`, `nothing`, or `moved`, with the tree brought up to date."""
    records = decide(tree, arrival).records
    for record in records:
        evolve(tree, record)
    if any(isinstance(record, Rejection) for record in records):
        return "refused"
    return "moved" if records else "nothing"


def seen(tree: Tree, world: World) -> tuple[World, list[str]]:
    """The world in a tree, and the states it shows."""
    found = tree.entities["app_context"][context()].facets[0]
    entities = [tree.entities["rsync_resource"][resource(name)] for name in NAMES[: len(world.resources)]]
    bases = []
    for entity in entities:
        gone = entity.facets[0].base.phase == "Deleted"
        assert {facet.base.phase == "Deleted" for facet in own_facets(entity)} == {gone}
        assert ("handed_over_to" in entity.attributes) == gone
        bases.append("HandedOver" if gone else entity.facets[0].base.phase)
    held = World(found.base.phase, "Stopped" in found.base.conditions, world.reach, tuple(bases))
    assert ("Stopped" in found.state.conditions) == held.stopped
    return held, [found.state.phase, *(entity.facets[0].state.phase for entity in entities)]


def states(world: World) -> list[str]:
    return [world.state, *(world.resource_state(found) for found in world.resources)]


CONTEXT_TRIGGERS = tuple(dict.fromkeys(row[0] for row in spec_emco.CONTEXT_ROWS))
RESOURCE_TRIGGERS = ("add", "applied", "failed", "retrying", "terminated", "deleted")


SHARES = pytest.mark.parametrize(
    "share", [pytest.param(0.25, id="a-quarter"), pytest.param(1.0, marks=pytest.mark.slow, id="all")]
)


def some_worlds(share: float, trigger: str) -> Iterator[World]:
    """A share of the worlds, the same ones in each run, others for each trigger; one at least with each base."""
    dice, tried_in = random.Random(trigger), set[tuple[str, bool, str]]()
    for world in spec_emco.worlds():
        here = (world.base, world.stopped, world.reach)
        if here not in tried_in or dice.random() < share:
            tried_in.add(here)
            yield world


@SHARES
@pytest.mark.parametrize("trigger", CONTEXT_TRIGGERS)
def test_every_trigger_at_a_context_in_every_world(trigger: str, share: float) -> None:
    tried = accepted = 0
    for world in some_worlds(share, trigger):
        for kept in product((False, True), repeat=len(world.resources)) if trigger == "update" else [(False, False)]:
            tree = tree_of(world)
            put(tree, "app_context", context(NEW), (facet("Created", "Created"),))
            put(tree, "app_cluster", cluster(ctx=NEW), (facet("Unknown", "Unknown"),))
            for name, has in zip(NAMES, kept, strict=False):
                if has and trigger == "update":
                    put_resource(tree, resource(name, ctx=NEW), "Pending", "Pending")
            right = spec_emco.ask_context(world, trigger, kept)
            data = {"to": NEW} if trigger == "update" else {}
            came = after(tree, told("app_context", trigger, context(), **data))
            tried += 1
            if right is None:
                so = trigger == "instantiation_stopped" and world.base == "Terminate"
                assert came == ("nothing" if so else "refused"), (world, came)
                assert seen(tree, world) == (world, states(world))
            else:
                accepted += 1
                assert came != "refused", (
                    world,
                    decide(tree_of(world), told("app_context", trigger, context(), **data)),
                )
                assert seen(tree, world) == (right, states(right)), world
    assert tried >= 1290 * share * 0.8
    assert bool(accepted) == (trigger != "create")  # a context that is there cannot be created again


@SHARES
@pytest.mark.parametrize("trigger", RESOURCE_TRIGGERS)
def test_every_trigger_at_a_resource_in_every_world(trigger: str, share: float) -> None:
    moved = 0
    for world in some_worlds(share, trigger):
        if not world.resources:
            continue
        tree, right = tree_of(world), spec_emco.say_resource(world, trigger)
        came = after(tree, told("rsync_resource", trigger, resource(NAMES[0])))
        if isinstance(right, World):
            moved += 1
            assert came == "moved" or right == world, (world, came)
            assert seen(tree, world) == (right, states(right)), world
        else:
            assert came == {"so": "nothing", "refused": "refused"}[right], (world, right, came)
            assert seen(tree, world) == (world, states(world)), world
    assert moved > 100 * share * 0.8


@pytest.mark.parametrize(("trigger", "reach"), [("connected", "Available"), ("disconnected", "Unreachable")])
def test_connectivity_in_every_world(trigger: str, reach: str) -> None:
    for world in spec_emco.worlds():
        tree = tree_of(world)
        after(tree, told("app_cluster", trigger, cluster()))
        right = spec_emco.say_cluster(world, trigger, reach)
        assert seen(tree, right) == (right, states(right)), world
        assert tree.entities["app_cluster"][cluster()].facets[0].state == state(reach)


# ---- emco_resource

ACTIONS = tuple(dict.fromkeys(row[0] for row in spec_emco.EMCO_ROWS))
PHASES = ("Created", "Approved", "Instantiated", "Applied", "InstantiateStopped", "Terminated", "TerminateStopped")
TYPES = {"groups": ["deployment_intent_group"], "others": ["cluster_network_intents", "logical_cloud"]}
BASE_OF = {
    "Instantiating": "Instantiate", "Instantiated": "Instantiate", "InstantiateFailed": "Instantiate",
    "Terminating": "Terminate", "Terminated": "Terminate", "TerminateFailed": "Terminate",
    "Updating": "Update", "Updated": "Update", "UpdateFailed": "Update",
}  # fmt: skip
CONTEXT_STATES = ("Created", "PreTerminate", *BASE_OF)
RESOURCE_FOR = {
    "Instantiating": "Pending", "InstantiateFailed": "Failed", "Terminating": "Pending", "TerminateFailed": "Failed",
    "Updating": "Applied", "UpdateFailed": "Failed", "Terminated": "Terminated", "Updated": "HandedOver",
    "Created": "Pending",
}  # fmt: skip


def emco_tree(phase: str, type_: str, current: str | None) -> Tree:
    """A resource in `phase` whose current context is in state `current`; a created one stands by."""
    tree = Tree(KINDS, NoScripts())
    held: dict[str, Any] = {"type": type_}
    if current is not None:
        held |= {"context": CTX, "revision": 2, "contexts": [NEW, CTX]}
    put(tree, "emco_resource", GROUP, (facet(phase, phase),), **held)
    if current is not None:
        put(tree, "app_context", context(), (facet(BASE_OF.get(current, current), current),))
        put(tree, "app_cluster", cluster(), (facet("Unknown", "Unknown"),))
        base = RESOURCE_FOR.get(current, "Applied")
        put_resource(tree, resource(), base, "Deleted" if base == "HandedOver" else base)
    put(tree, "app_context", context(NEW), (facet("Created", "Created"),))
    return tree


def expected(phase: str, whose: str, current: str | None, trigger: str, named: str | None) -> str | None:
    """The phase after an action; None if it is refused."""
    for name, who, start, to in spec_emco.EMCO_ROWS:
        if name == trigger and who in ("any", whose) and phase in start.split():
            if trigger == "stop" and current not in ("Instantiating", "PreTerminate", "Terminating", "Updating"):
                return None
            if trigger == "terminate" and phase == "Terminated" and current not in ("TerminateFailed", "UpdateFailed"):
                return None
            if trigger == "delete" and current not in (None, "Created", "Terminated", "Updated"):
                return None  # the current context owns what may be in a cluster
            under_way = ("Instantiating",) if trigger == "rollback" else ()
            if trigger in ("update", "rollback") and current not in ("Instantiated", "InstantiateFailed", *under_way):
                return None
            fresh = {"instantiate": ("Created", "Instantiating", "Instantiated", "InstantiateFailed")}
            takes = fresh.get({"apply": "instantiate"}.get(trigger, trigger), ("Created", "Updated"))
            if trigger in ("instantiate", "apply", "update"):
                state_of = {NEW: "Created", CTX: current}.get(str(named))
                return to if state_of in takes else None
            return to
    return None


@pytest.mark.parametrize("trigger", [action for action in ACTIONS if action != "create"])
def test_every_action_in_every_state(trigger: str) -> None:
    outcomes = set()
    for whose, types in TYPES.items():
        for type_, phase, current in product(types, PHASES, (None, *CONTEXT_STATES)):
            names = (CTX, NEW, "nowhere") if trigger in ("instantiate", "apply", "update") else (None,)
            for named in names:
                tree = emco_tree(phase, type_, current)
                data: dict[str, Any] = {"revision": 1} if trigger == "rollback" else {}
                came = after(
                    tree, told("emco_resource", trigger, GROUP, **data, **({"context": named} if named else {}))
                )
                right = expected(phase, whose, current, trigger, named)
                found = tree.entities["emco_resource"][GROUP].facets[0].state.phase
                where = (whose, type_, phase, current, named, came)
                assert (came == "refused") == (right is None), where
                assert found == (phase if right is None else right), where
                outcomes.add(right)
    assert len(outcomes) > 1


def test_a_state_without_conditions_is_written_without_brackets() -> None:
    assert str(State("Applied")) == "Applied"
