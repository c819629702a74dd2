"""What an archive gives to the readers of a log.

Belongs here: the protocol. Does not: an archive of files (`archive.open_archive`), reading it together with the log
(`chain`).
"""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from phaseline.engine.jetstream.reader import Stored
from phaseline.engine.log.when import Moment, Time
from phaseline.schemas.records import Transition


class LogArchive(Protocol):
    """The past of a log, up to a place. All methods raise `BadArchive` for a damaged archive."""

    @property
    def name(self) -> str:
        """Where it is, for messages."""

    @property
    def place(self) -> int:
        """It has every record up to this place."""

    @property
    def time_ns(self) -> int:
        """When the last of these records was stored."""

    async def moment(self, named: int | Time) -> Moment:
        """The moment that a place or a time names, as `as_of.resolve` finds it in a log. Raises `BadArchive`."""

    async def transitions(self, filters: Sequence[str], place: int) -> list[Transition]:
        """The last transition up to a place of each entity with a transition on one of these subjects of LOG."""

    def messages(self, filters: Sequence[str], start: int | str, up_to: int) -> AsyncIterator[list[Stored]]:
        """The records on these subjects of LOG from a place or a time on, up to a place, in the order of the log."""
