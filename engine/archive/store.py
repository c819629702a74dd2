"""Where an archive is: its manifest and its parts, whatever stores them.

Belongs here: what every store does, the choice of one by its name. Does not: the stores themselves (`folder`,
`bucket`), what manifest and parts hold (`manifest`, `write_parts`).
"""

import hashlib
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path

from phaseline.engine.archive import manifest
from phaseline.engine.archive.manifest import Manifest
from phaseline.schemas.errors import BadArchive

PIECE = 1 << 20


class ArchiveStore(ABC):
    """An archive somewhere. All methods raise `BadArchive` where the store fails."""

    name = ""
    """Where it is, for messages."""
    mark = ""
    """What the names of the parts of this run end in, where two runs could write at the same time."""

    def manifest(self) -> Manifest | None:
        """The manifest; None if there is none yet."""
        body = self._manifest()
        return None if body is None else manifest.decode(body, self.name)

    def existing_manifest(self) -> Manifest:
        """The manifest; raises `BadArchive` if there is none."""
        found = self.manifest()
        if found is None:
            problem = f"it has no {manifest.NAME}: name one that `phaseline archive` has filled"
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
    def part(self, name: str) -> Path:
        """A file of this machine with what the store holds of a part."""

    @abstractmethod
    def keep(self, name: str) -> None:
        """Store the part that was written. What is read of it afterwards comes from the store."""

    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Keep other runs out, where the store can."""

    def digest(self, name: str) -> tuple[int, str]:
        """The size of a part, and its SHA-256."""
        digest = hashlib.sha256()
        try:
            with self.part(name).open("rb") as file:
                while piece := file.read(PIECE):
                    digest.update(piece)
                return file.tell(), digest.hexdigest()
        except OSError as error:
            raise self.failed(error.strerror or str(error)) from None

    def failed(self, problem: str) -> BadArchive:
        """The error for what went wrong."""
        return BadArchive(name=self.name, problem=problem)
