"""The shapes of questions and answers, and their bytes.

Belongs here: what is asked of the owner of a partition, what it says of itself, where it is asked. Does not: answering
(`answering`), asking (`asking`).
"""

from hashlib import blake2b
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from phaseline.engine.log.questions.selection import Selection
from phaseline.machines.compiler.fingerprint import digest_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import root
from phaseline.schemas import codec
from phaseline.schemas.version import __version__

PATIENCE = 5.0
"""Seconds in which a worker must answer. One that does not is frozen, or has far too much to do."""


class After(NamedTuple):
    """Where a page ended: at the entity with this number, of a kind."""

    kind: str
    number: Annotated[int, msgspec.Meta(ge=0)]


class Question(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Which entities of a partition are selected at a time.

    meaning: `meaning_of` the asker, because both must understand states alike. after: where the page before ended, and
    epoch: who gave it; another owner has another order. counts: with the counts of the partition, or of one tree where
    what is selected stands below its root.
    """

    wanted: Selection
    now_ns: int
    meaning: str
    after: After | None = None
    epoch: int = 0
    counts: bool = False

    @property
    def about(self) -> str | None:
        """The kind whose tree alone has a say in the answer; None: all kinds have."""
        return None if self.counts else self.wanted.kind


class Counts(msgspec.Struct, frozen=True):
    """What a partition holds. classes: of what lives. lately: how many came to a class in the last hour.

    trees: the worst ones, each with its classes. number: how many trees there are.
    """

    classes: dict[str, int]
    lately: dict[str, int]
    trees: list[tuple[str, dict[str, int]]]
    number: int


class Name(NamedTuple):
    """An entity that is selected, as of a version."""

    kind: str
    id: str
    version: int


class OwnerAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the owner of a partition says.

    It is true of the moment when the event at `position` in EVENTS was the last one that was decided, by the owner of
    this epoch; all of it was committed then. entities: how many there are. looked: how many of them stand up to the end
    of this page. after: where the next page begins; None after the last one.
    """

    partition: int
    worker: str
    epoch: int
    position: int
    entities: int
    looked: int
    names: list[Name]
    after: After | None = None
    counts: Counts | None = None


T = TypeVar("T")


def encode(what: Question | OwnerAnswer) -> bytes:
    """The bytes of a question or an answer: JSON."""
    return codec.encode_json(msgspec.to_builtins(what))


def decode(body: bytes, shape: type[T]) -> T:
    """The inverse of `encode`; raises `ValueError`.

    What a later version adds to an answer is skipped. A question that asks for more than this version knows is refused:
    its asker reads STATE.
    """
    return msgspec.convert(codec.decode(body), shape)


def meaning_of(kinds: Kinds, kind: str | None = None) -> str:
    """What states mean to a process: its version, its tables, and the classes of signals, which no table's version has.

    kind: the only one of which entities are selected. Then the tables of its tree count: to read all of them takes a
    third of the time of such a command. Two processes with the same meaning select the same entities.
    """
    among = [one for one in kinds.values() if kind not in kinds or root(kinds, one.name) == root(kinds, str(kind))]
    signals: list[Any] = [
        (one.name, [(signal.name, signal.state_class) for signal in one.written.signal_names])
        for one in among
        if one.written.signal_names
    ]
    told = blake2b(repr(sorted(signals)).encode(), digest_size=6).hexdigest()
    tables = kinds.digest if kind not in kinds else digest_of({one.name: one.version for one in among})
    return f"{__version__} {tables} {told}"
