"""Nkeys: made, kept in files that only their owner can read, and found again.

Belongs here: `KeyFolder`. The only importer of `nkeys`. Does not: what a key allows (`roles`).
"""

import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from phaseline.engine.regular_files import write_secret
from phaseline.schemas import libraries
from phaseline.schemas.errors import SetupError

with libraries.needed("nkeys", "keys of NATS users"):
    import nkeys  # type: ignore[import-untyped]  # it ships no types


class KeyFolder:
    """A folder with one seed per user, `<name>.nk`. A key that exists is kept, so users can be added later."""

    def __init__(self, folder: Path) -> None:
        """Nothing is written before a key is needed."""
        self.folder = folder

    def file(self, name: str) -> Path:
        """The file with a seed."""
        return self.folder / f"{name}.nk"

    def make(self, name: str) -> None:
        """Make the key of that name, if there is no such file."""
        path = self.file(name)
        if not path.exists():
            seed = nkeys.encode_seed(secrets.token_bytes(32), nkeys.PREFIX_BYTE_USER)
            with suppress(FileExistsError):
                write_secret(path, f"{seed.decode()}\n")

    def public(self, name: str) -> str:
        """The public key of that name, which is made if there is none; raises `SetupError.key_unreadable`."""
        return self._public(self._pair(name), self.file(name))

    def seed(self, name: str) -> str:
        """The seed of that name: a secret."""
        seed: bytes = self._pair(name).seed
        return seed.decode()

    def sign(self, name: str, message: bytes) -> bytes:
        """The signature of a message by that key."""
        signature: bytes = self._pair(name).sign(message)
        return signature

    def _pair(self, name: str) -> Any:
        path = self.file(name)
        try:
            self.make(name)
            pair = nkeys.from_seed(path.read_bytes().strip())
            self._public(pair, path)
        except OSError as error:
            raise SetupError.key_unreadable(path=path, cause=str(error)) from error
        except (ValueError, nkeys.NkeysError) as error:
            raise SetupError.key_unreadable(path=path, cause="it holds no key") from error
        return pair

    def _public(self, pair: Any, path: Path) -> str:
        key: str = pair.public_key.decode()
        if not key.startswith("U"):
            raise SetupError.key_unreadable(
                path=path, cause=f"its public key is {key}, but that of a user begins with U"
            )
        return key
