"""An archive of an installation in a simulation: the real runs, in a folder of this machine, and what it holds.

Belongs here: running `phaseline log archive`, reading the files back. Does not: when that happens (`troubles`).
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.read_part import part_file
from phaseline.engine.replay.archive.run import Archiver
from phaseline.engine.replay.log_format import EventItem, RecordItem
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import PhaselineError

PART = 8
"""Positions in a part."""
MEMORY = Path("/dev/shm")  # a folder of this process is made in it
"""Where files cost least, if this machine has it."""


class VirtualArchive:
    """The archive of one world; its folder is there from the first run to `close`."""

    def __init__(self) -> None:
        self._folder: TemporaryDirectory[str] | None = None

    @property
    def store(self) -> Folder:
        """Its files."""
        if self._folder is None:
            self._folder = TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        return Folder(Path(self._folder.name))

    async def run(self, wire: Wire, layout: Layout, kinds: Kinds) -> str:
        """Archive what is finished; what went wrong, if anything. It can be done again then."""
        store = self.store
        try:
            with store.locked():
                await Archiver(Installation(wire, layout, kinds), store, "/operator", least=PART).run("now")
        except (PhaselineError, asyncio.CancelledError) as error:
            return f"{type(error).__name__}: {error}"
        return ""

    def held(self) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """The bodies that it holds: of events by position, of records by place. Empty if it was never made."""
        events, records = dict[int, bytes](), dict[int, bytes]()
        manifest = None if self._folder is None else self.store.manifest()
        for part in () if manifest is None else manifest.parts:
            for item in part_file(self.store, part).items():
                if isinstance(item, EventItem):
                    events[item.sequence] = item.data
                elif isinstance(item, RecordItem):
                    records[item.place] = item.body
        return events, records

    def close(self) -> None:
        """Remove its files."""
        if self._folder is not None:
            self._folder.cleanup()
