"""The settings of one installation and one connection, checked once.

Belongs here: values, their limits, and names derived from them. Does not: where values come from
(`surfaces.cli.options`), any I/O.
"""

import re
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, get_args
from urllib.parse import urlsplit

from phaseline.schemas.errors import BadSetting
from phaseline.schemas.value import Value

DEFAULT_URL = "nats://127.0.0.1:4222"
JETSTREAM, INBOX = "$JS.API", "_INBOX"
DEFAULT_PARTITIONS = 32
MAX_PARTITIONS = 256
DEFAULT_WINDOW = 600.0
DEFAULT_LEASE, DEFAULT_TIMEOUT = 2.0, 5.0
DEFAULT_HISTORY = 2_000_000
"""Transitions that `phaseline serve` keeps in memory, at most: about 30 bytes each."""
HUNDRED_YEARS = 100 * 365 * 86_400.0
LEAST_ROOM = 1_000_000
"""Bytes that a stream with a limit may hold at least: it must take some of the largest messages."""
_PREFIX = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\Z")
_INBOX = re.compile(r"[^\s.*>]+(\.[^\s.*>]+)*\Z")
_TAG = re.compile(r"[^\s,]+\Z")
MAX_BYTES = ("events_max_bytes", "log_max_bytes", "state_max_bytes", "live_max_bytes")
PATHS = ("creds", "nkey", "tls_ca", "tls_cert", "tls_key", "message_id_key")
_SECRET = re.compile(r"\bS[A-Z][A-Z2-7]{56}\b|\beyJ|-----BEGIN|\bphl_|\n")
"""What stands in a seed, a JWT, a key, a token of ours, and in none of these files' names."""
_SCHEMES = ("nats", "tls", "ws", "wss")


Feed = Literal["json", "msgpack"]
"""In which format workers write records: msgpack, JSON, or msgpack with a copy of each record in JSON."""
FEEDS: tuple[Feed, ...] = get_args(Feed)


class Settings(Value, frozen=True):
    """One installation and how to connect to it. Times are in seconds. Raises `BadSetting`."""

    nats: tuple[str, ...] = (DEFAULT_URL,)
    """URLs of one cluster's servers; user, password or token may stand in them."""
    creds: Path | None = None
    nkey: Path | None = None
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    message_id_key: Path | None = None
    """A file with the secret that publishers of the same events share. By default it follows from credentials."""
    inbox_prefix: str = INBOX
    """Subject prefix of replies. A user with narrow permissions may need another prefix."""
    api_prefix: str = JETSTREAM
    """Subject prefix of the JetStream API. With another one than `$JS.API`, an account imports the part for readers."""
    connect_timeout: float = DEFAULT_TIMEOUT
    request_timeout: float = DEFAULT_TIMEOUT

    archive: str | None = None
    """The folder or URL of an archive, which has what was trimmed from the log. Reads of the past read both as one."""

    prefix: str = "pl"
    partitions: int | None = None
    """Number of partitions. None: the number of the existing installation, or 32 for a new one."""
    feed: Feed | None = None
    """The format of the records and of the live feed. None: that of the existing installation, or json."""
    # What follows, up to `live_max_bytes`, belongs to streams. None: as they are. What a new one gets stands beside it.
    replicas: int | None = None
    """Copies of each stream. New: 1."""
    storage: Literal["file", "memory"] | None = None
    """New: file."""
    placement_cluster: str | None = None
    """The cluster of NATS servers in which the streams are. New: any."""
    placement_tags: tuple[str, ...] | None = None
    """Tags that each server with a copy of a stream has. New: none."""
    dedupe_window: float | None = None
    """Seconds in which the server drops an event with an id and source that it has seen. New: 600."""
    events_max_age: float | None = None
    """Seconds that events are kept; 0 keeps them for ever. New: 0."""
    events_max_bytes: int | None = None
    """The bytes that a stream may hold; at the limit it refuses messages. 0 is no limit. New: 0. So with the others."""
    log_max_bytes: int | None = None
    state_max_bytes: int | None = None
    live_max_bytes: int | None = None
    lease: float = DEFAULT_LEASE
    """Seconds that a worker may be silent before others take its partitions."""

    silence_after: float = 0.0
    """Seconds without an observation after which a place falls silent that has no seconds of its own; 0 for never."""

    accept_tables: str = ""
    """The digest of the tables with which a worker may continue where other tables decided before."""
    accept_stranded: str = ""
    """The digest of the tables that a worker may take up although they lack states in which entities are."""
    accept_loss: bool = False
    """Whether a worker may go on from STATE where the log was emptied."""

    def __repr__(self) -> str:
        """All but the URLs, in which secrets may stand."""
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name != "nats")
        return f"Settings({', '.join(shown)})"

    def __post_init__(self) -> None:
        _check(bool(self.nats), "nats", "needs at least one URL")
        for url in self.nats:
            _check_url(url)
        _check(bool(_INBOX.match(self.inbox_prefix)), "inbox_prefix", f"{self.inbox_prefix!r} is not a subject prefix")
        _check(bool(_INBOX.match(self.api_prefix)), "api_prefix", f"{self.api_prefix!r} is not a subject prefix")
        _check(
            bool(_PREFIX.match(self.prefix)),
            "prefix",
            f"{self.prefix!r}: use letters, digits, `_` and `-`, with dots between",
        )
        _check(len(self.prefix) <= 64, "prefix", f"{len(self.prefix)} characters, at most 64 are allowed")
        _check(
            self.partitions is None or 1 <= self.partitions <= MAX_PARTITIONS,
            "partitions",
            f"must be 1 to {MAX_PARTITIONS}, found {self.partitions}",
        )
        _check(self.feed in (None, *FEEDS), "feed", f"must be one of {', '.join(FEEDS)}, found {self.feed!r}")
        self._check_streams()
        _check(
            0 <= self.silence_after <= HUNDRED_YEARS,
            "silence_after",
            f"must be 0, which is never, to a hundred years; found {self.silence_after:g} s",
        )
        _check(1.0 <= self.lease <= 3600, "lease", f"must be 1 s to an hour, found {self.lease:g} s")
        _check(
            0 < self.connect_timeout <= 600,
            "connect_timeout",
            f"must be more than 0 and at most 600 s, found {self.connect_timeout:g}",
        )
        _check(
            0 < self.request_timeout <= 600,
            "request_timeout",
            f"must be more than 0 and at most 600 s, found {self.request_timeout:g}",
        )
        _check(
            (self.tls_cert is None) == (self.tls_key is None),
            "tls_cert",
            "a certificate needs its key, and a key its certificate",
        )
        for name in PATHS:
            path = getattr(self, name)
            _check(path is None or _is_file(path), name, f"{shown_file(path)} is not a file")

    def _check_streams(self) -> None:
        """Raise `BadSetting` for a wrong setting of streams."""
        _check(self.replicas in (None, 1, 3, 5), "replicas", f"must be 1, 3 or 5, found {self.replicas}")
        _check(self.storage in (None, "file", "memory"), "storage", f"must be file or memory, found {self.storage!r}")
        window = DEFAULT_WINDOW if self.dedupe_window is None else self.dedupe_window
        _check(0.1 <= window <= 86_400, "dedupe_window", f"must be 0.1 s to a day, found {window:g} s")
        age = self.events_max_age or 0.0
        problem = f"must be 0, or the dedupe window, {window:g} s, to a hundred years; found {age:g} s"
        _check(age == 0 or window <= age <= HUNDRED_YEARS, "events_max_age", problem)
        for name in MAX_BYTES:
            most = getattr(self, name) or 0
            _check(
                most == 0 or most >= LEAST_ROOM, name, f"must be 0, or at least {LEAST_ROOM:,} bytes; found {most:,}"
            )
        for tag in self.placement_tags or ():
            _check(bool(_TAG.match(tag)), "placement_tags", f"{tag!r} is not a tag of a NATS server")
        cluster = self.placement_cluster or "x"
        _check(bool(_TAG.match(cluster)), "placement_cluster", f"{cluster!r} is not the name of a cluster")

    @property
    def shown(self) -> str:
        """The URLs without secrets, for messages and logs."""
        return ", ".join(_without_secrets(url) for url in self.nats)

    @property
    def wants_tls(self) -> bool:
        """Whether a connection must use TLS."""
        by_scheme = any(urlsplit(url).scheme in ("tls", "wss") for url in self.nats)
        return by_scheme or self.tls_ca is not None or self.tls_cert is not None

    def stream(self, role: str) -> str:
        """The name of a stream of the installation: `EVENTS` -> `pl-EVENTS`."""
        return f"{self.prefix.replace('.', '_')}-{role}"


class Pacing(NamedTuple):
    """How often a worker looks, how long it waits, and how much it takes at once. Times are in seconds."""

    hand_over: float = 8.0
    """For so long it goes on with a partition that another worker should own, so that that one can prepare."""
    urgent: float = 0.25
    """For so long a round of renewals comes before all other work. A server that takes longer is in trouble."""
    loads: int = 4
    """Partitions that load at the same time. What the server sends for them comes before its other answers, such as
    those to renewals of leases; with 64 of them a second may pass before it has been read."""
    loads_alone: int = 16
    """Partitions that load one after the other as fast as together. So do many of which most are other workers'."""
    small_state: int = 20_000
    """Messages of STATE, up to which it does not matter how often the server looks at them."""
    small_bytes: int = 16 << 20
    """Bytes of such a STATE, up to which all partitions may load at the same time."""
    load: int = 250
    """States that are taken in at once. If each of 64 partitions took thousands, no lease would be renewed in time."""
    idle: float = 0.5
    """After so long an idle partition brings its checkpoint up to date."""
    slice_lasts: float = 0.05
    """After so long a slice of decisions ends and is committed."""
    stuck: float = 20.0
    """After so long the decision of one event counts as stuck: in which it computed, and in which it waited."""
    hung: float = 30.0
    """After so long of computing without a turn of the event loop a worker process ends by SIGVTALRM."""
    comes_back: float = 3.0
    """Within so long a worker that has lost its connection comes back, and shows that it lives."""
    look_at_log: float = 5.0
    look_at_events: float = 10.0
    look_at_timers: float = 60.0
    look_at_streams: float = 30.0
    look_at_full_log: float = 1.0
    until_mended: float = 10.0
    """Before a partition that failed is offered to the workers again, where only a person can remove the cause."""


PACING = Pacing()


class ConnectionSettings(TypedDict, total=False):
    """What `connect` takes beside URLs: the installation, and how to reach it. `Settings` has the defaults.

    connect_timeout, request_timeout: seconds. archive: the folder or URL of an archive (`phaseline log archive`).
    partitions: the number that the installation was made with, for users who may not ask the server for it.
    """

    prefix: str
    creds: Path | str | None
    nkey: Path | str | None
    tls_ca: Path | str | None
    tls_cert: Path | str | None
    tls_key: Path | str | None
    message_id_key: Path | str | None
    inbox_prefix: str
    api_prefix: str
    connect_timeout: float
    request_timeout: float
    archive: Path | str | None
    partitions: int | None


def from_options(**options: Any) -> Settings:
    """Settings from options: files by name, URLs as a list or separated by commas. Raises `BadSetting`."""
    known = Settings.__struct_fields__
    for name in options:
        _check(name in known, name, f"there is no such setting; choose one of {', '.join(sorted(known))}")
    if isinstance(options.get("archive"), Path):
        options["archive"] = str(options["archive"])
    for name in PATHS:
        if isinstance(options.get(name), str):
            options[name] = Path(options[name])
    if "nats" in options:
        urls = options["nats"]
        options["nats"] = tuple(urls.split(",") if isinstance(urls, str) else urls)
    return Settings(**options)


def shown_file(path: Path | str | None) -> str:
    """How an error names a file that should hold a secret: whoever gave the secret itself must not find it in a log."""
    text = str(path)
    is_path = ("/" in text or "." in text) and _SECRET.search(text) is None
    return text if is_path else f"what is given, which has {len(text)} characters and may be a secret itself,"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # the name is too long, or holds a character that no name can hold
        return False


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
