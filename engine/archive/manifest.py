"""The manifest of an archive: which files belong to it, what they hold, and up to where it reaches.

Belongs here: its fields and its bytes. Does not: where it is stored (`store`), checking the files (`check`).
A file that the manifest does not name is no part of the archive. The manifest is written last.
"""

import secrets
from itertools import pairwise
from typing import Any

import msgspec
from msgspec.structs import replace

from phaseline.schemas import codec
from phaseline.schemas.errors import BadArchive

FORMAT = 1
NAME = "manifest.json"
INDEX = ".index"
"""How the name of an index ends: `part-000001.index`."""


class PartEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One file. `first`, `last`: the positions of its range of events; `since`, `until`: the times of these events, ns.

    states, events, records: how many it holds. bytes, sha256: of the file as it is stored.
    lowest, highest: the places of its first and its last record; 0 without records. earliest, latest: when these were
    stored, ns. spread: by how many places, at most, a record stands behind one with a higher place; -1 if that is not
    known. index_bytes, index_sha256: of the file `index_name`; 0 if there is none.
    """

    name: str
    first: int
    last: int
    since: int
    until: int
    states: int
    events: int
    records: int
    bytes: int
    sha256: str
    lowest: int
    highest: int
    earliest: int
    latest: int
    spread: int = -1
    index_bytes: int = 0
    index_sha256: str = ""

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
    position: int = 0
    place: int = 0
    time_ns: int = 0
    begins: int = 0
    begins_ns: int = 0
    missing: list[tuple[int, int]] = []
    sources: dict[str, int] = {}
    parts: list[PartEntry] = []

    @classmethod
    def new(cls, prefix: str, partitions: int) -> "Manifest":
        """That of an empty archive."""
        return cls(archive=secrets.token_hex(6), prefix=prefix, partitions=partitions)

    def encode(self) -> bytes:
        """As the archive holds it, for people too."""
        return msgspec.json.format(msgspec.json.encode({"phaseline": "archive", **msgspec.to_builtins(self)})) + b"\n"

    def extended(self, parts: list[PartEntry], **values: Any) -> "Manifest":
        """With further parts, and other values for what they change."""
        return replace(self, parts=[*self.parts, *parts], **values)


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
    if parts and parts[-1].last != manifest.position:
        raise BadArchive(name=where, problem=f"its parts end at event {parts[-1].last}, not at {manifest.position}")
