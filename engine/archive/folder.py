"""An archive in a folder of this machine.

Belongs here: writing so that a crash leaves the former manifest or the new one, and one run at a time. Does not: what
every store does (`store`).
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phaseline.engine.archive.manifest import NAME, Manifest
from phaseline.engine.archive.store import ArchiveStore

LOCK = ".lock"


class Folder(ArchiveStore):
    """An archive in a folder."""

    def __init__(self, path: Path) -> None:
        """Reads nothing yet."""
        self.path, self.name = path, str(path)

    def _manifest(self) -> bytes | None:
        try:
            return (self.path / NAME).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.failed(error.strerror or str(error)) from None

    def write(self, content: Manifest) -> None:
        """See `ArchiveStore.write`."""
        try:
            self._sync()
            draft = self.path / f"{NAME}.part"
            with draft.open("wb") as file:
                file.write(content.encode())
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self.path / NAME)
            self._sync()
        except OSError as error:
            raise self.failed(error.strerror or str(error)) from None

    def _sync(self) -> None:
        """Bring the names of the files to the disk."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def draft(self, name: str) -> Path:
        """See `ArchiveStore.draft`."""
        return self.path / name

    def part(self, name: str) -> Path:
        """See `ArchiveStore.part`."""
        return self.path / name

    def keep(self, name: str) -> None:
        """See `ArchiveStore.keep`: the part was written in its place."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if it is absent, and keep other runs out of it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / LOCK).open("w")
        except OSError as error:
            raise self.failed(error.strerror or str(error)) from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise self.failed("another `phaseline archive` is at work in it") from None
            yield
