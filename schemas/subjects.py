"""The NATS subjects: how kinds, triggers and ids become tokens and come back.

Belongs here: the grammar of every subject, percent-encoding, the partition of a tree, the order of ids. Does not: who
uses them.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

MAX_TOKEN = 253
"""Bytes an encoded token may have."""

SHORTENED = 64
"""Characters that the subject of a rejection keeps of each part of an id."""

MAX_ID = 1024
"""Bytes a whole id may have: a subject must fit the server's control line (4,096 bytes)."""

_LONGEST = 9
"""Bytes that one character may become: a blank of three, each percent-encoded."""

_FORBIDDEN = re.compile(r"[.*>%\s]")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PLAIN = re.compile(r"[!-$&-)+-.0-=?-~]+\Z")
_WORD = re.compile(r"[a-z][a-z0-9_]*\Z")
_LABEL = re.compile(r"[A-Za-z0-9_-]+\Z")
_NUMBER = re.compile(r"(\d+)")


class BadSubject(ValueError):
    """A subject or an id that no entity can have; the message says which token and why."""


class Address(NamedTuple):
    """What an event is about: the trigger, and the entity it is for."""

    kind: str
    trigger: str
    id: str


def quote(token: str) -> str:
    """`token` as NATS accepts it: dots, wildcards, blanks and percent signs percent-encoded."""
    return _FORBIDDEN.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), token)


def unquote(token: str) -> str:
    """The name behind an encoded token; raises `BadSubject` where the encoding is not the one `quote` writes."""
    try:
        raw = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), token.encode().decode("latin-1"))
        name = raw.encode("latin-1").decode()
    except UnicodeError as error:
        raise BadSubject(f"token {token[:64]!r} does not decode to UTF-8") from error
    check_token(name)
    if quote(name) != token:
        raise BadSubject(f"token {token[:64]!r} must be encoded as {quote(name)[:64]!r}: one entity has one subject")
    return name


def check_token(name: str) -> None:
    """Raise `BadSubject` unless `name` may be a part of an id."""
    if not name:
        raise BadSubject("an id has an empty part")
    if "/" in name:
        raise BadSubject(f"part {name!r} of an id holds a slash, which separates parts")
    if _CONTROL.search(name):
        raise BadSubject(f"part {name!r} of an id holds a control character")
    if len(name) * _LONGEST > MAX_TOKEN and len(quote(name).encode()) > MAX_TOKEN:
        raise BadSubject(f"part {name[:32]!r}... of an id is longer than {MAX_TOKEN} bytes")


def check_id(entity_id: str) -> None:
    """Raise `BadSubject` unless `entity_id` may name an entity."""
    if len(entity_id.encode()) > MAX_ID:
        raise BadSubject(f"the id {entity_id[:32]!r}... is longer than {MAX_ID} bytes")
    for part in entity_id.split("/"):
        check_token(part)


@lru_cache(maxsize=65536)
def quoted_id(entity_id: str) -> str:
    """An id's tokens, `c1/pool-a/n7` -> `c1.pool-a.n7`."""
    return ".".join(quote(part) for part in entity_id.split("/"))


@lru_cache(maxsize=65536)
def partition_of(root: str, partitions: int) -> int:
    """The partition of the tree whose root has the *encoded* token `root`: FNV-1a 32, as the server computes it."""
    digest = 0x811C9DC5
    for byte in root.encode():
        digest = ((digest ^ byte) * 0x01000193) & 0xFFFFFFFF
    return digest % partitions


def partition_of_id(entity_id: str, partitions: int) -> int:
    """The partition of the tree an id belongs to."""
    return partition_of(quote(entity_id.partition("/")[0]), partitions)


def natural(entity_id: str) -> list[tuple[tuple[int, str | int], ...]]:
    """A key that sorts ids part by part, `n2` before `n10`."""
    return [
        tuple((0, int(piece)) if piece.isdecimal() else (1, piece) for piece in _NUMBER.split(part) if piece)
        for part in entity_id.split("/")
    ]


def check_word(word: str) -> bool:
    """Whether `word` may name a kind, a trigger or a facet: lower case, digits and `_`."""
    return _WORD.match(word) is not None


def check_state(word: str) -> bool:
    """Whether `word` may name a state or a condition."""
    return _LABEL.match(word) is not None


@dataclass(frozen=True, slots=True)
class Subjects:
    """Every subject of one installation, named by its prefix. Any part may be a wildcard or a `{placeholder}`."""

    prefix: str = "pl"
    _skip: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_skip", self.prefix.count(".") + 3)

    def event(self, kind: str, trigger: str, entity_id: str) -> str:
        """Where a publisher sends an event."""
        root, _, rest = entity_id.partition("/")
        tail = f".{quoted_id(rest)}" if rest else ""
        return f"{self.prefix}.events.{quote(root)}.{kind}.{trigger}{tail}"

    def address(self, inbox_subject: str) -> Address:
        """What a stored event's subject says; raises `BadSubject` where that is nothing an entity can have."""
        tokens = inbox_subject.split(".")[self._skip :]
        if len(tokens) < 3:
            raise BadSubject("the subject must be <prefix>.events.<root>.<kind>.<trigger>[.<rest of id>]")
        root, kind, trigger, *parts = tokens
        parts.insert(0, root)
        hollow = ".." in inbox_subject or inbox_subject[-1] == "."
        if hollow or len(inbox_subject) > MAX_TOKEN or not _PLAIN.match(inbox_subject):
            parts = [unquote(part) for part in parts]
        entity_id = "/".join(parts)
        if len(entity_id) * 4 > MAX_ID:
            check_id(entity_id)
        return Address(kind, trigger, entity_id)

    def inbox(self, partition: int) -> str:
        """The events of one partition, as the server stores them."""
        return f"{self.prefix}.inbox.{partition}.>"

    def stored(self, partition: int) -> str:
        """All that EVENTS holds of one partition: events, and timers that fired."""
        return f"{self.prefix}.*.{partition}.>"

    def is_due(self, subject: str) -> bool:
        """Whether a stored event is a timer that fired: only the server can store one there."""
        return subject.startswith(f"{self.prefix}.due.")

    def live(self, partition: int | str, resource_id: str) -> str:
        """Where the last observation of a Kubernetes object is kept."""
        return f"{self.prefix}.live.{partition}.{quoted_id(resource_id)}"

    def status(self, token: str) -> str:
        """Where the status of an EMCO resource is asked for; `token` is its id, as a subject has it."""
        return f"{self.prefix}.status.emco_resource.{token}"

    def owner(self, partition: int, token: str) -> str:
        """Where the worker that owns a partition is asked what another one was asked."""
        return f"{self.prefix}.owner.{partition}.{token}"

    def timer(self, partition: int | str, kind: str, facet: str, entity_id: str) -> str:
        """Where the schedule of a facet's timer stands."""
        return f"{self.prefix}.timer.{partition}.{kind}.{facet}.{quoted_id(entity_id)}"

    def fired(self, kind: str, trigger: str, entity_id: str) -> str:
        """Where the server puts a timer that is due."""
        return f"{self.prefix}.fired.{self.event(kind, trigger, entity_id)[len(self.prefix) + 8 :]}"

    def transition(self, partition: int | str, kind: str, facet: str, state: str, entity_id: str) -> str:
        """Where a committed transition stands in the log."""
        return f"{self.prefix}.log.{partition}.transition.{kind}.{facet}.{state}.{quoted_id(entity_id)}"

    def rejection(self, partition: int | str, kind: str, reason: str, entity_id: str) -> str:
        """Where a committed rejection stands in the log; parts that no token can hold are shortened."""
        parts = [quote(_CONTROL.sub("?", part))[:SHORTENED] or "-" for part in entity_id.split("/")[:12]]
        word = quote(_CONTROL.sub("?", kind))[:SHORTENED] or "-"
        return f"{self.prefix}.log.{partition}.rejection.{word}.{reason}.{'.'.join(parts)}"

    def checkpoint(self, partition: int) -> str:
        """The partition's fence. Shaped like a transition, as marks are: so one filter picks all that STATE copies."""
        return f"{self.prefix}.mark.{partition}.transition.checkpoint.-.-.-"

    def is_checkpoint(self, subject: str) -> bool:
        """Whether a subject of the log is some partition's fence."""
        return subject.startswith(f"{self.prefix}.mark.") and subject.endswith(".transition.checkpoint.-.-.-")

    def state_checkpoint(self, partition: int) -> str:
        """The copy of the partition's fence in STATE."""
        return f"{self.prefix}.state.{partition}.checkpoint.-"

    def mark(self, partition: int | str, kind: str, entity_id: str) -> str:
        """Where a publisher's `sequence` is remembered when its event had no effect."""
        return f"{self.marks(partition)}.{kind}.{quoted_id(entity_id)}"

    def marks(self, partition: int | str) -> str:
        """What the subjects of a partition's marks begin with; kind and id follow."""
        return f"{self.prefix}.mark.{partition}.transition.mark.-.-"

    def plan(self, partition: int, chunk: int | str) -> str:
        """A piece of a cascade that is too large for one atomic batch."""
        return f"{self.prefix}.plan.{partition}.{chunk}"

    def tables(self, partition: int) -> str:
        """The notes on which tables decide a partition's events."""
        return f"{self.prefix}.tables.{partition}"

    def state(self, partition: int | str, kind: str, entity_id: str) -> str:
        """The last transition of one entity."""
        return f"{self.prefix}.state.{partition}.{kind}.{quoted_id(entity_id)}"
