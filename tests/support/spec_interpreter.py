"""The simplest interpreter of the hand copy of the specification: no lookups, tallies or records.

Belongs here: what an event makes of a small world. Does not: the hand copy, anything of the engine.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from tests.support.spec_edge_hosting import (
    ASSIGNS,
    ATTRIBUTE_GUARDS,
    CHOOSES,
    DERIVED,
    ENDS,
    FIRED,
    GUARDS,
    ID,
    INTENTS,
    LIMITS,
    OWN,
    PARENT,
    ROWS,
    STICKY,
    VIEWS,
)

State = tuple[str, tuple[str, ...]]


class Thing(NamedTuple):
    """The base and the attributes of an entity. `stopped`: whether causes interrupted a node that stopped, or stops."""

    base: State
    attributes: Mapping[str, Any] = {}
    stopped: bool = False


World = dict[tuple[str, str], Thing]
UNKNOWN = Thing(("Absent", ()))


def up(kind: str, entity_id: str) -> str:
    """The id of the ancestor of that kind."""
    return "/".join(entity_id.split("/")[: len(ID[kind])])


def known(world: World, kind: str, entity_id: str) -> Thing:
    return world.get((kind, up(kind, entity_id)), UNKNOWN)


def under(world: World, kind: str, entity_id: str) -> Iterator[str]:
    """Every known entity of that kind below an id."""
    yield from (found for of, found in sorted(world) if of == kind and found.startswith(f"{entity_id}/"))


def shown(world: World, kind: str, entity_id: str) -> State:
    base = known(world, kind, entity_id).base
    for shows, over, whose, phases, *lacks in VIEWS[kind]:
        some, relative = whose.split()
        if some == "the":  # nothing that a cluster shows hides or feigns what these views look at: its base tells
            seen = [known(world, relative, entity_id).base]
        else:
            seen = [shown(world, relative, found) for found in under(world, relative, entity_id)]
        hits = [
            phase in phases and not any(c in conditions for c in lacks)
            for phase, conditions in seen
            if phase not in ENDS
        ]
        if base[0] in over and any(hits) and (some != "every" or all(hits)):
            phase, _, cause = shows.partition(" +")
            causes = base[1] if base[0] == phase and cause else ()
            return (phase, (*causes, cause)) if cause else (phase, (OWN[kind][phase],))
    return base


def act(world: World, kind: str, entity_id: str, trigger: str, data: Mapping[str, Any]) -> World | str:
    """The world after an event from outside, or the reason why it is rejected."""
    orphan = parent_phase(world, kind, entity_id)
    intent = trigger in INTENTS[kind]
    if trigger == "deleted" and known(world, kind, entity_id).base[0] == "Deleted":
        return seen_gone(world, kind, entity_id)
    if trigger == "adopt" and orphan == "Deleted" and known(world, kind, entity_id).base[0] in ENDS:
        return left_behind(world, kind, entity_id, data)
    if orphan == "Deleted" or (orphan == "Absent" and intent):
        return "unknown_parent"
    thing = known(world, kind, entity_id)
    judged = shown(world, kind, entity_id) if intent else thing.base
    row = chosen(kind, trigger, data, judged, thing.base)
    if row is None:
        so = already_so(kind, trigger, data, thing.base) or (thing.stopped and trigger == "stopped")
        return world if not intent and so else "illegal"
    if row[2] == "Deleted" and intent:
        if row[4:] == ("silent",):  # no place of these worlds is
            return "guard"
    elif not guarded(world, kind, entity_id, trigger):
        return "guard"
    if row[2] == "named" and not can_arise(kind, named(kind, data)):
        return "invalid"
    after = dict(world)
    adopt_parents(after, kind, entity_id)
    take(after, kind, entity_id, row, data)
    return after


def seen_gone(world: World, kind: str, entity_id: str) -> World:
    """The world after an entity that is Deleted was seen to be gone."""
    thing = world[kind, entity_id]
    if thing.attributes.get("end") not in ("assumed", "contradicted"):
        return world
    rest = {name: value for name, value in thing.attributes.items() if name != "shows"}
    return {**world, (kind, entity_id): thing._replace(attributes={**rest, "end": "seen"})}


def left_behind(world: World, kind: str, entity_id: str, data: Mapping[str, Any]) -> World | str:
    """The world after the report of something below what is Deleted, or why it is rejected."""
    above = PARENT[kind]
    thing = known(world, kind, entity_id)
    while above is not None:
        if thing == UNKNOWN and (above, up(above, entity_id)) not in world:
            return "unknown_parent"
        above = PARENT[above]
    if not can_arise(kind, named(kind, data)):
        return "invalid"
    if thing != UNKNOWN and thing.attributes.get("end") not in ("assumed", "contradicted"):
        return "stale"
    phase, conditions = named(kind, data)
    attributes = {**thing.attributes, "end": "contradicted", "shows": {"phase": phase, "conditions": list(conditions)}}
    return {**world, (kind, entity_id): Thing(("Deleted", ()), attributes)}


def parent_phase(world: World, kind: str, entity_id: str) -> str | None:
    """Absent or Deleted if an ancestor is; Deleted takes precedence, because nothing can live below it."""
    found = []
    while (parent := PARENT[kind]) is not None:
        found.append(known(world, parent, entity_id).base[0])
        kind = parent
    return "Deleted" if "Deleted" in found else "Absent" if "Absent" in found[:1] else None


def chosen(kind: str, trigger: str, data: Mapping[str, Any], judged: State, base: State) -> tuple[Any, ...] | None:
    for row in meant(kind, trigger, data):
        if any(fits(start, judged, base) for start in row[1]):
            return row
    return None


def meant(kind: str, trigger: str, data: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of a trigger; if the data has a field that chooses among them, those for it."""
    for row in ROWS[kind]:
        if row[0] == trigger and (len(row) < 4 or data.get(CHOOSES.get(trigger, "condition")) in row[3]):
            yield row


def fits(start: str, judged: State, base: State) -> bool:
    phase, _, rest = start.partition(" ")
    how, _, what = rest.partition(" ")
    if phase != judged[0]:
        return False
    if how == "over":
        return base[0] == what
    if how == "with":
        return what in judged[1]
    return how != "without" or not any(condition in judged[1] for condition in what.split(", "))


def guarded(world: World, kind: str, entity_id: str, trigger: str) -> bool:
    above, phases, conditions = GUARDS.get((kind, trigger), (kind, None, ()))
    if phases is not None:
        phase, found = shown(world, above, up(above, entity_id))
        if phase not in phases and not any(condition in found for condition in conditions):
            return False
    above, name, value = ATTRIBUTE_GUARDS.get((kind, trigger), (kind, "", None))
    return known(world, above, entity_id).attributes.get(name) == value


def after_row(kind: str, becomes: str, base: State) -> State:
    """The base after a row was taken (one that does not take its base from data)."""
    phase, conditions = base
    word, _, rest = becomes.partition(" ")
    if word == "same":
        return base
    if word == "set":
        return (phase, (*(c for c in conditions if c not in (rest, "Ok")), rest)) if rest not in conditions else base
    if word == "clear":
        return cleared(kind, base, rest.split(", "))
    if word == "Deleted":
        return ("Deleted", ())
    cause = rest.removeprefix("+") or OWN[kind][word]
    stays = word == phase == "Failed"
    kept = tuple(c for c in conditions if c in STICKY[kind] or stays)
    return settled(kind, word, kept if cause in kept else (*kept, cause))


def cleared(kind: str, base: State, over: list[str]) -> State:
    left = tuple(c for c in base[1] if c not in over)
    healed = base[0] == "Failed" and base[1] != left and all(c in LIMITS for c in left)
    return settled(kind, "Running" if healed else base[0], left)


def settled(kind: str, phase: str, conditions: tuple[str, ...]) -> State:
    """`Ok` is the condition of a state without any other."""
    real = tuple(c for c in conditions if c != "Ok")
    return (phase, real or (OWN[kind][phase],))


def already_so(kind: str, trigger: str, data: Mapping[str, Any], base: State) -> bool:
    phase, conditions = base
    for _, starts, becomes, *_ in meant(kind, trigger, data):
        word, _, rest = becomes.partition(" ")
        if becomes == "named":
            told = without_stalled(conditions)
            wanted = without_stalled(data.get("conditions") or ()) or told
            found = data.get("phase") == phase and sorted(wanted) == sorted(told)
        elif word == "clear":
            at_home = phase == "Running" or phase in {start.split()[0] for start in starts}
            found = at_home and not any(c in conditions for c in rest.split(", "))
        else:
            found = phase == word and (not rest or rest.removeprefix("+") in conditions)
        if found:
            return True
    return False


def named(kind: str, data: Mapping[str, Any]) -> State:
    phase = data["phase"]
    own = OWN[kind].get(phase)
    return phase, without_stalled(data.get("conditions") or ()) or ((own,) if own else ())


def without_stalled(conditions: Iterable[str]) -> tuple[str, ...]:
    """What others than the engine may say."""
    return tuple(condition for condition in conditions if condition != "Stalled")


def can_arise(kind: str, base: State) -> bool:
    return (base[0], tuple(sorted(base[1]))) in bases(kind)


_bases: dict[str, dict[State, State]] = {}


def bases(kind: str) -> dict[State, State]:
    """Every base that rows lead to: sorted, with the form in which it first arose."""
    if kind not in _bases:
        found: dict[State, State] = {UNKNOWN.base: UNKNOWN.base}
        queue = [UNKNOWN.base]
        while queue:
            base = queue.pop(0)
            for _, starts, becomes, *_ in ROWS[kind]:
                if becomes != "named" and any(fits(start, base, base) for start in starts):
                    after = after_row(kind, becomes, base)
                    key = (after[0], tuple(sorted(after[1])))
                    if key not in found:
                        found[key] = after
                        queue.append(after)
        _bases[kind] = found
    return _bases[kind]


def adopt_parents(world: World, kind: str, entity_id: str) -> None:
    while (parent := PARENT[kind]) is not None:
        world.setdefault((parent, up(parent, entity_id)), Thing(("Running", ("Ok",))))
        kind = parent


def take(world: World, kind: str, entity_id: str, row: tuple[Any, ...], data: Mapping[str, Any]) -> None:
    """Take a row, and the triggers that it fires at descendants."""
    trigger, _, becomes, *_ = row
    old = known(world, kind, entity_id)
    base = named(kind, data) if becomes == "named" else after_row(kind, becomes, old.base)
    if trigger in INTENTS[kind]:
        base = base[0], without_stalled(base[1])
    stopped = base[0] == "Failed" and (old.stopped or old.base[0] in ("Stopped", "Stopping"))
    if old.stopped and (old.base[0], base[0]) == ("Failed", "Running"):
        base = settled(kind, "Stopped", base[1])
    attributes = {} if old.base[0] in ENDS else dict(old.attributes)
    assigned: tuple[str, ...] = ASSIGNS[kind].get(trigger, ()) if base[0] != "Deleted" else ()
    attributes |= {name: data[name] for name in assigned if data.get(name) is not None}
    if base[0] == "Deleted" != old.base[0]:
        attributes["end"] = "seen" if trigger == "deleted" else "assumed"
    world[kind, entity_id] = Thing(base, attributes, stopped)
    for on, fired, kinds in FIRED[kind]:
        entered = on == "-> Deleted" and base[0] == "Deleted" != old.base[0]
        if entered or (on == trigger and data.get("cascade") is not False and base[0] == "Deleting"):
            for below in kinds:
                for found in list(under(world, below, entity_id)):
                    fire(world, below, found, fired)


def fire(world: World, kind: str, entity_id: str, trigger: str) -> None:
    """Fire a derived trigger: it is judged by the base and has no effect if no row fits."""
    assert trigger in DERIVED[kind]
    base = known(world, kind, entity_id).base
    row = chosen(kind, trigger, {}, base, base)
    if row is not None:
        take(world, kind, entity_id, row, {})
