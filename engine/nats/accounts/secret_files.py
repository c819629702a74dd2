"""Files that only their owner can read.

Belongs here: writing them. Does not: what they hold (`keys`), checking files that exist.
"""

import os
from pathlib import Path


def write_new(path: Path, text: str) -> None:
    """Write a new file, in a folder that only its owner can enter. Raises `FileExistsError`, also for a link."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def replace_secret(path: Path, text: str) -> None:
    """As `write_new`; replaces an old file."""
    path.unlink(missing_ok=True)
    write_new(path, text)
