"""Reads a part of an archive, and its index: their bytes are those that the manifest names.

Belongs here: opening both, what a part may unfold to, where its records lie. Does not: the checksum of a file
(`store`), comparing all that a part holds with the manifest (`check`).
"""

from pathlib import Path

from phaseline.engine.replay.archive.manifest import PartEntry
from phaseline.engine.replay.archive.store import ArchiveStore
from phaseline.engine.replay.log_bytes import FREE, RATIO
from phaseline.engine.replay.log_file import LogFile
from phaseline.engine.replay.log_format import RecordItem
from phaseline.schemas.errors import BadArchive, BadLogFile


def part_file(store: ArchiveStore, part: PartEntry) -> LogFile:
    """The file of a part; raises `BadArchive` if it is not the one that was written."""
    try:
        opened = store.opened(part.name, part.bytes, part.sha256)
        file = LogFile(Path(part.name), max(FREE, RATIO * part.bytes), opened)
    except BadArchive as error:
        raise store.failed(f"{error.problem}{places(part)}") from None
    except BadLogFile as error:
        raise store.failed(f"{error}{places(part)}") from None
    if (file.header.first, file.header.last) != (part.first, part.last):
        raise store.failed(f"{part.name}: it holds the events {file.header.first} to {file.header.last}")
    return file


def places(part: PartEntry) -> str:
    """Of which places an error about a part is, to say so behind it."""
    return f" (places {part.lowest} to {part.highest} of the log)" if part.records else ""


def index_of(store: ArchiveStore, part: PartEntry) -> bytes:
    """The index of a part that has one; raises `BadArchive` if it is not what was written."""
    with store.opened(part.index_name, part.index_bytes, part.index_sha256) as file:
        return file.read(part.index_bytes)


class RecordSpan:
    """The first and the last record of a part, each as place and time; (0, 0) without records.

    spread: by how many places, at most, a record stands behind one with a higher place.
    """

    def __init__(self) -> None:
        """No record yet."""
        self.first = self.last = (0, 0)
        self.spread = 0

    def take(self, item: RecordItem) -> None:
        """Take the next record."""
        found = (item.place, item.time_ns)
        self.first = min(self.first, found) if self.last[0] else found
        self.last = max(self.last, found)
        self.spread = max(self.spread, self.last[0] - item.place)

    def fits(self, part: PartEntry) -> bool:
        """Whether the manifest says the same of the part."""
        said = (part.lowest, part.earliest), (part.highest, part.latest)
        return said == (self.first, self.last) and part.spread in (-1, self.spread)
