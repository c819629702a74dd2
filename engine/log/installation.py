"""An installation: a connection, the names of its streams, and the tables of its kinds.

Belongs here: `Installation`, what follows from these three alone, and the server's clock. Does not: reading or writing
streams, finding the streams (`nats.streams`).
"""

from typing import TYPE_CHECKING

import msgspec

from phaseline.engine.log.archived.log_archive import LogArchive
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import PACING, Pacing
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.records import nanoseconds
from phaseline.schemas.subjects import Subjects, partition_of_id

if TYPE_CHECKING:
    from phaseline.engine.core.tree import Tree


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
