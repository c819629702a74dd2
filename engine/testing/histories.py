"""Histories without a server: events as bytes, decided one after another over a tree, everything they did remembered.

Belongs here: which kinds, making events, playing them. Does not: random ones (`wishes`), what must hold of them (`laws`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from phaseline.engine.core import intake
from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.built_in import BUILT_IN, installed
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import Table
from phaseline.schemas import codec
from phaseline.schemas.records import SECOND, Record, Rejection
from phaseline.schemas.subjects import Subjects

SUBJECTS = Subjects("pl")

Offered = Kinds | Table | Iterable[Table] | None
"""How a test names kinds: compiled ones, a table, several, or None for all that are installed."""


def kinds_of(offered: Offered) -> Kinds:
    """The kinds that a test is about. Tables that have to do with the built-in ones are put among them, others stand alone.

    A table takes the place of a built-in one of the same name. Raises `WrongTable`.
    """
    if offered is None:
        return installed()
    if isinstance(offered, Kinds):
        return offered
    tables = (offered,) if isinstance(offered, Table) else tuple(offered)
    own = {table.kind for table in tables}
    shipped = {table.kind for table in BUILT_IN}
    if own.isdisjoint(shipped) and all(table.parent is None or table.parent in own for table in tables):
        return Kinds(tables)
    return Kinds((*(table for table in BUILT_IN if table.kind not in own), *tables))


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
        """Whether nothing refused it."""
        return not any(isinstance(record, Rejection) for record in self.records)

    def __repr__(self) -> str:
        if isinstance(self.read, Rejection):
            return f"{self.sent.subject}: rejected as {self.read.reason}"
        numbered = "" if self.read.sequence is None else f" #{self.read.sequence}"
        said = f" {dict(self.read.data)}" if self.read.data else ""
        where = f"{self.read.kind} {self.read.trigger} {self.read.id}{said}{numbered} from {self.read.cause.source}"
        return f"{where}: {self.came}"

    @property
    def came(self) -> str:
        """What came of it, in a few words."""
        refused = next((record.reason for record in self.records if isinstance(record, Rejection)), None)
        if refused is not None:
            return f"rejected as {refused}"
        return f"{len(self.records)} record{'' if len(self.records) == 1 else 's'}"


@dataclass
class History:
    """Events decided so far, and the tree they led to."""

    kinds: Kinds
    tree: Tree = field(init=False)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = Tree(self.kinds, shared_runner())

    def __repr__(self) -> str:
        count = len(self.steps)
        return "\n".join([f"{count} event{'' if count == 1 else 's'}:", *(f"  {step}" for step in self.steps)])

    def read(self, sent: Sent, place: int | None = None) -> Arrival | Rejection:
        """What the intake reads when `sent` is stored next, or at that place of the stream."""
        place = place or len(self.steps) + 1
        return intake.read(self.kinds, SUBJECTS, sent.subject, sent.body, place, place * SECOND + 123)

    def decide(self, sent: Sent, place: int | None = None) -> Step:
        """What `sent` would make, nothing changed yet."""
        found = self.read(sent, place)
        return Step(sent, found, [found] if isinstance(found, Rejection) else decide(self.tree, found).records)

    def take(self, sent: Sent, place: int | None = None) -> Step:
        """Decide `sent`, stored next or at that place of the stream, and let it take effect."""
        step = self.decide(sent, place)
        for record in step.records:
            evolve(self.tree, record)
        self.steps.append(step)
        return step


def stored(subject: str) -> str:
    """The subject of an event as the server stores it, whatever the partition."""
    return SUBJECTS.inbox(0).removesuffix(">") + subject.removeprefix(f"{SUBJECTS.prefix}.events.")


def event(kind: str, trigger: str, entity_id: str, data: dict[str, Any] | None = None, **more: Any) -> Sent:
    """An event as the server stores it; `more`: other attributes of its envelope."""
    body = {"specversion": "1.0", "id": "e", "source": "/t", "type": f"{kind}.{trigger}", "data": data or {}, **more}
    return Sent(stored(SUBJECTS.event(kind, trigger, entity_id)), codec.encode(body))


def play(kinds: Kinds, events: Iterable[Sent]) -> History:
    """The history of these events."""
    history = History(kinds)
    for sent in events:
        history.take(sent)
    return history
