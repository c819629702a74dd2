"""Where an archive is: its manifest and its parts, whatever stores them.

Belongs here: what every store does. Does not: the stores themselves (`folder`,
`bucket`), what manifest and parts hold (`manifest`, `write_parts`).
"""

import hashlib
import io
import os
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from phaseline.engine.replay.archive import manifest
from phaseline.engine.replay.archive.manifest import Manifest
from phaseline.schemas.errors import BadArchive


class ArchiveStore(ABC):
    """An archive somewhere. All methods raise `BadArchive` where the store fails."""

    name = ""
    """Where it is, for messages."""
    mark = ""
    """What the names of the parts of this run end in, where two runs could write at the same time."""

    def __init__(self) -> None:
        self._verified: dict[str, tuple[tuple[int, ...], int, str]] = {}
        """The files whose bytes were read and are right, with what they were right for."""

    def manifest(self) -> Manifest | None:
        """The manifest; None if there is none yet."""
        body = self._manifest()
        return None if body is None else manifest.decode(body, self.name)

    def existing_manifest(self) -> Manifest:
        """The manifest; raises `BadArchive` if there is none."""
        found = self.manifest()
        if found is None:
            problem = f"it has no {manifest.NAME}: name one that `phaseline log archive` has filled"
            raise BadArchive(name=self.name, problem=problem)
        return found

    @abstractmethod
    def _manifest(self) -> bytes | None:
        """The bytes of the manifest; None if there is none yet."""

    @abstractmethod
    def write(self, content: Manifest) -> None:
        """Put a manifest in the place of the former one, as one step. All parts it names must be kept."""

    @abstractmethod
    def draft(self, name: str) -> Path:
        """A file of this machine to write a part to."""

    @abstractmethod
    def _open(self, name: str, most: int | None) -> io.BufferedReader:
        """What the store holds of a part, as a regular file of this machine; raises `OSError`, `BadArchive`.

        most: how many bytes it may have; None for what this run has written.
        """

    @abstractmethod
    def keep(self, name: str) -> None:
        """Store the part that was written. What is read of it afterwards comes from the store."""

    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Keep other runs out, where the store can."""

    def digest(self, name: str) -> tuple[int, str]:
        """The size of a part, and its SHA-256."""
        try:
            with self._open(name, None) as file:
                return _digest(file)
        except OSError as error:
            raise self._unread(name, error) from None

    def unread(self, name: str, size: int) -> io.BufferedReader:
        """A part of which the reader checks each piece by itself (`read_part.read_block`); raises `BadArchive`."""
        try:
            return self._open(name, size)
        except OSError as error:
            raise self._unread(name, error) from None

    def opened(self, name: str, size: int, sha256: str) -> io.BufferedReader:
        """A part or an index to read, whose bytes are those that the manifest names; raises `BadArchive` if not.

        They are read for that once; later only if the file is no longer the one that was read.
        """
        with ExitStack() as stack:
            try:
                file = stack.enter_context(self._open(name, size))
                known = (_identity(file), size, sha256)
                is_right = self._verified.get(name) == known or _digest(file) == (size, sha256)
                file.seek(0)
            except OSError as error:
                raise self._unread(name, error) from None
            if not is_right:
                self._refuse(name)
                raise self.failed(f"{name}: its bytes are not those that were written")
            self._verified[name] = known
            stack.pop_all()
        return file

    def _refuse(self, name: str) -> None:  # noqa: B027  # a folder has no copies
        """Keep no copy of what is not right."""

    def _unread(self, name: str, error: OSError) -> BadArchive:
        return self.failed(f"{name}: {error.strerror or error}")

    def failed(self, problem: str) -> BadArchive:
        """The error for what went wrong."""
        return BadArchive(name=self.name, problem=problem)


def _digest(file: io.BufferedReader) -> tuple[int, str]:
    """The size of a file, and its SHA-256."""
    digest = hashlib.file_digest(file, "sha256")
    return file.tell(), digest.hexdigest()


def _identity(file: io.BufferedReader) -> tuple[int, ...]:
    """What changes when a file is another one, or is written to."""
    found = os.fstat(file.fileno())
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
