"""What rules would have told of a part of the past, and how many begins each damping would have kept back.

Belongs here: counting the events of a fold. Does not: reading the past (`engine.products.notices.past`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.rules import Rules

SAVED = ("for", "grouped", "held", "windows", "clear-after", "flapping")
"""What keeps a begin back: it did not last, it was one of many, something explained it, it was expected, it had not
been over, it came and went."""


@dataclass(slots=True)
class RuleResult:
    """What one rule would have told. told: by word. saved: how many begins were kept back, by what did it."""

    rule: str
    told: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("begin", "flapping", "reminder", "end"), 0))
    saved: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SAVED, 0))
    open: int = 0

    @property
    def messages(self) -> int:
        """How many messages each receiver would have got."""
        return sum(self.told.values())


class TriedRules:
    """Counts the events of a fold, and keeps those of which somebody would have been told."""

    def __init__(self, rules: Rules) -> None:
        """Nothing is counted yet."""
        self.results = {rule.name: RuleResult(rule.name) for rule in rules.rules}
        self.told: list[NoticeEvent] = []
        self._most: dict[str, int] = {}

    def take(self, events: Iterable[NoticeEvent]) -> None:
        """Count events."""
        for one in events:
            found = self.results[one.rule]
            if one.word:
                found.told[one.word] += 1
                self.told.append(one)
            self._count_saved(found, one)
            found.open += (one.trigger == "opened") - (one.trigger == "closed")

    def _count_saved(self, found: RuleResult, one: NoticeEvent) -> None:
        most = one.data["most"]
        if most > 1 and one.trigger != "lapsed":
            found.saved["grouped"] += max(0, most - max(self._most.get(one.id, 1), 1))
        self._most[one.id] = most
        if one.trigger == "lapsed":
            kept = "windows" if one.data["window"] else "held" if one.data["held_by"] else "for"
            found.saved[kept] += 1
        elif one.trigger == "returned":
            found.saved["flapping" if one.data["flapping"] else "clear-after"] += 1
        if one.trigger in ("lapsed", "closed", "happened"):
            self._most.pop(one.id, None)
