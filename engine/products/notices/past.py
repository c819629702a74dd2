"""Rules at work on the past of an installation: what they would have told, and what damping would have kept back.

Nothing is stored, and nobody is told. Belongs here: reading the states at the beginning and the records after it,
counting what a fold tells. Does not: what rules do (`notices.fold`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from phaseline.engine.log.when import When
from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.surfaces.client.client import Client

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


async def tried(client: Client, rules: Rules, start: When, tree: str | None = None) -> TriedRules:
    """What rules would have told from a moment on. What was so before is told no more.

    tree: only this id and those below it. Raises `NameUnknown`, `InvalidInput`.
    """
    view = await client.at(start)
    end = (await client.at(None)).now_ns
    fold, result = Fold(client.kinds, rules), TriedRules(rules)
    before = [record async for record in view.unsorted(tree=tree, deleted=True)]
    result.take(fold.know(view.moment.place, before, lambda _: False))
    async with client.watch(tree=tree, start=view.moment, rejections=True, follow=False) as watch:
        while some := await watch.batch():
            for one in some:
                result.take(fold.take(one.sequence, one.record))
    result.take(fold.advance(end + 1))
    result.told.sort(key=lambda one: one.time_ns)  # what fell due last was found tree by tree
    return result
