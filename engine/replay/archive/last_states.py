"""The last records of all entities: what states are made of. Told by subjects alone, so that no record is decoded.

Belongs here: which entity a subject is about, or a state at the head of a part; keeping its last transition and the
mark behind it.
"""

from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

from phaseline.schemas.records import Mark, Rejection
from phaseline.schemas.subjects import quoted_id
from phaseline.schemas.templates import reading

T = TypeVar("T")
MARKED = "transition.mark.-.-."
"""The beginning of the subject of a mark, without prefix, branch and partition."""


def is_of_raw_secret(subject: str) -> bool:
    """Whether a record, by the same part of its subject, is the rejection of an event with a raw Secret."""
    return subject.startswith("rejection.") and subject.split(".", 3)[2] == "secret"


class About(NamedTuple):
    """The entity that a record is about: kind and id, as tokens. is_mark: whether the record is a mark."""

    entity: str
    is_mark: bool


def about_subject(subject: str) -> About | None:
    """The entity of a transition or a mark, by its subject without prefix, branch and partition; None for others."""
    if subject.startswith(MARKED):
        return About(subject[len(MARKED) :], is_mark=True)
    if not subject.startswith("transition."):
        return None
    _, kind, _, _, tokens = subject.split(".", 4)
    return About(f"{kind}.{tokens}", is_mark=False)


def about_state(body: bytes) -> About | None:
    """The entity of a state, by its body; None for what is of none."""
    record = reading.read(body)
    if isinstance(record, Rejection):
        return None
    return About(f"{record.entity.kind}.{quoted_id(record.entity.id)}", isinstance(record, Mark))


class LastStates(Generic[T]):
    """For each entity something of its last transition, and of its last mark if that came later."""

    def __init__(self) -> None:
        self._transitions: dict[str, T] = {}
        self._marks: dict[str, T] = {}

    def __len__(self) -> int:
        """How many entities there are."""
        return len(self._transitions)

    def take(self, subject: str, value: T) -> list[T]:
        """Take the next record; returns what it replaces. A record about no entity replaces itself."""
        found = about_subject(subject)
        return [value] if found is None else self.put(found, value)

    def put(self, found: About, value: T) -> list[T]:
        """The same for a transition or a mark of an entity."""
        replaced = [self._marks.pop(found.entity)] if found.entity in self._marks else []
        if found.is_mark:
            self._marks[found.entity] = value
            return replaced
        if found.entity in self._transitions:
            replaced.append(self._transitions[found.entity])
        self._transitions[found.entity] = value
        return replaced

    def values(self) -> Iterator[T]:
        """All that is kept, in the order of `items`."""
        return (value for _, value in self.items())

    def items(self) -> Iterator[tuple[About, T]]:
        """All that is kept: of each entity the transition first, then the mark."""
        for entity, value in self._transitions.items():
            yield About(entity, is_mark=False), value
            if entity in self._marks:
                yield About(entity, is_mark=True), self._marks[entity]
        for entity, value in self._marks.items():
            if entity not in self._transitions:
                yield About(entity, is_mark=True), value
