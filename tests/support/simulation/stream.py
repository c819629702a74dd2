"""A stream of the virtual server: what it stores, what it refuses, what it drops.

Belongs here: sequences, expected sequences, message ids, atomic batches, rollups, limits by subject, expiry,
schedules, purges, what a power cut takes.
Does not: reading (`pulling`), copying to other streams (`links`), requests and answers (`server`).
A test compares this with a real server.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from phaseline.engine.nats.frames import read_headers
from phaseline.schemas.records import nanoseconds
from phaseline.schemas.subjects import partition_of

EXPECTED = "Nats-Expected-Last-Subject-Sequence"
SECOND = 1_000_000_000
DROPPED_BY_SCHEDULER = re.compile(rb"\r\nNats-(?:Schedule[a-zA-Z-]*|Expected-[A-Za-z-]+|Msg-Id|TTL|Rollup):[^\r]*")
"""The headers of a schedule that what it stores does not have."""
Answer = dict[str, Any]
"""What the server says of a message: its sequence, or an error."""


class Kept(NamedTuple):
    """A stored message. block: its raw header block, or None."""

    subject: str
    data: bytes
    sequence: int
    time_ns: int
    block: bytes | None


class Listener(Protocol):
    """Somebody who wants to know of each message that a stream stores or drops."""

    def stored(self, found: Kept, /) -> None:
        """A message was stored."""

    def dropped(self, sequence: int, /) -> None:
        """A message is gone."""


def refusal(code: int, err_code: int, description: str) -> Answer:
    """What the server says of a request that it refuses."""
    return {"error": {"code": code, "err_code": err_code, "description": description}}


@lru_cache(maxsize=1 << 16)
def fits(filter_: str, subject: str) -> bool:
    """Whether a subject matches a filter."""
    words, tokens = filter_.split("."), subject.split(".")
    if words[-1] == ">":
        if len(tokens) < len(words):
            return False
    elif len(tokens) != len(words):
        return False
    return all(one in ("*", ">", token) for one, token in zip(words, tokens, strict=False))


@lru_cache(maxsize=1 << 14)
def matches(filters: tuple[str, ...], subject: str) -> bool:
    """Whether a subject matches one of the filters; any does if there is none."""
    return not filters or any(fits(one, subject) for one in filters)


def literal(filter_: str) -> str:
    """What all subjects that match a filter begin with."""
    return filter_.partition("*")[0].removesuffix(">")


@lru_cache(maxsize=1 << 14)
def transformed(subject: str, source: str, target: str) -> str:
    """A subject by the server's transform: wildcards, the partition of the first, and the rest."""
    tokens, pattern = subject.split("."), source.split(".")
    wild = [token for token, one in zip(tokens, pattern, strict=False) if one == "*"]
    made = list[str]()
    for word in target.split("."):
        if word.startswith("{{wildcard("):
            made.append(wild[int(word[11:-3]) - 1])
        elif word.startswith("{{partition("):
            count, at = map(int, word[12:-3].split(","))
            made.append(str(partition_of(wild[at - 1], count)))
        elif word == ">":
            made += tokens[len(pattern) - 1 :]
        else:
            made.append(word)
    return ".".join(made)


def _size(found: Kept) -> int:
    """How many bytes of a limit a message takes."""
    return len(found.data) + len(found.block or b"")


class VirtualStream:
    """One stream. clock: returns the time, ns."""

    def __init__(self, config: dict[str, Any], clock: Callable[[], int], identity: str) -> None:
        self.config, self.clock, self.identity, self.created_ns = dict(config), clock, identity, clock()
        self.name = str(config["name"])
        self.messages: dict[int, Kept] = {}
        self.stored: dict[int, Kept] = {}
        """All that it has ever held."""
        self.gone: dict[int, int] = {}
        """When each message was dropped, ns."""
        self.last = int(config.get("first_seq") or 1) - 1
        self.listeners: list[Listener] = []
        self.foreign: set[int] = set()
        """The sequences of messages that are answers of the server, which somebody had stored here."""
        self._bytes, self._times = 0, list[int]()
        """How large the messages are, and when each was stored, also of those that are gone."""
        self._on: dict[str, list[int]] = {}
        """By subject, the sequences of its messages."""
        self._ids: dict[str, tuple[int, int]] = {}
        """By message id, its sequence and time."""
        self._batches: dict[str, list[tuple[str, bytes, bytes, dict[str, str]]]] = {}
        self.at_expiry: Callable[[int, int], None] = lambda _, __: None
        """Called with a sequence, and the ns after which it expires."""
        self.at_schedule: Callable[[int, int], None] = lambda _, __: None
        """Called with the sequence of a schedule, and when it is due, ns."""
        self.schedules: dict[str, tuple[int, int]] = {}
        """By subject, the schedule that is to come: its sequence, and when it is due, ns."""
        self.learn()

    def learn(self) -> None:
        """Take over what the configuration says."""
        self.filters = tuple[str, ...](self.config.get("subjects") or ())
        self._starts = tuple(literal(one) for one in self.filters)
        self._window = int(self.config.get("duplicate_window") or 120 * SECOND)
        self._most = int(self.config.get("max_msgs_per_subject") or -1)

    @property
    def first(self) -> int:
        """The sequence of the first message; that of the next one if there is none."""
        return next(iter(self.messages), self.last + 1)

    @property
    def last_ns(self) -> int:
        """When the last message was stored, ns; 0 if there never was one."""
        return self._times[-1] if self._times else 0

    def takes(self, subject: str) -> bool:
        """Whether it stores messages on a subject."""
        return subject.startswith(self._starts) and matches(self.filters, subject)

    # ---- storing

    def publish(self, subject: str, data: bytes, block: bytes | None) -> Answer | None:
        """Store a message, or keep it for its batch; the answer, None where the server gives none."""
        headers = read_headers(block) if block else {}
        if "Nats-Stream-Source" in headers:
            return refusal(400, 10227, "message contains a header of the server")
        batch = headers.get("Nats-Batch-Id")
        if batch is not None and self.config.get("allow_atomic"):
            return self._in_batch(batch, (subject, data, block or b"", headers))
        known = headers.get("Nats-Msg-Id")
        if known and (sequence := self._known(known)):
            return {"stream": self.name, "seq": sequence, "duplicate": True}
        if error := self.unexpected(subject, headers):
            return error
        return {"stream": self.name, "seq": self._append(subject, data, block, headers)}

    def _known(self, message_id: str) -> int:
        sequence, at = self._ids.get(message_id, (0, 0))
        return sequence if sequence and self.clock() - at <= self._window else 0

    def _in_batch(self, batch: str, message: tuple[str, bytes, bytes, dict[str, str]]) -> Answer | None:
        headers = message[3]
        held = self._batches.setdefault(batch, [])
        held.append(message)
        if "Nats-Batch-Commit" not in headers:
            return None
        del self._batches[batch]
        if [int(one[3]["Nats-Batch-Sequence"]) for one in held] != [*range(1, len(held) + 1)]:
            return refusal(400, 10176, "atomic publish batch is incomplete")
        for subject, _, _, found in held:
            if error := self.unexpected(subject, found):
                return error
        for subject, data, block, found in held:
            sequence = self._append(subject, data, block, found)
        return {"stream": self.name, "seq": sequence, "batch": batch, "count": len(held)}

    def unexpected(self, subject: str, headers: dict[str, str]) -> Answer | None:
        """The refusal of a message that expects something else of its subject."""
        expected = headers.get(EXPECTED)
        if expected is None:
            return None
        found = self.last_on(headers.get(f"{EXPECTED}-Subject", subject))
        sequence = 0 if found is None else found.sequence
        return None if sequence == int(expected) else refusal(400, 10071, f"wrong last sequence: {sequence}")

    def _append(self, subject: str, data: bytes, block: bytes | None, headers: dict[str, str]) -> int:
        transform = self.config.get("subject_transform")
        if transform and "Nats-Stream-Source" not in headers:
            subject = transformed(subject, transform["src"], transform["dest"])
        self.last += 1
        found = Kept(subject, data, self.last, self.clock(), block)
        self.messages[self.last] = self.stored[self.last] = found
        self._times.append(found.time_ns)
        self._bytes += _size(found)
        on = self._on.setdefault(subject, [])
        on.append(self.last)
        if message_id := headers.get("Nats-Msg-Id"):
            self._ids[message_id] = self.last, found.time_ns
        is_rollup = "Nats-Rollup" in headers and self.config.get("allow_rollup_hdrs")
        most = 1 if is_rollup else self._most
        if most > 0:
            for sequence in on[:-most]:
                self.remove(sequence)
        if "Nats-TTL" in headers and self.config.get("allow_msg_ttl"):
            self.at_expiry(self.last, int(headers["Nats-TTL"].removesuffix("s")) * SECOND)
        if self.config.get("allow_msg_schedules"):
            self._schedule(found, headers)
        for one in self.listeners:
            one.stored(found)
        return found.sequence

    def _schedule(self, found: Kept, headers: dict[str, str]) -> None:
        """Take the schedule that a message is, or cancel the one that it names. Any other ends that of its subject."""
        if headers.get("Nats-Schedule-Next") == "purge":
            self.purge(headers["Nats-Scheduler"])
        self.schedules.pop(found.subject, None)
        if when := headers.get("Nats-Schedule"):
            for sequence in self._on[found.subject][:-1]:
                self.remove(sequence)
            due = nanoseconds(when.removeprefix("@at "))
            self.schedules[found.subject] = found.sequence, due
            self.at_schedule(found.sequence, due)

    def fire(self, sequence: int) -> None:
        """Store what a schedule is for, if it is still to come. It is gone then."""
        found = self.messages.get(sequence)
        if found is None or self.schedules.get(found.subject, (0, 0))[0] != sequence:
            return
        headers = read_headers(found.block or b"")
        block = DROPPED_BY_SCHEDULER.sub(b"", found.block or b"")[:-4]
        block += b"\r\nNats-Schedule-Next: purge\r\nNats-Scheduler: %s\r\n\r\n" % found.subject.encode()
        self._append(headers["Nats-Schedule-Target"], found.data, block, read_headers(block))

    def copy(self, subject: str, data: bytes, block: bytes) -> bool:
        """Store a message that comes from another stream; False if its id is known."""
        headers = read_headers(block)
        if (message_id := headers.get("Nats-Msg-Id")) and self._known(message_id):
            return False
        self._append(subject, data, block, headers)
        return True

    # ---- dropping

    def remove(self, sequence: int) -> bool:
        """Drop a message; False if it is gone."""
        found = self.messages.pop(sequence, None)
        if found is None:
            return False
        self.gone[sequence] = self.clock()
        self._bytes -= _size(found)
        if self.schedules.get(found.subject, (0, 0))[0] == sequence:
            del self.schedules[found.subject]
        on = self._on[found.subject]
        on.remove(sequence)
        if not on:
            del self._on[found.subject]
        for one in self.listeners:
            one.dropped(sequence)
        return True

    def purge(self, filter_: str = "", below: int = 0, keep: int = 0) -> int:
        """Drop messages by subject, below a sequence, and all but the last ones; how many they were."""
        found = [
            one.sequence
            for one in [*self.messages.values()]
            if (not below or one.sequence < below) and (not filter_ or fits(filter_, one.subject))
        ]
        if keep:
            found = found[:-keep]
        return sum(map(self.remove, found))

    def go_on_from(self, sequence: int) -> None:
        """Give the next message this number at least."""
        while self.last < sequence - 1:
            self.last += 1
            self._times.append(self.clock())

    def crash(self) -> None:
        """What a killed server forgets: batches that were not complete, and ids of messages that are gone."""
        self._batches.clear()
        self._ids.clear()
        for one in self.messages.values():
            if one.block and (message_id := read_headers(one.block).get("Nats-Msg-Id")):
                self._ids[message_id] = one.sequence, one.time_ns

    def lose(self, since_ns: int) -> None:
        """Have nothing that was stored since then: it was not on the disk. The next ones get these numbers again."""
        while self._times and self._times[-1] > since_ns:
            self.remove(self.last)
            self._times.pop()
            self.stored.pop(self.last, None)
            self.last -= 1

    # ---- reading

    def last_on(self, subject: str) -> Kept | None:
        """The last message on a subject, which may have wildcards."""
        if "*" not in subject and not subject.endswith(">"):
            on = self._on.get(subject)
            return self.messages[on[-1]] if on else None
        places = [on[-1] for one, on in self._on.items() if fits(subject, one)]
        return self.messages[max(places)] if places else None

    def last_own(self, subject: str) -> Kept | None:
        """The last message on a subject that is not foreign."""
        places = [one for one in self._on.get(subject, ()) if one not in self.foreign]
        return self.messages[places[-1]] if places else None

    def held_at(self, moment_ns: int) -> dict[int, Kept]:
        """What a replica holds that has got as far as this moment."""
        gone = self.gone
        return {
            one.sequence: one
            for one in self.stored.values()
            if one.time_ns <= moment_ns < gone.get(one.sequence, moment_ns + 1)
        }

    def wanted(self, ask: dict[str, Any], held: dict[int, Kept] | None = None) -> Kept | None:
        """The message that a request names. held: what the replica has that answers, if it is not the leader."""
        if "last_by_subj" in ask:
            filter_ = ask["last_by_subj"]
            if held is None:
                return self.last_on(filter_)
            return next((one for one in reversed(held.values()) if fits(filter_, one.subject)), None)
        held = self.messages if held is None else held
        if "next_by_subj" in ask:
            filter_, start = ask["next_by_subj"], int(ask.get("seq") or 0)
            since = nanoseconds(ask["start_time"]) if "start_time" in ask else 0
            later = (one for one in held.values() if one.sequence >= start and one.time_ns >= since)
            return next((one for one in later if fits(filter_, one.subject)), None)
        return held.get(int(ask["seq"]))

    def state(self, moment_ns: int = 0) -> dict[str, Any]:
        """What the server says of its messages; what a former leader says, which has got as far as this moment."""
        held = self.held_at(moment_ns) if moment_ns else self.messages
        last = self.last - len(self._times) + bisect_right(self._times, moment_ns) if moment_ns else self.last
        first = next(iter(held), last + 1)
        return {
            "messages": len(held),
            "bytes": sum(map(_size, held.values())) if moment_ns else self._bytes,
            "first_seq": first if held or last else 0,
            "last_seq": last,
            "first_ts": held[first].time_ns if held else None,
            "last_ts": held[next(reversed(held))].time_ns if held else None,
        }
