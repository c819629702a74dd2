"""What happened lately: how often something changed, and which notices of a reason began.

Both forget what counts no more.
Belongs here: counting the changes of one entity for one rule, the latest notice of each reason. Does not: what follows
from them (`fold`).
"""

from collections.abc import Callable

from phaseline.engine.products.notices.fold.groups import Key, Name
from phaseline.engine.products.notices.fold.rules import Rule

SWEEP = 10_000
"""After how many changes those that are too old to count are forgotten."""


class LateChanges:
    """The late changes of entities, by rule, each with its time and place. clock: up to when an entity was followed."""

    def __init__(self, clock: Callable[[Name], int]) -> None:
        self._found: dict[str, dict[Name, tuple[tuple[int, int], ...]]] = {}
        self._within: dict[str, int] = {}
        self._noted, self._clock = 0, clock

    def note(self, rule: Rule, name: Name, time: int, place: int) -> bool:
        """Note a change, and say whether the entity is flapping."""
        flapping = rule.flapping
        if flapping is None:
            return False
        self._within[rule.name] = flapping.within
        of_rule = self._found.setdefault(rule.name, {})
        late = [one for one in of_rule.get(name, ()) if one[0] > time - flapping.within]
        of_rule[name] = found = (*late, (time, place))[-flapping.changes :]
        self._noted += 1
        if self._noted % SWEEP == 0:
            self._sweep()
        return len(found) >= flapping.changes

    def first(self, rule: Rule, name: Name) -> int:
        """The place of the first change that counts."""
        return self._found[rule.name][name][0][1]

    def _sweep(self) -> None:
        """Forget the changes of all rules that are too old, each by the clock of its entity."""
        for rule, of_rule in self._found.items():
            old = [one for one, changes in of_rule.items() if changes[-1][0] <= self._clock(one) - self._within[rule]]
            for name in old:
                del of_rule[name]


class LateReasons:
    """The latest notice of each reason, by rule, and when it began."""

    def __init__(self) -> None:
        self._latest: dict[Key, tuple[Key, int]] = {}
        self._of: dict[Key, Key] = {}

    def known(self, rule: Rule, reason: str) -> tuple[Key, int]:
        """The notice, and its begin; one that cannot be if there is none."""
        return self._latest.get((rule.name, reason), ((rule.name, ""), 0))

    def note(self, rule: Rule, reason: str, notice: Key, time: int) -> None:
        """A notice of a reason begins."""
        self._latest[rule.name, reason] = (notice, time)
        self._of[notice] = (rule.name, reason)

    def forget(self, notice: Key) -> None:
        """A notice is over, or did not begin."""
        of = self._of.pop(notice, None)
        if of is not None and self._latest[of][0] == notice:
            del self._latest[of]
