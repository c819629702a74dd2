"""What an archive gives to the readers of a log.

Belongs here: the protocol. Does not: an archive of files (`replay.archive.open_archive`), reading it together with the
log (`log.log`).
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from phaseline.engine.log.when import Moment, Time
from phaseline.engine.nats.reader import Stored
from phaseline.schemas.records import Transition


class LogArchive(Protocol):
    """The past of a log, up to a place. All methods raise `BadArchive` for a damaged archive.

    Files are read in threads, one reader at a time, so that the event loop goes on.
    """

    @property
    def name(self) -> str:
        """Where it is, for messages."""

    @property
    def begins(self) -> int:
        """The place from which on it knows the states: 0 if it has the whole past."""

    @property
    def place(self) -> int:
        """It has every record up to this place."""

    @property
    def time_ns(self) -> int:
        """When the last of these records was stored."""

    async def follow(self) -> int:
        """Look up to which place the log was archived, and return it. From here on the archive reaches that place.

        Raises `BadArchive` if it does not: what is between would be missing.
        """

    async def moment(self, named: int | Time) -> Moment:
        """The moment that a place or a time names, as `as_of.resolve` finds it in a log. Raises `BadArchive`."""

    async def transitions(self, patterns: Sequence[tuple[str, str]], place: int) -> list[Transition]:
        """The last transition up to a place of each entity that a pattern selects: a kind or `*`, and tokens of ids."""

    def messages(self, filters: Sequence[str], start: int | str, up_to: int) -> AsyncIterator[list[Stored]]:
        """The records on these subjects of LOG from a place or a time on, up to a place, in the order of the log."""

    async def events(self, positions: Collection[int]) -> Mapping[int, Stored]:
        """Those of these events that it has, as EVENTS held them."""

    async def record(self, place: int) -> Stored | None:
        """The record at a place, as LOG held it; None if there is none."""
