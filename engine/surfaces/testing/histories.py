"""Histories without a server: events as bytes, decided one after another on a tree, with all their records.

Belongs here: choosing the kinds, making events, deciding them. Does not: random events (`random_events`), the laws
(`laws`).
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from phaseline.engine.core import intake
from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.process import Processor
from phaseline.engine.core.rejections import legal_triggers
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import Table
from phaseline.schemas import codec
from phaseline.schemas.records import NONE, SECOND, Cause, Record, Rejection
from phaseline.schemas.subjects import Subjects

SUBJECTS = Subjects("pl")

KindsLike = Kinds | Table | Iterable[Table] | None
"""The kinds of a test: compiled kinds, a table, several tables, or None for all installed kinds."""


def kinds_of(given: KindsLike) -> Kinds:
    """The kinds that a test is about. Tables that belong to built-in kinds are added to these; others stand alone.

    A table replaces a built-in table of the same kind. Raises `WrongTable`.
    """
    if isinstance(given, Kinds) and given.products is not None:
        return given
    from phaseline.machines.built_in import BUILT_IN, PRODUCTS, installed  # noqa: PLC0415  # the kernel has none

    if given is None:
        return installed()
    if isinstance(given, Kinds):
        return given.guarded_by(PRODUCTS)
    tables = (given,) if isinstance(given, Table) else tuple(given)
    own = {table.kind for table in tables}
    built_in = {table.kind for table in BUILT_IN}
    if own.isdisjoint(built_in) and all(table.parent is None or table.parent in own for table in tables):
        return Kinds(tables, products=PRODUCTS)
    return Kinds((*(table for table in BUILT_IN if table.kind not in own), *tables), BUILT_IN, products=PRODUCTS)


class Sent(NamedTuple):
    """An event as the stream EVENTS stores it."""

    subject: str
    body: bytes


class HistoryStep(NamedTuple):
    """One event of a history: its bytes, its arrival or rejection, and its records."""

    sent: Sent
    read: Arrival | Rejection
    records: list[Record]

    @property
    def accepted(self) -> bool:
        """Whether the event was not rejected. Items that a snapshot leaves out do not count."""
        return not (self.records and isinstance(self.records[0], Rejection)) and not self.is_repeat

    @property
    def is_repeat(self) -> bool:
        """Whether the event was refused because it is older than what came before."""
        return any(isinstance(one, Rejection) and one.reason == "repeat" for one in self.records)

    def __repr__(self) -> str:
        if isinstance(self.read, Rejection):
            return f"{self.sent.subject}: rejected as {self.read.reason}"
        numbered = "" if self.read.sequence is None else f" #{self.read.sequence}"
        data = f" {dict(self.read.data)}" if self.read.data else ""
        where = f"{self.read.kind} {self.read.trigger} {self.read.id}{data}{numbered} from {self.read.cause.source}"
        return f"{where}: {self.result}"

    @property
    def result(self) -> str:
        """The answer to the event, in a few words."""
        reason = next((record.reason for record in self.records if isinstance(record, Rejection)), None)
        if reason is not None:
            return f"rejected as {reason}"
        return f"{len(self.records)} record{'' if len(self.records) == 1 else 's'}"


@dataclass
class History:
    """The events decided so far, and the tree after them."""

    kinds: Kinds
    tree: Tree = field(init=False)
    steps: list[HistoryStep] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tree = Tree(self.kinds, shared_runner())

    def __repr__(self) -> str:
        count = len(self.steps)
        return "\n".join([f"{count} event{'' if count == 1 else 's'}:", *(f"  {step}" for step in self.steps)])

    def read(self, sent: Sent, position: int | None = None) -> Arrival | Rejection:
        """The arrival or rejection of an event that is stored next, or at `position`."""
        position = position or len(self.steps) + 1
        return intake.read(self.kinds, SUBJECTS, sent.subject, sent.body, position, position * SECOND + 123)

    def decide(self, sent: Sent, position: int | None = None) -> HistoryStep:
        """Decide an event that is stored next, or at `position`, without changing the tree."""
        read = self.read(sent, position)
        return HistoryStep(sent, read, [read] if isinstance(read, Rejection) else decide(self.tree, read).records)

    def legal(self, kind: str, entity_id: str) -> list[str]:
        """The triggers that the entity would take with the next event."""
        position = len(self.steps) + 1
        cause = Cause(position, "", "", "event")
        return legal_triggers(self.tree, Arrival(kind, "", entity_id, NONE, cause, None, position * SECOND + 123))

    def take(self, sent: Sent, position: int | None = None) -> HistoryStep:
        """Decide an event that is stored next, or at `position`, and change the tree."""
        step = self.decide(sent, position)
        for record in step.records:
            evolve(self.tree, record)
        self.steps.append(step)
        return step


def stored(subject: str) -> str:
    """The subject under which the server stores an event, in partition 0."""
    return SUBJECTS.inbox(0).removesuffix(">") + subject.removeprefix(f"{SUBJECTS.prefix}.events.")


_ids = itertools.count(1)


def event(kind: str, trigger: str, entity_id: str, data: dict[str, Any] | None = None, **more: Any) -> Sent:
    """An event as the server stores it, with an id of its own. `more`: other attributes of its envelope."""
    body = {
        "specversion": "1.0",
        "id": f"e{next(_ids)}",
        "source": "/t",
        "type": f"{kind}.{trigger}",
        "data": data or {},
        **more,
    }
    return Sent(stored(SUBJECTS.event(kind, trigger, entity_id)), codec.encode(body))


def answer(tree: Tree, sent: Sent, position: int, time: int) -> list[Record]:
    """The records with which a worker answers an event that is stored at `position` and `time` (ns).

    Changes the tree. Raises what a rule raises: a worker rejects such an event as a fault.
    """
    decision = Processor(tree, SUBJECTS, 0).answer(StoredEvent(sent.subject, sent.body, position, time))
    if decision.fault is not None:
        raise decision.fault
    for record in decision.records:
        evolve(tree, record)
    return decision.records


def play(kinds: Kinds, events: Iterable[Sent]) -> History:
    """The history of these events."""
    history = History(kinds)
    for sent in events:
        history.take(sent)
    return history
