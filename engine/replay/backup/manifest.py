"""What a backup holds: one file for each stream, and a manifest, which is written last.

Belongs here: the fields of the manifest, its bytes, checking the files against it. Does not: making the files
(`stream_files`).
A folder without a manifest is a backup that was not finished.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from phaseline.engine import regular_files
from phaseline.engine.replay.backup.checkpoints import SavedCheckpoint
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput

NAME = "backup.json"
LARGEST = 1 << 20
"""The most bytes of a manifest."""
PIECE = 1 << 20
"""Bytes of a file that are read at once."""
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
FileName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=255)]
"""The name of a file of the backup: it names nothing outside of it."""


class StreamEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One stream. config, state: as the server told them, and wants them back. bytes, sha256: of the file."""

    stream: str
    file: FileName
    config: dict[str, Any]
    state: dict[str, Any]
    bytes: Count
    sha256: str

    @property
    def messages(self) -> int:
        """How many messages the stream held."""
        return int(self.state.get("messages", 0))

    @property
    def last(self) -> int:
        """The number of its last message."""
        return int(self.state.get("last_seq", 0))


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup holds. streams: in the order in which they are put back.

    reached: the last place of LOG once EVENTS was backed up; EVENTS may hold timers that LOG fired up to there.
    checkpoints: those before LOG was read; None in a backup of an earlier version. log: the identity of the log.
    begun_ns, ended_ns: when it was made. made_by: who says to have made it.
    """

    prefix: str
    streams: list[StreamEntry]
    reached: Count
    checkpoints: list[SavedCheckpoint] | None = None
    log: Count = 0
    begun_ns: Count = 0
    ended_ns: Count = 0
    made_by: str = ""

    def encode(self) -> bytes:
        """As the folder holds it, for people too."""
        return msgspec.json.format(msgspec.json.encode({"phaseline": "backup", **msgspec.to_builtins(self)})) + b"\n"


def write(folder: Path, manifest: BackupManifest) -> None:
    """Finish a backup: its manifest appears whole, or not at all. Raises `OSError`."""
    draft = folder / f"{NAME}.part"
    regular_files.written(draft, manifest.encode())
    draft.replace(folder / NAME)


def read(folder: Path) -> BackupManifest:
    """The manifest of a backup; raises `InvalidInput.bad_backup`."""
    try:
        found = msgspec.convert(codec.decode_text(regular_files.read(folder, NAME, LARGEST)), dict[str, Any])
        if found.pop("phaseline", None) != "backup":
            raise bad(folder, f"{NAME} is not that of a backup")
        return msgspec.convert(found, BackupManifest)
    except FileNotFoundError:
        problem = f"it has no {NAME}: it was not finished, or is none"
    except OSError as error:
        problem = f"{NAME}: {error.strerror or error}"
    except (msgspec.ValidationError, codec.Undecodable, TypeError) as error:
        problem = f"{NAME} cannot be read: {error}"
    raise bad(folder, problem)


def check(folder: Path, manifest: BackupManifest, advance: Callable[[int], None]) -> None:
    """Read each file to its last byte; raises `InvalidInput.bad_backup`. advance: gets the numbers of bytes read."""
    for one in manifest.streams:
        digest, size = hashlib.sha256(), 0
        try:
            with regular_files.opened(folder, one.file) as file:
                while piece := file.read(PIECE):
                    digest.update(piece)
                    size += len(piece)
                    advance(len(piece))
        except OSError as error:
            raise bad(folder, f"{one.file}: {error.strerror or error}") from None
        if size != one.bytes:
            raise bad(folder, f"{one.file} has {size:,} bytes, and had {one.bytes:,}: take it from a copy")
        if digest.hexdigest() != one.sha256:
            raise bad(folder, f"{one.file} is not the file that was written: take it from a copy")


def bad(folder: Path, problem: str) -> Exception:
    """The error that a backup cannot be used."""
    return InvalidInput.bad_backup(name=folder, problem=problem)
