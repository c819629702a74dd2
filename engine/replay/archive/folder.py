"""An archive in a folder of this machine.

Belongs here: writing so that a crash leaves the former manifest or the new one, and one run at a time. Does not: what
every store does (`store`).
"""

import errno
import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phaseline.engine import regular_files
from phaseline.engine.replay.archive.manifest import LARGEST, NAME, Manifest
from phaseline.engine.replay.archive.store import ArchiveStore

LOCK = ".lock"
LOCKED = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Folder(ArchiveStore):
    """An archive in a folder."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.name = path, str(path)

    def _manifest(self) -> bytes | None:
        try:
            return regular_files.read(self.path, NAME, LARGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.failed(f"{NAME}: {error.strerror or error}") from None

    def write(self, content: Manifest) -> None:
        """See `ArchiveStore.write`."""
        try:
            regular_files.sync(self.path)
            draft = self.path / f"{NAME}.part"
            regular_files.written(draft, content.encode())
            draft.replace(self.path / NAME)
            regular_files.sync(self.path)
        except OSError as error:
            raise self.failed(error.strerror or str(error)) from None

    def draft(self, name: str) -> Path:
        """See `ArchiveStore.draft`."""
        return self.path / name

    def _open(self, name: str, most: int | None) -> io.BufferedReader:
        """See `ArchiveStore._open`."""
        file = regular_files.opened(self.path, name)
        if most is not None and os.fstat(file.fileno()).st_size > most:
            file.close()
            raise OSError(errno.EFBIG, "it is larger than the manifest says")
        return file

    def keep(self, name: str) -> None:
        """See `ArchiveStore.keep`: the part was written in its place."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if it is absent, and keep other runs out of it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.fdopen(os.open(self.path / LOCK, LOCKED, 0o666), "w")
        except OSError as error:
            raise self.failed(error.strerror or str(error)) from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise self.failed("another `phaseline log archive` is at work in it") from None
            yield
