"""Random histories: each event follows from a seed of some bytes, so that the seeds determine the history.

Belongs here: from seeds to events that make sense for any kinds. Does not: choosing the seeds (`search`), deciding
events (`histories`).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from phaseline.engine.surfaces.testing.histories import History, Sent, event
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.relations import predicates
from phaseline.machines.compiler.reports import SNAPSHOT
from phaseline.machines.language.predicates import AttributeIs
from phaseline.machines.language.signals import ATTRIBUTE as SIGNALS_FIELD
from phaseline.machines.language.table import DELETED, Field, Table

T = TypeVar("T")
SEED_LENGTH = 24
"""The number of bytes of a seed."""
SAMPLES: dict[type, tuple[Any, ...]] = {bool: (True, False), int: (0, 1, 7), float: (0.5, 2.5), str: ("word", "")}
"""Values of a field whose table names none."""


class Dice:
    """Choices by bytes, one byte each; the first option when no bytes are left."""

    def __init__(self, faces: bytes) -> None:
        self._faces = iter(faces)

    def of(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[next(self._faces, 0) % len(options)]


def random_history(kinds: Kinds, seeds: Iterable[bytes]) -> History:
    """The history of the events that follow from these seeds."""
    history = History(kinds)
    for seed in seeds:
        history.take(random_event(history, seed))
    return history


def random_event(history: History, seed: bytes) -> Sent:
    """The event of a seed: mostly one that is legal now, sometimes any event, a repeat, or nonsense."""
    dice = Dice(seed)
    mood = dice.of(range(16))
    if mood == 15:
        return Sent(event(next(iter(history.kinds)), "create", "x").subject, seed[1:])
    if mood in (13, 14) and history.steps:
        return dice.of(history.steps).sent
    kind = dice.of([kind for kind in history.kinds.values() for _ in range(kind.arity)])
    *above, last = kind.table.id
    entity_id = "/".join([*(f"{name[0]}{dice.of((1, 1, 1, 2))}" for name in above), f"{last[0]}{dice.of((1, 1, 2))}"])
    offered = history.legal(kind.name, entity_id) if mood < 12 else list(kind.roles)
    preferred = [trigger for trigger in offered if mood >= 9 or trigger not in destructive(kind.table)]
    trigger = dice.of(preferred or offered or list(kind.roles))
    more: dict[str, Any] = {"source": dice.of(("/a", "/b")), "id": str(len(history.steps))}
    numbering = dice.of(range(4))
    if numbering < 3:
        more["sequence"] = len(history.steps) + 1 if numbering < 2 else dice.of(range(256))
    if numbering == 2:
        more["epoch"] = dice.of((0, 1, 2))
    return event(kind.name, trigger, entity_id, data_for(history.kinds, kind, trigger, dice), **more)


@lru_cache(maxsize=1_000)
def destructive(table: Table) -> set[str]:
    """The triggers that delete or cascade. With too many of them, trees stay small."""
    return {on for cascade in table.cascades for on in cascade.on} | {
        row.trigger for facet in table.facets for row in facet.rows if row.to in (DELETED, "Deleting")
    }


def data_for(kinds: Kinds, kind: Kind, trigger: str, dice: Dice) -> dict[str, Any]:
    """Data with fields of a trigger."""
    data: dict[str, Any] = {
        f.name: _value(kinds, kind, f, dice) for f in kind.fields[trigger] if f.required or dice.of((0, 1))
    }
    if trigger == SNAPSHOT:
        data["items"] = [_item(kind, kinds[data["kind"]], dice) for _ in range(dice.of((2, 3, 0, 1)))]
    if "phase" in data and dice.of(range(4)):
        base = dice.of(sorted(dice.of(kind.bases[: kind.own])))
        data |= {"phase": base.phase, "conditions": list(base.conditions)}
    if said := dice.of((0, 1, 0, 1, 0, 1, 0, 2)):
        data |= {"reason": "Because", "message": "so it is"} | ({"stray": 7} if said == 2 else {})
    return data


def _item(kind: Kind, below: Kind, dice: Dice) -> dict[str, Any]:
    """An item of a snapshot of the kind `below`."""
    parts = (f"{name[0]}{dice.of((1, 2))}" for name in below.table.id[kind.arity :])
    base = dice.of(sorted(below.bases[0]))
    return {"id": "/".join(parts), "phase": base.phase, "conditions": list(base.conditions)}


def _value(kinds: Kinds, kind: Kind, field: Field, dice: Dice) -> Any:
    options = field.options or (*_compared(kinds, kind, field.name), *SAMPLES.get(field.type, (field.type(),)))
    if field is SIGNALS_FIELD:
        return dice.of(({"A": "True"}, {"A": "Unknown", "B": "True"}, {}, {"B": {"status": "True", "reason": "C"}}))
    if field.many and field.type is dict:
        return [dice.of(options)]
    if field.many:
        return sorted({dice.of(options), dice.of(options)})
    return dice.of(options)


def _compared(kinds: Kinds, kind: Kind, name: str) -> Iterator[Any]:
    """The values that matter: those with which guards, views and rows compare a field, and names of children."""
    for other in kinds.values():
        yield from _compared_by(other.table).get((kind.name, name), ())
        for cascade in (each for each in other.table.cascades if each.only_child is not None):
            child = kinds[cascade.at[0]]
            if (other is kind and name == cascade.only_child) or (child is kind and name in cascade.data):
                yield from (f"{child.table.id[-1][0]}{number}" for number in (1, 2))
    for facet in kind.table.facets:
        for row in facet.rows:
            if row.given.get(name) is not None:
                yield row.given[name]


@lru_cache(maxsize=1_000)
def _compared_by(table: Table) -> dict[tuple[str, str], list[Any]]:
    """By kind and attribute, the values with which predicates of a table compare it. Each event asks for them."""
    found: dict[tuple[str, str], list[Any]] = {}
    for predicate in predicates(table):
        if isinstance(predicate, AttributeIs):
            values = predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
            found.setdefault((predicate.kind, predicate.name), []).extend(values)
    return found
