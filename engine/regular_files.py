"""Files whose names others have chosen, files that last, and secrets for their owner only.

Belongs here: only regular files below a folder are opened, and no more is read than agreed; how a file is written so
that it lasts. Does not: files that the user names to be read; they may be pipes.
A link may lead to another file of the folder, not out of it. A pipe, a socket or a device is never waited for.
"""

import errno
import io
import os
import stat
from pathlib import Path

FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""O_NONBLOCK: whoever opens a pipe would wait for its writer."""


def opened(folder: Path, name: str | Path) -> io.BufferedReader:
    """A file of a folder to read. Raises `OSError`, also for what is no regular file or lies outside of the folder."""
    root = folder.resolve()
    path = Path(os.path.realpath(root / name))
    if not path.is_relative_to(root):
        raise OSError(errno.EPERM, "it leads out of the folder, so it is not opened", str(name))
    handle = os.open(path, FLAGS)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is no regular file, so it is not read", str(name))
    os.set_blocking(handle, True)
    return os.fdopen(handle, "rb")


def read(folder: Path, name: str | Path, most: int) -> bytes:
    """All bytes of a file of a folder. Raises what `opened` raises, and `OSError` if they are more than `most`."""
    with opened(folder, name) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(name))
    return found


def made(path: Path) -> io.BufferedWriter:
    """A new file in the place of whatever has this name: a link there is removed, not followed. Raises `OSError`."""
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    return os.fdopen(handle, "wb")


def written(path: Path, body: bytes) -> None:
    """Write a new file, as `made` does, to the disk. Raises `OSError`."""
    with made(path) as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Bring a file, or the names of a folder, to the disk. Raises `OSError`."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_secret(path: Path, text: str) -> None:
    """Write a new file, in a folder that only its owner can enter. Raises `FileExistsError`, also for a link."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def replace_secret(path: Path, text: str) -> None:
    """As `write_secret`; replaces an old file."""
    path.unlink(missing_ok=True)
    write_secret(path, text)
