"""The differences between two moments, made from the records between them.

Belongs here: comparing each entity at the two moments, counting its records. Does not: reading records (`log_records`).
The records between the moments suffice: each has the state before it, and the whole entity after it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import CONTACT, Rejection, State, Transition, states_of, utc
from phaseline.schemas.subjects import natural

GONE = (ABSENT, DELETED)
What = Literal["created", "gone", "changed", "same again", "came and went"]


@dataclass(slots=True)
class Change:
    """One entity between two moments. `before` and `after` hold the states of its facets; None if it was unknown.

    transitions: the number of its transitions. flaps: how often a facet returned to a phase that it had left.
    """

    kind: str
    id: str
    before: dict[str, State] | None
    after: dict[str, State]
    transitions: int = 0
    flaps: int = 0
    first_ns: int = 0
    last_ns: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Its attributes after its last transition."""
    seen: dict[str, set[str]] = field(default_factory=dict, repr=False)
    """Per facet, the phases that it was in. The phase at the first moment counts too."""

    @property
    def first(self) -> datetime:
        """The time of its first transition."""
        return utc(self.first_ns)

    @property
    def last(self) -> datetime:
        """The time of its last transition."""
        return utc(self.last_ns)

    @property
    def what(self) -> What:
        """A short description of the change."""
        was, is_there = self.before is not None and _exists(self.before), _exists(self.after)
        if was != is_there:
            return "created" if is_there else "gone"
        if not was:
            return "came and went"
        return "same again" if self.before == self.after else "changed"

    def take(self, record: Transition) -> None:
        """Add the entity's next record."""
        self.transitions += 1
        self.last_ns = record.time_ns
        self.after = states_of(record.entity)
        self.attributes = record.entity.attributes
        self.flaps += returns(self.seen, record)


def returns(seen: dict[str, set[str]], record: Transition) -> bool:
    """Whether a facet returns by a record to a phase that it had left. seen: per facet, those that it was in."""
    before, after = record.before, record.after.phase
    phases = seen.get(record.facet)
    if phases is None:
        phases = seen[record.facet] = set() if before is None else {before.phase}
    if before is not None and before.phase == after:
        return False
    is_back = after in phases
    phases.add(after)
    return is_back


class Changes:
    """Collects the changes of all entities between two moments."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], Change] = {}

    def take(self, record: Transition | Rejection) -> None:
        """Add the next record. Rejections change nothing."""
        if isinstance(record, Rejection):
            return
        entity = record.entity
        key = entity.kind, entity.id
        change = self.found.get(key)
        if change is None:
            change = self.found[key] = Change(*key, _before(record), {}, 0, 0, record.time_ns)
        change.take(record)

    def sorted(self) -> list[Change]:
        """All changes, ids in natural order."""
        return sorted(self.found.values(), key=lambda change: (natural(change.id), change.kind))


def _before(record: Transition) -> dict[str, State] | None:
    """The entity's states before its first record. Only one facet moves in a record; the others are as after it."""
    if record.before is None:
        return None
    return {**states_of(record.entity), record.facet: record.before}


def _exists(states: dict[str, State]) -> bool:
    for name, state in states.items():  # noqa: SIM110  # two thirds of the time of `any`
        if state.phase not in GONE and name != CONTACT:
            return True
    return False
