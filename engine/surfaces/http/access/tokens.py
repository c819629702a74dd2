"""The file of tokens: for each token its SHA-256, a name, and roles. The tokens themselves are nowhere.

A line is `DIGEST NAME ROLE...`, with `source:PATTERN` to limit sources; `#` begins a comment. The server notices when
the file changes.
Belongs here: reading the file, adding a token, whose a token is. Does not: where a request has its token (`access`).
"""

import os
import re
import secrets
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from phaseline.engine import logs
from phaseline.engine.settings import shown_file
from phaseline.engine.surfaces.http.access.caller import BadRole, Caller, named, with_roles
from phaseline.schemas.errors import BadSetting

LOOK = 1.0
"""Seconds between two looks whether the file has changed."""
PREFIX = "phl_"
"""What our tokens begin with, so that tools that search for secrets find them."""
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_NAME = re.compile(r"[\w.@/+-]{1,64}\Z")

log = logs.get_logger(__name__)


def digest_of(token: str) -> str:
    """What the file holds of a token."""
    return sha256(token.encode(errors="surrogateescape")).hexdigest()


def read(path: Path) -> dict[str, Caller]:
    """The callers by the digests of their tokens; raises `BadSetting`."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadSetting(name="tokens", problem=f"cannot read {shown_file(path)}: {why}") from None
    found: dict[str, Caller] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            digest, caller = _entry(words)
        except BadRole as error:
            raise BadSetting(name="tokens", problem=f"{path}, line {number}: {error}") from None
        if digest in found:
            raise BadSetting(name="tokens", problem=f"{path}, line {number}: the token of {found[digest].name} again")
        found[digest] = caller
    return found


def _entry(words: list[str]) -> tuple[str, Caller]:
    if not _DIGEST.match(words[0]):
        raise BadRole(f"a line is DIGEST NAME ROLE..., and {words[0][:16]!r} is no SHA-256 in 64 lower-case digits")
    if len(words) < 3 or not _NAME.match(words[1]):
        raise BadRole("a line is DIGEST NAME ROLE..., such as `9f86d0... ci read publish:c1`")
    return words[0], named(with_roles(words[1], words[2:]))


def add(path: Path, name: str, roles: Iterable[str]) -> str:
    """Add a new token to the file, which only its owner can read, and return the token. Raises `BadSetting`."""
    if path.exists():
        read(path)
    token = PREFIX + secrets.token_urlsafe(32)
    line = f"{digest_of(token)} {name} {' '.join(roles)}"
    try:
        _entry(line.split())
    except BadRole as error:
        raise BadSetting(name="tokens", problem=str(error)) from None
    try:
        with os.fdopen(os.open(path, os.O_CREAT | os.O_RDWR, 0o600), "r+") as file:
            before = file.read()
            file.write(f"{'' if not before or before.endswith(chr(10)) else chr(10)}{line}\n")
    except OSError as error:
        raise BadSetting(name="tokens", problem=f"cannot write {path}: {error.strerror or error}") from None
    return token


class Tokens:
    """The callers in a file, as it is now. A file that became unreadable changes nothing."""

    def __init__(self, path: Path, look: float = LOOK) -> None:
        """Read the file; raises `BadSetting`. look: seconds between two looks at it."""
        self._path, self._every = path, look
        self._seen = self._stamp()
        self._callers = read(path)
        self._looked = time.monotonic()

    def caller(self, token: str) -> Caller | None:
        """Whose token it is; None for a token that is not in the file."""
        if time.monotonic() - self._looked > self._every:
            self._looked = time.monotonic()
            self._look()
        return self._callers.get(digest_of(token))

    def has_name(self, name: str) -> bool:
        """Whether a token has this name."""
        return any(caller.name == name for caller in self._callers.values())

    def is_of(self, token: str, caller: Caller) -> bool:
        """Whether a token still is that of this caller, with these roles."""
        return self.caller(token) == caller

    def _look(self) -> None:
        seen = self._stamp()
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._callers = read(self._path)
        except BadSetting as error:
            log.error("tokens_unusable", error=str(error))  # noqa: TRY400  # the error says all
        else:
            log.info("tokens_read", tokens=len(self._callers))

    def _stamp(self) -> tuple[int, int, int]:
        try:
            found = self._path.stat()
        except OSError:
            return 0, 0, 0
        return found.st_mtime_ns, found.st_size, found.st_ino
