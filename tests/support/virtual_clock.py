"""Decides events at given times, and fires timers as the server would.

Belongs here: the clock. Does not: the tests that use it.
"""

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.testing.timers import stored_timer
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.records import nanoseconds
from phaseline.schemas.subjects import Subjects

SECOND = 1_000_000_000


class Clock:
    """Events at times that the test chooses, and the last schedule of each subject."""

    def __init__(self, kinds: Kinds) -> None:
        self.processor = Processor(Tree(kinds, NoScripts()), Subjects("pl"), 0)
        self.number = 0
        self.timers: dict[str, Message] = {}

    def say(self, at: float, kind: str, trigger: str, entity_id: str, **data: object) -> None:
        body = {"specversion": "1.0", "id": "e", "source": "/t", "type": f"{kind}.{trigger}", "data": data}
        subject = self.processor.subjects.event(kind, trigger, entity_id).replace("pl.events", "pl.inbox.0")
        self._process(at, subject, codec.encode(body))

    def fire(self, at: float) -> None:
        """Fire the only schedule that stands, as the server would."""
        [timer] = self.timers.values()
        target = dict(timer.headers)["Nats-Schedule-Target"]
        self._process(at, stored_timer(target), timer.body)

    def _process(self, at: float, subject: str, body: bytes) -> None:
        self.number += 1
        for message in self.processor.process([StoredEvent(subject, body, self.number, int(at * SECOND))], 0).messages:
            headers = dict(message.headers)
            if "Nats-Schedule-Next" in headers:
                self.timers.pop(headers["Nats-Scheduler"])
            if message.subject.startswith("pl.timer."):
                self.timers[message.subject] = message

    @property
    def due(self) -> list[float]:
        return [
            nanoseconds(dict(t.headers)["Nats-Schedule"].removeprefix("@at ")) / SECOND for t in self.timers.values()
        ]

    def shown(self, kind: str, entity_id: str, facet: int = 0) -> str:
        return str(self.processor.tree.entities[kind][entity_id].facets[facet].state)
