"""The folder of an archive: its manifest and its parts.

Belongs here: reading and writing them so that a crash leaves the former manifest or the new one, and one run at a time.
Does not: what they hold (`manifest`, `write_parts`).
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phaseline.engine.archive import manifest
from phaseline.engine.archive.manifest import Manifest
from phaseline.engine.archive_errors import BadArchive

LOCK = ".lock"
PIECE = 1 << 20


class Folder:
    """An archive in a folder of this machine."""

    def __init__(self, path: Path) -> None:
        """Reads nothing yet."""
        self.path = path

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return str(self.path)

    def manifest(self) -> Manifest | None:
        """The manifest; None if there is none yet. Raises `BadArchive`."""
        try:
            return manifest.decode((self.path / manifest.NAME).read_bytes(), self.name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._bad(error) from None

    def existing_manifest(self) -> Manifest:
        """The manifest; raises `BadArchive` if there is none."""
        found = self.manifest()
        if found is None:
            problem = f"it has no {manifest.NAME}: name a folder that `phaseline archive` has filled"
            raise BadArchive(name=self.name, problem=problem)
        return found

    def write(self, content: Manifest) -> None:
        """Put a manifest in the place of the former one, as one step. All parts it names must be stored."""
        try:
            self._sync()
            draft = self.path / f"{manifest.NAME}.part"
            with draft.open("wb") as file:
                file.write(content.encode())
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path / manifest.NAME)
            self._sync()
        except OSError as error:
            raise self._bad(error) from None

    def _sync(self) -> None:
        """Bring the names of the files to the disk."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def part(self, name: str) -> Path:
        """The file of a part."""
        return self.path / name

    def digest(self, name: str) -> tuple[int, str]:
        """The size of a part, and its SHA-256; raises `BadArchive` if it cannot be read."""
        digest = hashlib.sha256()
        try:
            with self.part(name).open("rb") as file:
                while piece := file.read(PIECE):
                    digest.update(piece)
                return file.tell(), digest.hexdigest()
        except OSError as error:
            raise self._bad(error) from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if it is absent, and keep other runs out of it; raises `BadArchive`."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / LOCK).open("w")
        except OSError as error:
            raise self._bad(error) from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BadArchive(name=self.name, problem="another `phaseline archive` is at work in it") from None
            yield

    def _bad(self, error: OSError) -> BadArchive:
        return BadArchive(name=self.name, problem=error.strerror or str(error))
