"""How often something changed lately.

Belongs here: counting the changes of one entity for one rule. Does not: what follows from it (`fold`).
"""

from collections import deque

from phaseline.engine.products.notices.fold.groups import Name
from phaseline.engine.products.notices.fold.rules import Rule

SWEEP = 10_000
"""After how many changes those that are too old to count are forgotten."""


class LateChanges:
    """The late changes of entities, by rule, each with its time and place."""

    def __init__(self) -> None:
        """Nothing has changed yet."""
        self._found: dict[tuple[str, Name], deque[tuple[int, int]]] = {}
        self._noted = 0

    def note(self, rule: Rule, name: Name, time: int, place: int) -> bool:
        """Note a change, and say whether the entity is flapping."""
        flapping = rule.flapping
        if flapping is None:
            return False
        changes = self._found.setdefault((rule.name, name), deque())
        changes.append((time, place))
        while changes[0][0] <= time - flapping.within or len(changes) > flapping.changes:
            changes.popleft()
        self._noted += 1
        if self._noted % SWEEP == 0:
            self._sweep(rule, time - flapping.within)
        return len(changes) >= flapping.changes

    def first(self, rule: Rule, name: Name) -> int:
        """The place of the first change that counts."""
        return self._found[rule.name, name][0][1]

    def _sweep(self, rule: Rule, before: int) -> None:
        old = [key for key, changes in self._found.items() if key[0] == rule.name and changes[-1][0] <= before]
        for key in old:
            del self._found[key]
