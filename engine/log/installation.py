"""An installation: a connection, the names of its streams, and the tables of its kinds.

Belongs here: `Installation`, what follows from these three alone, the server's clock, and what an archive gives to the
readers of a log. Does not: reading or writing streams, finding the streams (`nats.streams`), an archive of files
(`replay.archive.open_archive`).
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from phaseline.engine.log.when import Moment, Time
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import PACING, Pacing
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.records import Transition, nanoseconds
from phaseline.schemas.subjects import Subjects, partition_of_id

if TYPE_CHECKING:
    from phaseline.engine.core.tree import Tree


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


class Installation(msgspec.Struct, frozen=True):
    """A connection, the layout of the streams, and the kinds. Every read and write needs these three.

    archive: the past of the log, which readers of the past read with it, if they were given one. pacing: of a worker.
    """

    wire: Wire
    layout: Layout
    kinds: Kinds
    archive: LogArchive | None = None
    pacing: Pacing = PACING

    @property
    def prefix(self) -> str:
        """The first word of all subjects of this installation."""
        return self.layout.prefix

    @property
    def subjects(self) -> Subjects:
        """The subjects of this installation."""
        return Subjects(self.layout.prefix)

    @property
    def scripts(self) -> ScriptRunner:
        """The runner of users' scripts."""
        from phaseline.engine.scripts.runner import shared_runner  # noqa: PLC0415  # who only reads states runs none

        return shared_runner()

    def partition_of(self, entity_id: str) -> int:
        """The partition of the tree of this entity: it decides the tree, and stands in the subjects of its messages."""
        return partition_of_id(entity_id, self.layout.partitions)

    async def server_time(self) -> int:
        """The server's clock, ns. Raises `ApiFailed`, `NoAnswer`."""
        return nanoseconds((await self.wire.api(f"STREAM.INFO.{self.layout.events}"))["ts"])

    def tree(self) -> "Tree":
        """An empty tree for entities of these kinds."""
        from phaseline.engine.core.tree import Tree  # noqa: PLC0415  # who only reads states has none

        return Tree(self.kinds, self.scripts)
