"""A tree to which numbered events come one by one, decided on what records keep of it.

Belongs here: deciding, counting by source. Does not: what tests expect.
"""

from collections.abc import Sequence
from typing import Any

from phaseline.engine.core.counts.outcomes import Outcomes
from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree, evolve, restore
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND, Cause, Entity, Record
from tests.support.built_in_kinds import BUILT_IN_KINDS

BEGAN = 1_772_438_400 * SECOND  # 2026-03-02T08:00:00Z


class NumberedWorld:
    """A tree, to which events come one after the other, one each second."""

    def __init__(self) -> None:
        self.tree, self.count, self.outcomes = Tree(BUILT_IN_KINDS, NoScripts()), 0, Outcomes()
        self.restored = Tree(BUILT_IN_KINDS, NoScripts())
        """The tree of a worker that takes over: all it has are the bytes of records."""

    def send(
        self, kind: str, trigger: str, entity_id: str, source: str, sequence: int | None = None, *, epoch: int = 0,
        event: str | None = None, data: dict[str, Any] | None = None,
    ) -> Sequence[Record]:  # fmt: skip
        """Decide an event, in the restored tree too, and count it."""
        self.count += 1
        cause = Cause(self.count, event or f"e{self.count}", source, "event")
        time = BEGAN + self.count * SECOND
        self.sent = Arrival(kind, trigger, entity_id, data or {}, cause, sequence, time, None, epoch)
        self.decision = decide(self.tree, self.sent)
        assert decide(self.restored, self.sent).records == self.decision.records
        for index, record in enumerate(self.decision.records):
            body = wire_codec.write(record, index, len(self.decision.records), "pl")
            restore(self.restored, body)
            evolve(self.tree, record)
        self.outcomes.add(self.sent, self.decision, BUILT_IN_KINDS)
        self.outcomes.sources.take([self.sent], self.sent.time)
        return self.decision.records

    def entity(self, kind: str, entity_id: str) -> Entity:
        found = self.tree.get(kind, entity_id)
        assert found is not None
        return found

    def shown(self, kind: str = "cluster", entity_id: str = "c1") -> str:
        return str(self.entity(kind, entity_id).facets[0].state)
