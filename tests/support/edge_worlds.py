"""Small worlds around one entity, with everything that its rows, guards and views can look at.

Belongs here: the worlds to try, the data to send, the engine's tree of a world. Does not: the expected results.
"""

from collections.abc import Iterator
from typing import Any

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.records import Cause, Entity, FacetState, State
from tests.support.built_in_kinds import family
from tests.support.spec_edge_hosting import ENDS, ID, LABELS, PARENT
from tests.support.spec_interpreter import Thing, World, bases, shown

KINDS = family("edge-hosting")
HERE = {"cluster": "c", "node_pool": "c/p", "node": "c/p/n", "component": "c/k"}
"""The entity that the events of each kind are about."""

ABSENT = ("Absent", ())
RUNNING, CREATING, DELETING, DELETED = ("Running", ("Ok",)), ("Creating", ("Progressing",)), ("Deleting", ("Progressing",)), ("Deleted", ())  # fmt: skip
UNPAID = ("Failed", ("Balance",))
STUCK = ("Creating", ("Progressing", "Stalled"))
NODES: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...] = (
    (), (RUNNING,), (CREATING,), (DELETING,), (DELETED,), (UNPAID,), (UNPAID, CREATING, DELETED), (RUNNING, DELETING),
    (STUCK,), (UNPAID, STUCK), (UNPAID, DELETED), (STUCK, DELETING),
)  # fmt: skip
MODES: tuple[dict[str, Any], ...] = ({}, {"autoscaling_mode": "Recycle", "default": True}, {"autoscaling_mode": "Keep"})


def one_per_phase(kind: str) -> list[tuple[str, tuple[str, ...]]]:
    """A base of each phase."""
    return list({base[0]: base for base in bases(kind).values()}.values())


def clusters() -> Iterator[World]:
    for base in bases("cluster").values():
        here: World = {("cluster", "c"): Thing(base)}
        yield here
        for pool in one_per_phase("node_pool"):
            for beside in (None, RUNNING, CREATING, STUCK):
                world = {**here, ("node_pool", "c/p"): Thing(pool), ("component", "c/k"): Thing(RUNNING)}
                world |= {("node", f"c/p/n{i}"): Thing(node) for i, node in enumerate((RUNNING, UNPAID, DELETED))}
                world["component", "c/gone"] = Thing(DELETED)
                if beside is not None:
                    world["node_pool", "c/q"] = Thing(beside)
                yield world
                if beside is None:
                    yield {**world, ("node", "c/p/n0"): Thing(UNPAID)}


def node_pools() -> Iterator[World]:
    for base in bases("node_pool").values():
        for cluster in one_per_phase("cluster"):
            for number, nodes in enumerate(NODES):
                world: World = {("cluster", "c"): Thing(cluster), ("node_pool", "c/p"): Thing(base, MODES[number % 2])}
                world |= {("node", f"c/p/n{i}"): Thing(node) for i, node in enumerate(nodes)}
                yield world
                yield {**world, ("node_pool", "c/busy"): Thing(CREATING)}


def nodes() -> Iterator[World]:
    for base in bases("node").values():
        for cluster in one_per_phase("cluster"):
            for pool in one_per_phase("node_pool") if cluster == RUNNING else [ABSENT, RUNNING]:
                for mode in MODES if cluster == RUNNING else MODES[1:2]:
                    yield {
                        ("cluster", "c"): Thing(cluster),
                        ("node_pool", "c/p"): Thing(pool, mode),
                        ("node", "c/p/n"): Thing(base),
                    }


def components() -> Iterator[World]:
    for base in bases("component").values():
        for cluster in one_per_phase("cluster"):
            world: World = {("cluster", "c"): Thing(cluster), ("component", "c/k"): Thing(base)}
            yield world
            yield {**world, ("node_pool", "c/busy"): Thing(CREATING)}


AROUND = {"cluster": clusters, "node_pool": node_pools, "node": nodes, "component": components}


def worlds(kind: str) -> Iterator[World]:
    """The possible worlds of a kind: absent entities are left out, and nothing lives below a deleted one."""
    for world in AROUND[kind]():
        found = {key: thing for key, thing in world.items() if thing.base[0] != "Absent"}
        if all(_held(found, of, entity_id) for of, entity_id in found):
            yield found


def _held(world: World, kind: str, entity_id: str) -> bool:
    parent = PARENT[kind]
    if parent is None:
        return True
    above = world.get((parent, entity_id.rpartition("/")[0]))
    return above is not None and (above.base[0] not in ENDS or world[kind, entity_id].base[0] in ENDS)


def variants(kind: str, trigger: str) -> Iterator[dict[str, Any]]:
    """All data that can make a difference. `adopt` without a phase is left out: the intake rejects it."""
    if trigger == "adopt":
        yield from _adoptions(kind)
        return
    yield {}
    if trigger == "delete":
        yield from ({"abandon": False}, {"abandon": True})
    if (kind, trigger) == ("cluster", "delete"):
        yield from ({"cascade": True}, {"cascade": False})
    if trigger in ("create", "update", "start", "delete", "configure"):
        yield {"deadline": 60.0, "version": "v1", "desired": 3}
    if kind == "node_pool" and trigger in ("create", "configure"):
        yield from ({"default": False}, {"autoscaling_mode": "Recycle"}, {"default": True, "autoscaling_mode": "Keep"})
    if trigger in ("create_failed", "recovered"):
        yield from ({"condition": field} for field in _options(kind, trigger))


def _adoptions(kind: str) -> Iterator[dict[str, Any]]:
    for phase, condition, *_ in LABELS[kind]:
        yield from ({"phase": phase}, {"phase": phase, "conditions": [condition]})
    yield from ({"phase": "Failed", "conditions": list(pair)} for pair in (("Unknown", "Balance"), ("Ok",), ()))
    yield {"phase": "Deleting", "conditions": ["Balance", "Progressing"]}
    yield from ({"phase": phase, "conditions": ["Progressing", "Stalled"]} for phase in ("Creating", "Deleting"))
    yield from ({"phase": phase, "conditions": ["Stalled"]} for phase in ("Creating", "Updating"))
    yield {"phase": "Running", "conditions": ["Ok", "Unschedulable"]}
    yield {"phase": "Running", "autoscaling_mode": "Recycle", "default": True}


def _options(kind: str, trigger: str) -> tuple[str, ...]:
    return next((field.options for field in KINDS[kind].fields[trigger] if field.name == "condition"), ())


def tree_of(world: World) -> Tree:
    """The engine's tree of a world."""
    tree = Tree(KINDS, NoScripts())
    for (kind, entity_id), thing in sorted(world.items(), key=lambda item: len(ID[item[0][0]])):
        facet = FacetState(State(*thing.base), State(*shown(world, kind, entity_id)), 0)
        tree.put(Entity(kind, entity_id, 1, ("phase",), (facet,), thing.attributes, {}))
    return tree


def arrival(kind: str, trigger: str, data: dict[str, Any]) -> Arrival:
    return Arrival(kind, trigger, HERE[kind], data, Cause(1, "e", "/t", "event"), None, 1)
