"""Small archives without a server: their parts, written as `replay.archive` reads them.

Belongs here: making one, reading all of it. Does not: archives of installations (`archives`), what is done to them.
"""

import hashlib
from pathlib import Path

from phaseline.engine.log.archived.note import ArchiveNote
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.manifest import Manifest, PartEntry
from phaseline.engine.replay.archive.read_part import index_of, part_file
from phaseline.engine.replay.archive.write_parts import PartDraft
from phaseline.engine.replay.log_format import EventItem, Header, RecordItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.schemas import codec

EVENT = codec.encode({"specversion": "1.0", "id": "x", "source": "/me", "type": "cluster.create"})


def made_part(folder: Path, number: int, first: int, last: int, *, blocks: bool = True) -> PartEntry:
    """A part with events, and the rejection of the last one. blocks: if not, as earlier versions wrote it."""
    if not blocks:
        return _without_blocks(folder, number, first, last)
    header = Header(prefix="pl", partitions=2, first=first, last=last, since=first, until=last, records=True)
    with LogWriter(folder / f"part-{number:06}.plog.zst", header) as log:
        part = PartDraft(log.path.name, header, log)
        for position in range(first, last + 1):
            part.put([EventItem(position, position, f"c{position}.cluster.create", EVENT)])
        part.put([RecordItem(f"rejection.cluster.illegal.c{last}", EVENT, 2 * last, last)])
        part.cut()
    return part.keep(Folder(folder))


def _without_blocks(folder: Path, number: int, first: int, last: int) -> PartEntry:
    name, index, rejection = (
        f"part-{number:06}.plog.zst",
        b"of an earlier version",
        f"rejection.cluster.illegal.c{last}",
    )
    header = Header(prefix="pl", partitions=2, first=first, last=last, since=first, until=last, records=True)
    with LogWriter(folder / name, header) as log:
        for position in range(first, last + 1):
            log.write(EventItem(position, position, f"c{position}.cluster.create", EVENT))
        log.write(RecordItem(rejection, EVENT, 2 * last, last))
    (folder / f"part-{number:06}.index").write_bytes(index)
    size, sha256 = Folder(folder).digest(name)
    return PartEntry(
        name=name, first=first, last=last, since=first, until=last, states=0, events=last - first + 1, records=1,
        bytes=size, sha256=sha256, lowest=2 * last, highest=2 * last, earliest=last, latest=last, spread=0, index_bytes=len(index),
        index_sha256=hashlib.sha256(index).hexdigest(),
    )  # fmt: skip


def made_archive(folder: Path, *, blocks: bool = True) -> Manifest:
    """An archive of two parts. blocks: if not, as earlier versions wrote it."""
    parts = [made_part(folder, 1, 1, 4, blocks=blocks), made_part(folder, 2, 5, 9, blocks=blocks)]
    found = Manifest.new("pl", 2).extended(parts, position=9, place=20, time_ns=9)
    Folder(folder).write(found)
    return found


def read_all(folder: Path, told: ArchiveNote | None = None) -> str:
    """Read an archive as its readers do, and return what it holds. told: what the log knows of it."""
    store, found = Folder(folder), list[object]()
    manifest = store.existing_manifest()
    for part in manifest.parts if told is None else manifest.noted(told, str(folder)).parts:
        found += [part, *part_file(store, part).items(), index_of(store, part)]
    return repr(found)
