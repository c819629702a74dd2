"""Nkeys: made, kept in files that only their owner can read, and found again.

Belongs here: `KeyFolder`. The only importer of `nkeys`. Does not: what a key allows (`roles`), JWTs (`operator_mode`).
"""

import os
import secrets
from pathlib import Path
from typing import Any, Literal

from phaseline.engine.errors import KeyUnreadable
from phaseline.schemas import libraries

with libraries.needed("nkeys", "keys of NATS users"):
    import nkeys  # type: ignore[import-untyped]  # it ships no types

Holder = Literal["user", "account", "operator"]
PREFIXES = {
    "user": ("U", nkeys.PREFIX_BYTE_USER),
    "account": ("A", nkeys.PREFIX_BYTE_ACCOUNT),
    "operator": ("O", nkeys.PREFIX_BYTE_OPERATOR),
}


class KeyFolder:
    """A folder with one seed per holder, `<name>.nk`. A key that exists is kept, so users can be added later."""

    def __init__(self, folder: Path, holder: Holder = "user") -> None:
        """Nothing is written before a key is needed."""
        self.folder, self.holder = folder, holder

    def file(self, name: str) -> Path:
        """The file with a seed."""
        return self.folder / f"{name}.nk"

    def public(self, name: str) -> str:
        """The public key of that name, which is made if there is none; raises `KeyUnreadable`."""
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
            if not path.exists():
                seed = nkeys.encode_seed(secrets.token_bytes(32), PREFIXES[self.holder][1])
                write_secret(path, f"{seed.decode()}\n")
            pair = nkeys.from_seed(path.read_bytes().strip())
            self._public(pair, path)
        except (OSError, ValueError, nkeys.NkeysError) as error:
            raise KeyUnreadable(path=path, cause=str(error)) from error
        return pair

    def _public(self, pair: Any, path: Path) -> str:
        key: str = pair.public_key.decode()
        letter, _ = PREFIXES[self.holder]
        if not key.startswith(letter):
            cause = f"its public key is {key}, but that of a {self.holder} begins with {letter}"
            raise KeyUnreadable(path=path, cause=cause)
        return key


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, in a folder that only its owner can enter; replaces an old one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
