"""Places and their reporters, with a clock in seconds and timers that fire as the server's do.

Belongs here: telling what happens, looking at what came of it. Does not: the tests.
"""

from typing import Any, Self

from phaseline.engine.core import intake
from phaseline.engine.core.decide import decide
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.surfaces.testing import timers
from phaseline.engine.surfaces.testing.histories import SUBJECTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.records import SECOND, Entity, Record, Rejection
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.strategies import event


class Contacts:
    """A tree and a clock. `records`: what the last event made, or all that the last waiting made."""

    def __init__(self, kinds: Kinds = BUILT_IN_KINDS, default: float = 0.0, start: float = 1_000.0) -> None:
        """default: the seconds of `silence_after` of places without own ones."""
        self.tree, self.now, self.position = Tree(kinds, NoScripts()), start, 0
        self.tree.silence_after = default
        self.records: list[Record] = []
        self.stored_events: list[tuple[str, bytes, int, int]] = []
        self.made: list[list[Record]] = []
        self.spent: frozenset[timers.ArmedTimer] = frozenset()

    def later(self, seconds: float) -> Self:
        """Let time pass; no timer fires."""
        self.now += seconds
        return self

    def wait(self, seconds: float) -> Self:
        """Let time pass; timers that are due fire."""
        start, self.now = self.now, self.now + seconds
        waited = timers.fire_due(self.tree, self.position + 1, int(start * SECOND), int(self.now * SECOND), self.spent)
        self.records, self.position, self.spent = waited.records, waited.position, waited.spent
        return self

    def beat(self, kind: str, entity_id: str) -> Self:
        return self.say(kind, "heartbeat", entity_id)

    def say(
        self,
        kind: str,
        trigger: str,
        entity_id: str,
        *,
        sequence: int | None = None,
        at: str | None = None,
        **data: Any,
    ) -> Self:
        """Decide an event, whose id is its number. `at`: the time that its publisher gives."""
        more = {"sequence": sequence, "time": at, "id": f"e{self.position + 1}"}
        sent = event(kind, trigger, entity_id, data, **{name: each for name, each in more.items() if each is not None})
        return self.store(sent.subject, sent.body, int(self.now * SECOND))

    def store(self, subject: str, body: bytes, time: int) -> Self:
        """Decide an event that the server stores at this time, ns."""
        self.position += 1
        self.stored_events.append((subject, body, self.position, time))
        read = intake.read(self.tree.kinds, SUBJECTS, subject, body, self.position, time)
        self.records = [read] if isinstance(read, Rejection) else decide(self.tree, read).records
        for record in self.records:
            evolve(self.tree, record)
        self.made.append(self.records)
        self.decided(self.records)
        return self

    def decided(self, records: list[Record]) -> None:
        """See the records of an event."""

    def fire(self, kind: str, entity_id: str, *, late: float = 0) -> Self:
        """Store the event of the timer of `contact`, so many seconds after it was due."""
        due = self.entity(kind, entity_id).timers_ns["contact"]
        body = {
            "specversion": "1.0", "id": f"timer-contact-{due}", "source": "phaseline/pl",
            "type": f"{kind}.falls_silent", "subject": f"{kind}/{entity_id}", "data": {"facet": "contact", "due": due},
        }  # fmt: skip
        self.now = due / SECOND + late
        subject = timers.stored_timer(SUBJECTS.fired(kind, "falls_silent", entity_id))
        return self.store(subject, codec.encode(body), due + int(late * SECOND))

    def pass_time(self, seconds: float) -> Self:
        """As `wait` for the timers of `contact`, whose events are kept."""
        end = self.now + seconds
        while (first := self._first()) and first[0] <= end * SECOND:
            self.fire(*first[1:])
        self.now = end
        return self

    def outage(self, seconds: float) -> Self:
        """Let the server be away: it stores at the end what was due meanwhile."""
        end = self.now + seconds
        while (first := self._first()) and first[0] <= end * SECOND:
            self.fire(*first[1:], late=end - first[0] / SECOND)
        self.now = end
        return self

    def _first(self) -> tuple[int, str, str] | None:
        """The timer of `contact` that is due next: when, and whose."""
        found = (
            (due, kind, entity.id)
            for kind, entities in self.tree.entities.items()
            for entity in entities.values()
            if (due := entity.timers_ns.get("contact")) is not None
        )
        return min(found, default=None)

    def entity(self, kind: str, entity_id: str) -> Entity:
        return self.tree.entities[kind][entity_id]

    def state(self, kind: str, entity_id: str) -> str:
        """The state of the first facet."""
        return str(self.entity(kind, entity_id).facets[0].state)

    def contact(self, kind: str, entity_id: str) -> str:
        return self.entity(kind, entity_id).facets[-1].state.phase

    def stored(self, kind: str, entity_id: str) -> dict[str, Any]:
        """The facets as a record holds them."""
        facets: dict[str, Any] = wire_codec.entity_map(self.entity(kind, entity_id))["facets"]
        return facets

    def next_silence(self, kind: str, entity_id: str) -> float | None:
        """When the place falls silent if nothing is heard any more."""
        due = self.entity(kind, entity_id).timers_ns.get("contact")
        return None if due is None else due / SECOND

    def states(self, but: str = "") -> dict[str, list[str]]:
        """The states and bases of all entities, without the facet `but`."""
        return {
            f"{kind} {entity_id}": [
                f"{facet.state} {facet.base}"
                for name, facet in zip(entity.names, entity.facets, strict=True)
                if name != but
            ]
            for kind, found in self.tree.entities.items()
            for entity_id, entity in found.items()
        }


def snapshot(life: Contacts, *items: dict[str, object]) -> Contacts:
    sent = event("cluster", "snapshot", "c", {"kind": "node", "items": list(items)})
    return life.store(sent.subject, sent.body, int(life.now * SECOND))
