"""Random histories: each event wished for by some bytes, so that whatever chooses the bytes chooses the history.

Belongs here: from bytes to events that mean something to any kinds. Does not: choosing the bytes (`search`), playing events
(`histories`).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from phaseline.engine.core.rejections import legal_triggers
from phaseline.engine.testing.histories import History, Sent, event
from phaseline.machines.compiler.check_kinds import predicates
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.predicates import AttributeIs
from phaseline.machines.language.table import DELETED, Field, Table

T = TypeVar("T")
LENGTH = 24
"""Bytes of a wish."""
SOME: dict[type, tuple[Any, ...]] = {bool: (True, False), int: (0, 1, 7), float: (0.5, 2.5), str: ("word", "")}
"""Values of a field where its table names none."""


class Dice:
    """Choices read off bytes, one each; the first option where they run out."""

    def __init__(self, faces: bytes) -> None:
        """Read these."""
        self._faces = iter(faces)

    def of(self, options: Sequence[T]) -> T:
        """One of them."""
        return options[next(self._faces, 0) % len(options)]


def fulfilled(kinds: Kinds, wishes: Iterable[bytes]) -> History:
    """The history in which each wish came true in turn."""
    history = History(kinds)
    for wish in wishes:
        history.take(wished(history, wish))
    return history


def wished(history: History, wish: bytes) -> Sent:
    """The event that these bytes wish for: mostly one that is legal now, sometimes any, a repeat, or nonsense."""
    dice = Dice(wish)
    mood = dice.of(range(16))
    if mood == 15:
        return Sent(event(next(iter(history.kinds)), "create", "x").subject, wish[1:])
    if mood in (13, 14) and history.steps:
        return dice.of(history.steps).sent
    kind = dice.of([kind for kind in history.kinds.values() for _ in range(kind.arity)])
    *above, last = kind.table.id
    entity_id = "/".join([*(f"{name[0]}{dice.of((1, 1, 1, 2))}" for name in above), f"{last[0]}{dice.of((1, 1, 2))}"])
    offered = legal_triggers(history.tree, kind, entity_id) if mood < 12 else list(kind.roles)
    gentle = [trigger for trigger in offered if mood >= 9 or trigger not in harsh(kind.table)]
    trigger = dice.of(gentle or offered or list(kind.roles))
    more: dict[str, Any] = {"source": dice.of(("/a", "/b")), "id": str(len(history.steps))}
    numbering = dice.of(range(4))
    if numbering < 3:
        more["sequence"] = len(history.steps) + 1 if numbering < 2 else dice.of(range(256))
    return event(kind.name, trigger, entity_id, data_for(history.kinds, kind, trigger, dice), **more)


def harsh(table: Table) -> set[str]:
    """The triggers that end much: too many of them, and nothing ever grows."""
    return {on for fired in table.cascades for on in fired.on} | {
        row.trigger for facet in table.facets for row in facet.rows if row.to in (DELETED, "Deleting")
    }


def data_for(kinds: Kinds, kind: Kind, trigger: str, dice: Dice) -> dict[str, Any]:
    """Data that could be meant for a trigger."""
    found: dict[str, Any] = {
        f.name: _value(kinds, kind, f, dice) for f in kind.fields[trigger] if f.required or dice.of((0, 1))
    }
    if "phase" in found and dice.of(range(4)):
        base = dice.of(sorted(dice.of(kind.bases)))
        found |= {"phase": base.phase, "conditions": list(base.conditions)}
    if dice.of((0, 1)):
        found |= {"reason": "Because", "message": "so it is", "stray": 7}
    return found


def _value(kinds: Kinds, kind: Kind, field: Field, dice: Dice) -> Any:
    options = field.options or (*_compared(kinds, kind, field.name), *SOME.get(field.type, (field.type(),)))
    if field.many and field.type is dict:
        return [dice.of(options)]
    if field.many:
        return sorted({dice.of(options), dice.of(options)})
    return dice.of(options)


def _compared(kinds: Kinds, kind: Kind, name: str) -> Iterator[Any]:
    """The values that make a difference: what guards, views and rows compare a field with, children that it may name."""
    for other in kinds.values():
        for predicate in predicates(other.table):
            if isinstance(predicate, AttributeIs) and (predicate.kind, predicate.name) == (kind.name, name):
                yield from predicate.value if isinstance(predicate.value, tuple) else (predicate.value,)
        for fired in (fired for fired in other.table.cascades if fired.only_child is not None):
            child = kinds[fired.at[0]]
            if (other is kind and name == fired.only_child) or (child is kind and name in fired.data):
                yield from (f"{child.table.id[-1][0]}{number}" for number in (1, 2))
    for facet in kind.table.facets:
        for row in facet.rows:
            if row.given.get(name) is not None:
                yield row.given[name]
