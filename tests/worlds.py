"""Random histories: events as bytes, decided one after another over a tree, everything they did remembered.

Belongs here: making and playing them, for any kinds. Does not: what must hold of them (`laws`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phaseline.engine import intake
from phaseline.engine.decide import decide, legal
from phaseline.engine.intake import Arrival
from phaseline.engine.tree import Tree, evolve
from phaseline.machines.kinds import Kind, Kinds
from phaseline.machines.table import DELETED, Field, Table
from phaseline.schemas import codec
from phaseline.schemas.records import Record, Rejection
from phaseline.schemas.subjects import Subjects

T = TypeVar("T")
SUBJECTS = Subjects("pl")
SECOND = 1_000_000_000

WHOLE = st.integers(-(2**63), 2**64 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | WHOLE | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
MAPS = st.dictionaries(st.text(max_size=8), VALUES, max_size=20)
"""Data of any sort that both msgpack and JSON can hold."""

_calm = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
EFFORTS = {
    "ci": settings(max_examples=120, derandomize=True, database=None, **_calm),  # type: ignore[arg-type]  # mixed values
    "long": settings(max_examples=3000, **_calm),  # type: ignore[arg-type]  # mixed values
}


class Sent(NamedTuple):
    """An event as the stream keeps it."""

    subject: str
    body: bytes


class Step(NamedTuple):
    """An event, what the intake read in it, and the records it made."""

    sent: Sent
    read: Arrival | Rejection
    records: list[Record]

    @property
    def accepted(self) -> bool:
        return not any(isinstance(record, Rejection) for record in self.records)

    def __repr__(self) -> str:
        if isinstance(self.read, Rejection):
            return f"{self.sent.subject}: {self.read.reason}"
        where = f"{self.read.kind}.{self.read.trigger} {self.read.id} {dict(self.read.data)} #{self.read.sequence}"
        return f"{where} from {self.read.cause.source}: {len(self.records)} records, accepted={self.accepted}"


@dataclass
class History:
    """Events decided so far, and the tree they led to."""

    kinds: Kinds
    tree: Tree = field(init=False)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = Tree(self.kinds)

    def __repr__(self) -> str:
        return "\n  ".join(["a history:", *map(repr, self.steps)])

    def read(self, sent: Sent) -> Arrival | Rejection:
        """What the intake reads when `sent` is stored next."""
        place = len(self.steps) + 1
        return intake.read(self.kinds, SUBJECTS, sent.subject, sent.body, place, place * SECOND + 123)

    def decide(self, sent: Sent) -> Step:
        """What `sent` would make, nothing changed yet."""
        found = self.read(sent)
        return Step(sent, found, [found] if isinstance(found, Rejection) else decide(self.tree, found))

    def take(self, sent: Sent) -> Step:
        """Decide `sent` and let it take effect."""
        step = self.decide(sent)
        for record in step.records:
            evolve(self.tree, record)
        self.steps.append(step)
        return step


def event(kind: str, trigger: str, entity_id: str, data: dict[str, Any] | None = None, **more: Any) -> Sent:
    """An event as the server stores it; `more`: other attributes of its envelope."""
    subject = SUBJECTS.event(kind, trigger, entity_id).replace("pl.events.", "pl.inbox.0.", 1)
    body = {"specversion": "1.0", "id": "e", "source": "/t", "type": f"{kind}.{trigger}", "data": data or {}, **more}
    return Sent(subject, codec.encode(body))


def play(kinds: Kinds, events: Iterator[Sent] | Sequence[Sent]) -> History:
    """The history of these events."""
    history = History(kinds)
    for sent in events:
        history.take(sent)
    return history


class Dice:
    """Choices read off bytes, one each; the first option where they run out."""

    def __init__(self, faces: bytes) -> None:
        self._faces = iter(faces)

    def of(self, options: Sequence[T]) -> T:
        return options[next(self._faces, 0) % len(options)]


def wished(history: History, wish: bytes) -> Sent:
    """The event that these bytes wish for: mostly one that is legal now, sometimes any, a repeat, or nonsense."""
    dice = Dice(wish)
    mood = dice.of(range(16))
    if mood == 15:
        return Sent(event("cluster", "create", "x").subject, wish[1:])
    if mood in (13, 14) and history.steps:
        return dice.of(history.steps).sent
    kind = dice.of([kind for kind in history.kinds.values() for _ in range(kind.arity)])
    *above, last = kind.table.id
    entity_id = "/".join([*(f"{name[0]}{dice.of((1, 1, 1, 2))}" for name in above), f"{last[0]}{dice.of((1, 1, 2))}"])
    offered = legal(history.tree, kind, entity_id) if mood < 12 else list(kind.roles)
    gentle = [trigger for trigger in offered if mood >= 9 or trigger not in harsh(kind.table)]
    trigger = dice.of(gentle or offered or list(kind.roles))
    more: dict[str, Any] = {"source": dice.of(("/a", "/b")), "id": str(len(history.steps))}
    numbering = dice.of(range(4))
    if numbering < 3:
        more["sequence"] = len(history.steps) + 1 if numbering < 2 else dice.of(range(256))
    return event(kind.name, trigger, entity_id, data_for(kind, trigger, dice), **more)


def harsh(table: Table) -> set[str]:
    """The triggers that end much: too many of them, and nothing ever grows."""
    return {on for fired in table.fired for on in fired.on} | {
        row.trigger for facet in table.facets for row in facet.rows if row.to in (DELETED, "Deleting")
    }


def data_for(kind: Kind, trigger: str, dice: Dice) -> dict[str, Any]:
    """Data that could be meant for a trigger."""
    found: dict[str, Any] = {f.name: _value(f, dice) for f in kind.fields[trigger] if f.required or dice.of((0, 1))}
    if "phase" in found and dice.of(range(4)):
        base = dice.of(sorted(dice.of(kind.bases)))
        found |= {"phase": base.phase, "conditions": list(base.conditions)}
    if dice.of((0, 1)):
        found |= {"reason": "Because", "message": "so it is", "stray": 7}
    return found


def _value(field: Field, dice: Dice) -> Any:
    if field.many:
        return sorted({_single(field, dice), _single(field, dice)})
    return _single(field, dice)


def _single(field: Field, dice: Dice) -> Any:
    if field.type is bool:
        return dice.of((True, False))
    return dice.of(field.options or ("Recycle", "Keep", ""))


def fulfilled(kinds: Kinds, wishes: list[bytes]) -> History:
    """The history in which each wish came true in turn."""
    history = History(kinds)
    for wish in wishes:
        history.take(wished(history, wish))
    return history


def wishes(least: int = 20, most: int = 90) -> st.SearchStrategy[list[bytes]]:
    return st.lists(st.binary(min_size=24, max_size=24), min_size=least, max_size=most)


def histories(kinds: Kinds) -> st.SearchStrategy[History]:
    return wishes().map(lambda found: fulfilled(kinds, found))


def hold(law: Callable[[T], None], strategy: st.SearchStrategy[T], effort: str) -> None:
    """Let Hypothesis look for an example that breaks the law."""

    def broken(example: T) -> None:
        law(example)

    broken.__name__ = broken.__qualname__ = law.__name__
    EFFORTS[effort](given(strategy)(broken))()
