"""Decides events at given times, and fires timers as the server would.

Belongs here: the clock. Does not: the tests that use it.
"""

from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.surfaces.testing.timers import stored_timer
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

    def say(self, at: float, kind: str, trigger: str, entity_id: str, /, **data: object) -> None:
        body = {
            "specversion": "1.0",
            "id": f"e{self.number}",
            "source": "/t",
            "type": f"{kind}.{trigger}",
            "data": data,
        }
        subject = self.processor.subjects.event(kind, trigger, entity_id).replace("pl.events", "pl.inbox.0")
        self.store(int(at * SECOND), subject, codec.encode(body))

    def store(self, time: int, subject: str, body: bytes) -> list[Message]:
        """Decide an event that the server stores at `time` (ns), and return the messages of its batch."""
        self.number += 1
        messages = self.processor.process([StoredEvent(subject, body, self.number, time)], 0).messages
        for message in messages:
            headers = dict(message.headers)
            if "Nats-Schedule-Next" in headers:
                self.timers.pop(headers["Nats-Scheduler"], None)
            if message.subject.startswith("pl.timer."):
                self.timers[message.subject] = message
        return messages

    def until(self, end: int) -> list[list[Message]]:
        """Fire all schedules that are due until `end` (ns), in order, also those that are set meanwhile."""
        batches = []
        while self.timers and (first := min(self.timers, key=self._order)) and self._order(first)[0] <= end:
            timer = self.timers.pop(first)
            batches.append(self.store(due_of(timer), stored_timer(target_of(timer)), timer.body))
        return batches

    def _order(self, subject: str) -> tuple[int, str, str, str]:
        """By due time; those that are due together by kind, id and facet. A server may fire these in any order."""
        event = codec.decode(self.timers[subject].body)
        kind, _, entity_id = event["subject"].partition("/")
        return due_of(self.timers[subject]), kind, entity_id, event["data"]["facet"]

    def fire(self, at: float) -> None:
        """Fire the only schedule that stands, as the server would. It stands until its row sets or cancels it."""
        [timer] = self.timers.values()
        self.store(int(at * SECOND), stored_timer(target_of(timer)), timer.body)

    @property
    def due(self) -> list[float]:
        return [due_of(timer) / SECOND for timer in self.timers.values()]

    def shown(self, kind: str, entity_id: str, facet: int = 0) -> str:
        return str(self.processor.tree.entities[kind][entity_id].facets[facet].state)


def due_of(timer: Message) -> int:
    return nanoseconds(dict(timer.headers)["Nats-Schedule"].removeprefix("@at "))


def target_of(timer: Message) -> str:
    return dict(timer.headers)["Nats-Schedule-Target"]
