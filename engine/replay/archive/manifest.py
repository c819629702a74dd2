"""The manifest of an archive: which files belong to it, what they hold, and up to where it reaches.

Belongs here: its fields and its bytes. Does not: where it is stored (`store`), checking the files (`check`).
A file that the manifest does not name is no part of the archive. The manifest is written last.
"""

import hashlib
import secrets
from itertools import pairwise
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from phaseline.engine.log.archived.note import ArchiveNote
from phaseline.schemas import codec
from phaseline.schemas.errors import BadArchive

FORMAT = 2
"""Since 2 parts may have blocks."""
NAME = "manifest.json"
INDEX = ".index"
"""How the name of an index ends: `part-000001.index`."""
LARGEST = 1 << 26
"""The most bytes of a manifest: those of some 100,000 parts."""
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
"""The name of a file of the archive: it names nothing outside of it."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
BOUND = (
    "name", "first", "last", "since", "until", "states", "events", "records", "bytes", "sha256",
    "lowest", "highest", "earliest", "latest", "spread", "index_bytes", "index_sha256",
)  # fmt: skip
"""The fields of a part that the log's own note vouches for (`Manifest.digest`), in each version."""


class PartEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One file. `first`, `last`: the positions of its range of events; `since`, `until`: the times of these events, ns.

    states, events, records: how many it holds. bytes, sha256: of the file as it is stored.
    lowest, highest: the places of its first and its last record; 0 without records. earliest, latest: when these were
    stored, ns. spread: by how many places, at most, a record stands behind one with a higher place; -1 if that is not
    known. index_bytes, index_sha256: of the file `index_name`; 0 if there is none. blocks: of how many it is made; 0 in
    parts of earlier versions (`part_index`).
    """

    name: Name
    first: Count
    last: Count
    since: Count
    until: Count
    states: Count
    events: Count
    records: Count
    bytes: Count
    sha256: str
    lowest: Count
    highest: Count
    earliest: Count
    latest: Count
    spread: int = -1
    index_bytes: Count = 0
    index_sha256: str = ""
    blocks: Count = 0

    @property
    def facts(self) -> list[Any]:
        """What the log's own note vouches for. Earlier notes know of no blocks."""
        return [*(getattr(self, name) for name in BOUND), *([self.blocks] if self.blocks else [])]

    @property
    def index_name(self) -> str:
        """The file with the index of the part (`part_index`)."""
        return self.name.partition(".")[0] + INDEX


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What an archive holds: all events up to `position`, and all records up to `place` of the log.

    archive: the name of the archive, made by chance. time_ns: when the last record up to `place` was stored.
    begins: the place from which on the states are known, if another archive has what was before; begins_ns: its time.
    missing: ranges of positions without an event that no note explains. sources: for each stream from which EVENTS
    copies, the position of its last event in the archive.
    """

    format: int = FORMAT
    archive: str
    prefix: str
    partitions: int
    position: Count = 0
    place: Count = 0
    time_ns: Count = 0
    begins: Count = 0
    begins_ns: Count = 0
    missing: list[tuple[Count, Count]] = []
    sources: dict[str, Count] = {}
    parts: list[PartEntry] = []
    log: Count = 0
    """The identity of the log of which the last parts were made; 0 in archives of earlier versions."""

    @classmethod
    def new(cls, prefix: str, partitions: int) -> "Manifest":
        """That of an empty archive."""
        return cls(archive=secrets.token_hex(6), prefix=prefix, partitions=partitions)

    def encode(self) -> bytes:
        """As the archive holds it, for people too."""
        return msgspec.json.format(msgspec.json.encode({"phaseline": "archive", **msgspec.to_builtins(self)})) + b"\n"

    def extended(self, parts: list[PartEntry], **values: Any) -> "Manifest":
        """With further parts, and other values for what they change."""
        return replace(self, format=FORMAT, parts=[*self.parts, *parts], **values)

    @property
    def ends(self) -> tuple[int, int, int]:
        """Where it ends: position, place, time."""
        return self.position, self.place, self.time_ns

    @property
    def reach(self) -> int:
        """The last place of a record that it holds. Those of some partitions reach further than `place`."""
        return max([self.place, *(part.highest for part in self.parts)])

    def up_to(self, position: int) -> list[PartEntry]:
        """The parts up to this event."""
        return [part for part in self.parts if part.last <= position]

    def digest(self, position: int) -> str:
        """What tells the parts up to this event, and where the archive begins, from all others."""
        parts = [part.facts for part in self.up_to(position)]
        whole = [self.archive, self.prefix, self.partitions, self.begins, self.begins_ns, parts]
        return hashlib.sha256(msgspec.json.encode(whole)).hexdigest()

    def note(self, by: str) -> ArchiveNote:
        """What the log is told of this archive. by: who made it."""
        digest = self.digest(self.position)
        return ArchiveNote(self.position, self.place, self.time_ns, self.archive, by, digest, self.sources)

    def noted(self, told: ArchiveNote | None, where: str) -> "Manifest":
        """What of the archive the log knows, by its last note; the streams hold everything behind that.

        Raises `BadArchive`, which names `where`, if the manifest is not the one that was noted.
        """
        if told is None:
            return replace(self, position=0, place=0, time_ns=0, missing=[], sources={}, parts=[])
        if problem := self._unlike(told):
            raise BadArchive(name=where, problem=problem)
        missing = [one for one in self.missing if one[1] <= told.position]
        sources = {**self.sources, **told.sources}
        return replace(
            self, position=told.position, place=told.place, time_ns=told.time_ns, missing=missing, sources=sources,
            parts=self.up_to(told.position),
        )  # fmt: skip

    def _unlike(self, told: ArchiveNote) -> str:
        """In what the manifest differs from what the log was told; empty if in nothing."""
        if self.place < told.place:
            return f"it ends at place {self.place}, but the log was trimmed up to {told.place} by {told.archive}"
        if self.archive != told.archive:
            other = f"what was archived up to place {told.place} is in the archive {told.archive}, this one is"
            return "" if self.begins == told.place else f"{other} {self.archive}, which begins at place {self.begins}"
        parts = self.up_to(told.position)
        ends = self.ends if self.position == told.position else told.ends
        changed = f"{NAME} is not the one that was written: the log knows the archive {told.archive} up to event"
        if (parts[-1].last if parts else 0) != told.position or ends != told.ends:
            return f"{changed} {told.position}, place {told.place}; take the files from a copy"
        if told.parts and told.parts != self.digest(told.position):
            return f"{changed} {told.position} with other files, or other facts about them; take the files from a copy"
        return ""


def decode(body: bytes, where: str) -> Manifest:
    """The inverse of `Manifest.encode`; raises `BadArchive`, which names `where`."""
    try:
        found = msgspec.convert(codec.decode_text(body), dict[str, Any])
        if found.pop("phaseline", None) != "archive":
            raise BadArchive(name=where, problem=f"{NAME} is not that of an archive")
        if (number := found.get("format", FORMAT)) > FORMAT:
            raise BadArchive(name=where, problem=f"format {number} is newer than this Phaseline can read ({FORMAT})")
        manifest = msgspec.convert(found, Manifest)
    except (msgspec.ValidationError, codec.Undecodable, TypeError) as error:
        raise BadArchive(name=where, problem=f"{NAME} cannot be read: {error}") from None
    _check_order(manifest, where)
    return manifest


def _check_order(manifest: Manifest, where: str) -> None:
    """Raise `BadArchive` unless each part begins where the one before it ends."""
    parts = manifest.parts
    for before, after in pairwise(parts):
        if after.first != before.last + 1:
            problem = f"{after.name} begins at event {after.first}, but {before.name} ends at {before.last}"
            raise BadArchive(name=where, problem=problem)
    if len({part.index_name for part in parts}) < len(parts):
        raise BadArchive(name=where, problem=f"{NAME} names a file twice")
    if parts and parts[-1].last != manifest.position:
        raise BadArchive(name=where, problem=f"its parts end at event {parts[-1].last}, not at {manifest.position}")
