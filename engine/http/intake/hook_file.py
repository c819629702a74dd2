"""The file of hooks: who may call each, and its program.

    hooks:
      alertmanager:
        bearer: {env: ALERTMANAGER_TOKEN}
        program: |
          .body.alerts[] | ...
      github:
        hmac: {file: /etc/phaseline/github.secret}
        header: X-Hub-Signature-256
        program: ...

Belongs here: reading the file, checking a request's token or signature. Does not: the programs (`mapping`).
"""

import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phaseline.engine.errors import BadSetting
from phaseline.engine.request_errors import HookUnknown, SignatureWrong
from phaseline.machines import yaml_text
from phaseline.schemas import libraries
from phaseline.schemas.similar import did_you_mean

SIGNATURE = "X-Hub-Signature-256"
PREFIX = "sha256="
KEYS = ("bearer", "hmac", "header", "program")


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook. secret: of its callers; None where it was not read. header: of their signature; empty: a token."""

    name: str
    program: str
    header: str
    secret: bytes | None

    def check(self, headers: Mapping[str, str], body: bytes) -> None:
        """Raise `SignatureWrong` unless the request was sent by somebody who knows the secret."""
        if self.secret is None:
            raise SignatureWrong(name=self.name, problem="its secret was not read")
        if not self.header:
            given = headers.get("authorization", "")
            token = given[7:].strip() if given[:7].lower() == "bearer " else ""
            if not hmac.compare_digest(token.encode(errors="replace"), self.secret):
                raise SignatureWrong(name=self.name, problem="`Authorization: Bearer TOKEN` must have its token")
            return
        given = headers.get(self.header.lower(), "").removeprefix(PREFIX)
        wanted = hmac.new(self.secret, body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(given.lower().encode(errors="replace"), wanted.encode()):
            problem = f"the header {self.header} must have the HMAC-SHA256 of the body under its secret, in hexadecimal"
            raise SignatureWrong(name=self.name, problem=problem)


class Hooks:
    """The hooks of a file, by name."""

    def __init__(self, found: Mapping[str, Hook], path: Path | None = None) -> None:
        """path: of the file."""
        self._found, self._path = found, path

    def find(self, name: str) -> Hook:
        """The hook; raises `HookUnknown`."""
        if name not in self._found:
            known = ", ".join(self._found) or "none"
            raise HookUnknown(name=name[:64], known=known, meant=did_you_mean(name, self._found))
        return self._found[name]

    @classmethod
    def read(cls, path: Path, *, secrets: bool = True) -> "Hooks":
        """The hooks of a file; raises `BadSetting`. secrets: whether their secrets are needed."""
        libraries.require("yaml", "a file of hooks")
        libraries.require("jq", "a hook")
        try:
            documents = list(yaml_text.documents(path.read_bytes()))
        except OSError as error:
            raise _bad(path, f"cannot be read: {error.strerror or error}") from None
        except yaml_text.NotYaml as error:
            raise _bad(path, str(error)) from None
        found = documents[0].get("hooks") if len(documents) == 1 and isinstance(documents[0], dict) else None
        if not isinstance(found, dict) or not found:
            raise _bad(path, "must be a map `hooks`, by the names of the hooks")
        return cls({str(name): _hook(path, str(name), one, secrets=secrets) for name, one in found.items()}, path)


def _hook(path: Path, name: str, given: Any, *, secrets: bool) -> Hook:
    where = f"hook {name}"
    if not isinstance(given, dict) or not isinstance(given.get("program"), str):
        raise _bad(path, f"{where}: must be a map with `program`, a text in jq")
    for key in given:
        if key not in KEYS:
            raise _bad(path, f"{where}: there is no key {str(key)[:32]!r}{did_you_mean(str(key), KEYS)}")
    ways = [way for way in ("bearer", "hmac") if way in given]
    if len(ways) != 1:
        raise _bad(path, f"{where}: needs one of `bearer` and `hmac`, has {' and '.join(ways) or 'none'}")
    header = str(given.get("header", SIGNATURE)) if ways == ["hmac"] else ""
    secret = _secret(path, f"{where}: {ways[0]}", given[ways[0]]) if secrets else None
    return Hook(name, given["program"], header, secret)


def _secret(path: Path, where: str, given: Any) -> bytes:
    """The secret that an environment variable or a file holds; it never stands in the file of hooks itself."""
    if not isinstance(given, dict) or len(given) != 1 or not {"env", "file"}.issuperset(given):
        raise _bad(path, f"{where}: must be {{env: NAME}} or {{file: PATH}}")
    [(way, name)] = given.items()
    try:
        found = os.environ.get(str(name), "").encode() if way == "env" else (path.parent / str(name)).read_bytes()
    except OSError as error:
        raise _bad(path, f"{where}: cannot read {name}: {error.strerror or error}") from None
    if not found.strip():
        raise _bad(path, f"{where}: {way} {name} is empty or not set")
    return found.strip()


def _bad(path: Path, problem: str) -> BadSetting:
    return BadSetting(name="hooks", problem=f"{path}: {problem}")
