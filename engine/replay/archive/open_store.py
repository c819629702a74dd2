"""The store that a name means: a folder, or an object store by its URL.

Belongs here: the choice. Does not: the stores (`folder`, `bucket`).
"""

from pathlib import Path

from phaseline.engine.replay.archive.bucket import Bucket
from phaseline.engine.replay.archive.folder import Folder
from phaseline.engine.replay.archive.store import ArchiveStore


def store_at(where: str) -> ArchiveStore:
    """The store of that name. Raises `BadArchive`, and `NotInstalled` if the library for object stores is missing."""
    return Bucket(where) if "://" in where else Folder(Path(where))
