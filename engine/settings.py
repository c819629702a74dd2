"""What one installation and one connection are set to, checked once.

Belongs here: values, their limits, the names that follow from them. Does not: where they come from (`cli`), any I/O.
"""

import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypedDict
from urllib.parse import urlsplit

from phaseline.engine.errors import BadSetting

DEFAULT_URL = "nats://127.0.0.1:4222"
DEFAULT_PARTITIONS = 8
MAX_PARTITIONS = 256
_PREFIX = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\Z")
_INBOX = re.compile(r"[^\s.*>]+(\.[^\s.*>]+)*\Z")
_SCHEMES = ("nats", "tls", "ws", "wss")


@dataclass(frozen=True, slots=True)
class Settings:
    """One installation (`prefix` and its streams) and how to reach it. Seconds and bytes; raises `BadSetting`."""

    nats: tuple[str, ...] = field(default=(DEFAULT_URL,), repr=False)
    """URLs of one cluster's servers; user, password or token may stand in them."""
    creds: Path | None = None
    nkey: Path | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    inbox_prefix: str = "_INBOX"
    """Where answers come back; users with narrow permissions have one of their own."""
    connect_timeout: float = 5.0
    request_timeout: float = 5.0

    prefix: str = "pl"
    partitions: int | None = None
    """How many an installation must have; None takes what exists, and 8 for a new one."""
    replicas: int = 1
    storage: Literal["file", "memory"] = "file"
    dedupe_window: float = 600.0
    """How long the server drops events with the same id and source."""
    events_max_age: float = 0.0
    """How long events are kept, 0 for ever."""
    lease: float = 2.0
    """How long a worker may be silent before its partitions go to others."""

    accept_tables: str = ""
    """The digest of the tables by which a worker may go on where other tables decided before."""

    def __post_init__(self) -> None:
        _check(bool(self.nats), "nats", "at least one URL is needed")
        for url in self.nats:
            _check_url(url)
        _check(bool(_INBOX.match(self.inbox_prefix)), "inbox_prefix", f"{self.inbox_prefix!r} is no subject prefix")
        _check(
            bool(_PREFIX.match(self.prefix)), "prefix", f"{self.prefix!r}: use letters, digits, `_`, `-`, dots between"
        )
        _check(len(self.prefix) <= 64, "prefix", "at most 64 characters")
        _check(
            self.partitions is None or 1 <= self.partitions <= MAX_PARTITIONS, "partitions", f"1 to {MAX_PARTITIONS}"
        )
        _check(self.replicas in (1, 3, 5), "replicas", "1, 3 or 5")
        _check(self.storage in ("file", "memory"), "storage", "file or memory")
        _check(0.1 <= self.dedupe_window <= 86_400, "dedupe_window", "0.1 s to a day")
        kept_long_enough = self.events_max_age == 0 or self.events_max_age >= self.dedupe_window
        _check(kept_long_enough, "events_max_age", "0, or the dedupe window or more")
        _check(1.0 <= self.lease <= 3600, "lease", "1 s to an hour: the server counts in whole seconds")
        _check(0 < self.connect_timeout <= 600, "connect_timeout", "more than 0, at most 600 s")
        _check(0 < self.request_timeout <= 600, "request_timeout", "more than 0, at most 600 s")
        _check((self.tls_cert is None) == (self.tls_key is None), "tls_cert", "certificate and key go together")
        for name in ("creds", "nkey", "tls_ca", "tls_cert", "tls_key"):
            path = getattr(self, name)
            _check(path is None or path.is_file(), name, f"{path} is not a file")

    @property
    def shown(self) -> str:
        """The servers without their secrets, for people and logs."""
        return ", ".join(_without_secrets(url) for url in self.nats)

    @property
    def wants_tls(self) -> bool:
        """Whether a connection in clear must be refused."""
        by_scheme = any(urlsplit(url).scheme in ("tls", "wss") for url in self.nats)
        return by_scheme or self.tls_ca is not None or self.tls_cert is not None

    def stream(self, role: str) -> str:
        """The name of one of the installation's streams, `EVENTS` -> `pl-EVENTS`."""
        return f"{self.prefix.replace('.', '_')}-{role}"


class ConnectionSettings(TypedDict, total=False):
    """What `connect` takes beside URLs: the installation, and how to reach it. `Settings` has the defaults.

    partitions: the number that the installation was made with, for users who may not ask the server for it.
    """

    prefix: str
    creds: Path | str | None
    nkey: Path | str | None
    tls_ca: Path | str | None
    tls_cert: Path | str | None
    tls_key: Path | str | None
    inbox_prefix: str
    connect_timeout: float
    request_timeout: float
    partitions: int | None


PATHS = ("creds", "nkey", "tls_ca", "tls_cert", "tls_key")


def from_words(**words: Any) -> Settings:
    """Settings as a person gives them: files by their names, one URL or several. Raises `BadSetting`."""
    known = {field.name for field in fields(Settings)}
    for name in words:
        _check(name in known, name, f"there is none of this name; there are {', '.join(sorted(known))}")
    for name in PATHS:
        if isinstance(words.get(name), str):
            words[name] = Path(words[name])
    if "nats" in words:
        urls = words["nats"]
        words["nats"] = tuple(urls.split(",") if isinstance(urls, str) else urls)
    return Settings(**words)


def _check(holds: bool, name: str, problem: str) -> None:
    if not holds:
        raise BadSetting(name=name, problem=problem)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        legal = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        legal = False
    _check(legal, "nats", f"{_without_secrets(url)} must look like nats://host:4222")


def _without_secrets(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"
