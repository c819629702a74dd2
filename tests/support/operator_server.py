"""A server in operator mode: one account with streams, whose users have credentials and may do everything there.

Belongs here: the JWTs of the operator, the accounts and the users. Does not: roles (`admin accounts` has no JWTs).
"""

import base64
import json
import secrets
import time
from pathlib import Path
from typing import Any

import nkeys  # type: ignore[import-untyped]  # it ships no types

from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.settings import Settings

Key = Any
UNLIMITED = dict.fromkeys(("subs", "conn", "leaf", "imports", "exports", "data", "payload"), -1) | {"wildcards": True}
STORED = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
CREDENTIALS = """\
-----BEGIN NATS USER JWT-----
{token}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
{seed}
------END USER NKEY SEED------
"""


class OperatorServer(EmbeddedServer):
    """Such a server. folder: of its users' credentials."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._operator = _key(nkeys.PREFIX_BYTE_OPERATOR)
        self._system, self._account = (_key(nkeys.PREFIX_BYTE_ACCOUNT) for _ in range(2))

    def _config(self) -> str:
        operator = {"type": "operator", "system_account": _public(self._system)}
        lines = [f"operator: {_signed(self._operator, self._operator, operator)}", "resolver: MEMORY"]
        lines += [f"system_account: {_public(self._system)}", "resolver_preload: {"]
        for key, limits in ((self._system, UNLIMITED), (self._account, UNLIMITED | STORED)):
            lines.append(f"  {_public(key)}: {_signed(self._operator, key, {'type': 'account', 'limits': limits})}")
        return super()._config() + "\n".join([*lines, "}"]) + "\n"

    def settings(self, user: str, **more: Any) -> Settings:
        """Settings of a user of that name, who gets credentials."""
        key = _key(nkeys.PREFIX_BYTE_USER)
        about = {"type": "user", "pub": {}, "sub": {}, **dict.fromkeys(("subs", "data", "payload"), -1)}
        file = self._folder / f"{user}.creds"
        file.write_text(CREDENTIALS.format(token=_signed(self._account, key, about), seed=key.seed.decode()))
        return Settings(nats=(self.url,), creds=file, **more)


def _key(prefix: int) -> Key:
    return nkeys.from_seed(nkeys.encode_seed(secrets.token_bytes(32), prefix))


def _public(key: Key) -> str:
    return str(key.public_key.decode())


def _signed(signer: Key, subject: Key, about: dict[str, Any]) -> str:
    """A JWT about `subject`."""
    claims = {"iat": int(time.time()), "iss": _public(signer), "sub": _public(subject), "nats": {**about, "version": 2}}
    text = ".".join(_encoded(json.dumps(one).encode()) for one in ({"typ": "JWT", "alg": "ed25519-nkey"}, claims))
    return f"{text}.{_encoded(signer.sign(text.encode()))}"


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
