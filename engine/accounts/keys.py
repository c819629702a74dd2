"""The nkeys of users: made, kept in files that only their owner can read, and found again.

Belongs here: `UserKeys`. The only importer of `nkeys`. Does not: what a key allows (`roles`).
"""

import os
import secrets
from pathlib import Path

from phaseline.engine.errors import KeyUnreadable
from phaseline.schemas import libraries

with libraries.needed("nkeys", "keys of NATS users"):
    import nkeys  # type: ignore[import-untyped]  # it ships no types


class UserKeys:
    """A folder with one seed per user, `<user>.nk`. A key that exists is kept, so users can be added later."""

    def __init__(self, folder: Path) -> None:
        """Nothing is written before `public`."""
        self.folder = folder

    def file(self, user: str) -> Path:
        """The file with the seed of a user."""
        return self.folder / f"{user}.nk"

    def public(self, user: str) -> str:
        """The public key of a user, who gets a new key if there is none; raises `KeyUnreadable`."""
        path = self.file(user)
        try:
            if not path.exists():
                self._make(path)
            pair = nkeys.from_seed(path.read_bytes().strip())
            key: str = pair.public_key.decode()
        except (OSError, ValueError, nkeys.NkeysError) as error:
            raise KeyUnreadable(path=path, cause=str(error)) from error
        if not key.startswith("U"):
            raise KeyUnreadable(path=path, cause=f"it holds the key {key}, which is no user's: those begin with U")
        return key

    def _make(self, path: Path) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        seed = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(seed + b"\n")
