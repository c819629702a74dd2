"""The NATS subjects: how kinds, triggers and ids become tokens and come back.

Belongs here: the grammar of every subject, percent-encoding, the partition of a tree, the order of ids.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from urllib import parse

import msgspec
from msgspec.structs import force_setattr

from phaseline.schemas.cloudevents import actors

MAX_TOKEN = 253
"""The most bytes of an encoded token."""

SHORTENED = 64
"""The characters that the subject of a rejection keeps of each part of an id."""

MAX_ID = 1024
"""The most bytes of a whole id: a subject must fit the server's control line of 4,096 bytes."""

ACTOR = "~"
"""The token between the root of a tree and an actor, in the subject of an event that `phaseline serve` sends for them.

No kind has such a name. Agents may not publish to such a subject (`nats.accounts.roles`).
"""

_LONGEST = 9
"""The most bytes to which one character is encoded: a blank character of three bytes, each percent-encoded."""

_FORBIDDEN = re.compile(r"[.*>%\s]")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_PLAIN = re.compile(r"[!-$&-)+-.0-=?-~]+\Z")
_WORD = re.compile(r"[a-z][a-z0-9_]*\Z")
_LABEL = re.compile(r"[A-Za-z0-9_-]+\Z")
_NUMBER = re.compile(r"(\d+)")


class BadSubject(ValueError):
    """A subject or an id that no entity can have. The message names the token and the reason."""


class Address(NamedTuple):
    """The trigger of an event, and the entity that the event is for. actor: in whose name the HTTP server sent it."""

    kind: str
    trigger: str
    id: str
    actor: str = ""


def quote(token: str) -> str:
    """The token with dots, wildcards, blanks and percent signs percent-encoded, as NATS accepts it."""
    return _FORBIDDEN.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), token)


def unquote(token: str) -> str:
    """The name that an encoded token holds; raises `BadSubject` if `quote` would encode it in another way."""
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
    """The tokens of an id: `c1/pool-a/n7` -> `c1.pool-a.n7`."""
    return quote(entity_id).replace("/", ".")


def unquoted_id(tokens: str) -> str:
    """The id of these tokens; the inverse of `quoted_id`. Of tokens that are of no id, a text that is no id either."""
    if "%" not in tokens:
        return tokens.replace(".", "/")
    try:
        return "/".join(map(unquote, tokens.split(".")))
    except BadSubject:
        return tokens


@lru_cache(maxsize=4096)
def _shortened(part: str) -> str:
    """A token for a part of an id that nobody has checked: it may be too long, or empty."""
    return quote(_CONTROL.sub("?", part))[:SHORTENED] or "-"


@lru_cache(maxsize=4096)
def _shortened_id(entity_id: str) -> str:
    return ".".join(map(_shortened, entity_id.split("/")[:12]))


@lru_cache(maxsize=65536)
def partition_of(root: str, partitions: int) -> int:
    """The partition of the tree whose root has the *encoded* token `root`. The hash is FNV-1a 32, as in the server."""
    digest = 0x811C9DC5
    for byte in root.encode():
        digest = ((digest ^ byte) * 0x01000193) & 0xFFFFFFFF
    return digest % partitions


def partition_of_id(entity_id: str, partitions: int) -> int:
    """The partition of the tree an id belongs to."""
    return partition_of(quote(entity_id.partition("/")[0]), partitions)


def ancestor_id(entity_id: str, arity: int) -> str:
    """The first `arity` parts of an id."""
    above = entity_id.count("/") + 1 - arity
    if above == 1:
        return entity_id[: entity_id.rindex("/")]
    return entity_id.rsplit("/", above)[0] if above else entity_id


def id_above(entity_id: str, levels: int) -> str:
    """The id without its last `levels` parts. Where these are known, this takes half the time of `ancestor_id`."""
    return entity_id.rpartition("/")[0] if levels == 1 else entity_id.rsplit("/", levels)[0]


def ids_above(entity_ids: Iterable[str], levels: int) -> list[str]:
    """As `id_above` for each of these ids."""
    if levels == 1:
        return [one.rpartition("/")[0] for one in entity_ids]
    return [id_above(one, levels) for one in entity_ids]


def natural(entity_id: str) -> str:
    """A key that sorts ids part by part, `n2` before `n10`.

    Each part ends in a character below all that an id holds. A number begins with one that is below those of a text,
    then comes how many digits it has.
    """
    return "\0".join(map(_natural_part, entity_id.split("/")))


@lru_cache(maxsize=4096)
def _natural_part(part: str) -> str:
    return "".join([_as_number(piece) if piece.isdecimal() else f"\2{piece}" for piece in _NUMBER.split(part) if piece])


def _as_number(digits: str) -> str:
    number = str(int(digits))
    return f"\1{chr(len(number))}{number}"


def check_word(word: str) -> bool:
    """Whether `word` may name a kind, a trigger or a facet: lower-case letters, digits and `_`."""
    return _WORD.match(word) is not None


def check_state(word: str) -> bool:
    """Whether `word` may name a state or a condition."""
    return _LABEL.match(word) is not None


def json_copy(prefix: str, subject: str) -> str:
    """The subject of the copy of a record in JSON, which earlier versions wrote into logs.

    It is `pl.log.3.json.transition.x` for `pl.log.3.transition.x`.
    """
    partition, _, rest = subject[len(prefix) + 5 :].partition(".")
    return f"{prefix}.log.{partition}.json.{rest}"


def is_stored_as(sent: str, stored: str) -> bool:
    """Whether EVENTS stores what was sent to the one subject under the other: `pl.events.c1.x`, `pl.inbox.3.c1.x`."""
    before, after = sent.split("."), stored.split(".")
    return any(
        (word, after[at : at + 1]) == ("events", ["inbox"])
        and without_actor(".".join(before[at + 1 :])) == without_actor(".".join(after[at + 2 :]))
        and before[:at] == after[:at]
        for at, word in enumerate(before)
    )


@lru_cache(maxsize=65536)
def _address(inbox_subject: str, skip: int) -> Address:
    """skip: how many tokens stand before the root of the id."""
    tokens = inbox_subject.split(".")[skip:]
    actor = ""
    if tokens[1:2] == [ACTOR]:
        actor, tokens = _actor(tokens[2:3] or [""]), tokens[:1] + tokens[3:]
    if len(tokens) < 3:
        raise BadSubject("the subject must be <prefix>.events.<root>.<kind>.<trigger>[.<rest of id>]")
    root, kind, trigger, *parts = tokens
    parts.insert(0, root)
    empty = ".." in inbox_subject or inbox_subject[-1] == "."
    if empty or len(inbox_subject) > MAX_TOKEN or not _PLAIN.match(inbox_subject):
        parts = [unquote(part) for part in parts]
    entity_id = "/".join(parts)
    if len(entity_id) * 4 > MAX_ID:
        check_id(entity_id)
    return Address(_shared(kind), _shared(trigger), entity_id, actor)


def quoted_actor(name: str) -> str:
    """The token of an actor."""
    return quote(name).replace("/", "%2F")


def _actor(tokens: list[str]) -> str:
    """The actor that a token names; raises `BadSubject`."""
    name = parse.unquote(*tokens)
    try:
        actors.check(name)
    except actors.BadActor as error:
        raise BadSubject(f"the subject names no actor behind {ACTOR}: {error}") from None
    if quoted_actor(name) != tokens[0]:
        raise BadSubject(f"the actor {name!r} must be encoded as {quoted_actor(name)!r}")
    return name


def without_actor(address: str) -> str:
    """The subject of an event from the root on, without an actor: `c1.~.ann.node.ready.n7` -> `c1.node.ready.n7`."""
    root, _, rest = address.partition(".")
    return f"{root}.{rest.split('.', 2)[2]}" if rest.startswith(f"{ACTOR}.") and rest.count(".") > 1 else address


def kind_in(tokens: list[str], root: int) -> str:
    """The token of the kind in the subject of an event whose root is at an index; empty if there is none."""
    at = root + 1
    if tokens[at : at + 1] == [ACTOR]:
        at += 2
    return tokens[at] if len(tokens) > at else ""


@lru_cache(maxsize=1024)
def _shared(word: str) -> str:
    """The one object that all addresses with this kind or trigger share, so that it stays in the processor's cache."""
    return word


class Subjects(msgspec.Struct, frozen=True):
    """The subjects of one installation, which begin with its prefix. A part may be a wildcard or a `{placeholder}`."""

    prefix: str = "pl"
    _skip: int = 0
    _due: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "_skip", self.prefix.count(".") + 3)
        force_setattr(self, "_due", f"{self.prefix}.due.")

    def event(self, kind: str, trigger: str, entity_id: str) -> str:
        """The subject to which a publisher sends an event."""
        root, _, rest = entity_id.partition("/")
        tail = f".{quoted_id(rest)}" if rest else ""
        return f"{self.prefix}.events.{quote(root)}.{kind}.{trigger}{tail}"

    def in_name_of(self, actor: str, subject: str) -> str:
        """The subject to which `phaseline serve` sends an event in somebody's name; in nobody's, if that is empty."""
        start = f"{self.prefix}.events."
        address = without_actor(subject.removeprefix(start))
        root, _, rest = address.partition(".")
        return f"{start}{root}.{ACTOR}.{quoted_actor(actor)}.{rest}" if actor else f"{start}{address}"

    def address(self, inbox_subject: str) -> Address:
        """The address in the subject of a stored event; raises `BadSubject` if no entity can have such a subject."""
        return _address(inbox_subject, self._skip)

    def inbox(self, partition: int) -> str:
        """The events of one partition, under the subjects by which EVENTS stores them."""
        return f"{self.prefix}.inbox.{partition}.>"

    def stored(self, partition: int | str) -> str:
        """All messages of one partition in EVENTS: events, and timers that fired."""
        return f"{self.prefix}.*.{partition}.>"

    def stored_events(self, partition: int | str, kind: str, entity_id: str) -> list[str]:
        """The events about one entity, under the subjects by which EVENTS stores them; timers are not among them.

        There is one subject for those of publishers, and one for those that were sent in somebody's name.
        """
        root, _, rest = self.event(kind, "*", entity_id)[len(self.prefix) + 8 :].partition(".")
        start = f"{self.prefix}.inbox.{partition}.{root}."
        return [f"{start}{rest}", f"{start}{ACTOR}.*.{rest}"]

    def is_due(self, subject: str) -> bool:
        """Whether a stored event is a timer that fired. Only the server can store a message at such a subject."""
        return subject.startswith(self._due)

    def live(self, branch: str, partition: int | str, entity_id: str) -> str:
        """The subject in LIVE of the last event of an entity that the server copies to this branch."""
        return f"{self.prefix}.{branch}.{partition}.{quoted_id(entity_id)}"

    def status(self, kind: str, tokens: str) -> str:
        """The subject of questions about an entity, which a service of a product answers. `tokens`: its encoded id."""
        return f"{self.prefix}.status.{kind}.{tokens}"

    def backlog(self, partition: int) -> str:
        """The subject on which the owner of a partition says how many of its events are not decided yet."""
        return f"{self.prefix}.status.backlog.{partition}"

    def entities(self, partition: int) -> str:
        """The subject on which the owner of a partition says which of its entities are selected."""
        return f"{self.prefix}.status.entities.{partition}"

    def owner(self, partition: int, question: str) -> str:
        """The subject on which the owner of a partition answers a question that another worker received."""
        return f"{self.prefix}.owner.{partition}.{question}"

    def handing_over(self, partition: int) -> str:
        """The subject on which the owner of a partition hands it to the worker that should own it."""
        return f"{self.prefix}.owner.{partition}"

    @property
    def workers(self) -> str:
        """The subject on which workers say that they have come, or leave."""
        return f"{self.prefix}.owner.workers"

    def timer(self, partition: int | str, kind: str, facet: str, entity_id: str) -> str:
        """The subject of the schedule of a facet's timer."""
        return f"{self.prefix}.timer.{partition}.{kind}.{facet}.{quoted_id(entity_id)}"

    def fired(self, kind: str, trigger: str, entity_id: str) -> str:
        """The subject to which the server publishes a timer that is due."""
        return f"{self.prefix}.fired.{self.event(kind, trigger, entity_id)[len(self.prefix) + 8 :]}"

    def transition(self, partition: int | str, kind: str, facet: str, state: str, entity_id: str) -> str:
        """The subject of a transition in the log."""
        return f"{self.prefix}.log.{partition}.transition.{kind}.{facet}.{state}.{quoted_id(entity_id)}"

    def rejection(self, partition: int | str, kind: str, reason: str, entity_id: str) -> str:
        """The subject of a rejection in the log. Parts that are too long for a token are shortened."""
        return f"{self.prefix}.log.{partition}.rejection.{_shortened(kind)}.{reason}.{_shortened_id(entity_id)}"

    def secrets(self, partition: int | str) -> str:
        """The rejections of a partition whose events held what is banned."""
        return f"{self.prefix}.log.{partition}.rejection.*.secret.>"

    def loss(self, partition: int | str, what: str) -> str:
        """The subject of a loss in the log."""
        return f"{self.prefix}.log.{partition}.loss.{what}"

    def checkpoint(self, partition: int | str) -> str:
        """The fence of a partition. Like a mark, it has the tokens of a transition: one filter selects both."""
        return f"{self.prefix}.mark.{partition}.transition.checkpoint.-.-.-"

    def is_checkpoint(self, subject: str) -> bool:
        """Whether a subject of the log is the fence of a partition."""
        return subject.startswith(f"{self.prefix}.mark.") and subject.endswith(".transition.checkpoint.-.-.-")

    def state_checkpoint(self, partition: int | str) -> str:
        """The copy of a partition's fence in STATE."""
        return f"{self.prefix}.state.{partition}.checkpoint.-"

    def mark(self, partition: int | str, kind: str, entity_id: str) -> str:
        """The subject of a mark: a publisher's `sequence` whose event had no other effect."""
        return f"{self.marks(partition)}.{kind}.{quoted_id(entity_id)}"

    def marks(self, partition: int | str) -> str:
        """The beginning of the subjects of a partition's marks; kind and id follow."""
        return f"{self.prefix}.mark.{partition}.transition.mark.-.-"

    def plan(self, partition: int, chunk: int | str) -> str:
        """The subject of one chunk of a commit that is too large for one atomic batch."""
        return f"{self.prefix}.plan.{partition}.{chunk}"

    def tables(self, partition: int) -> str:
        """The subject of the notes about which table versions decide the events of a partition."""
        return f"{self.prefix}.tables.{partition}"

    def purged(self, partition: int | str) -> str:
        """The subject of the notes about which events an operator has purged."""
        return f"{self.prefix}.tables.{partition}.purged"

    def archived(self) -> str:
        """The subject of the notes about what was archived, and trimmed from the streams."""
        return f"{self.prefix}.tables.archived"

    def operated(self) -> str:
        """The subject of the notes about what else operators did."""
        return f"{self.prefix}.tables.operated"

    def skipped(self) -> str:
        """The subject of empty messages by which LOG skips places when it is put back. They are purged at once."""
        return f"{self.prefix}.tables.skipped"

    def identity(self) -> str:
        """The subject of the notes about which log this is."""
        return f"{self.prefix}.tables.identity"

    def outages(self) -> str:
        """The subject of the notes about outages of the server."""
        return f"{self.prefix}.tables.outages"

    def state(self, partition: int | str, kind: str, entity_id: str) -> str:
        """The subject of the last transition of one entity."""
        return f"{self.prefix}.state.{partition}.{kind}.{quoted_id(entity_id)}"
