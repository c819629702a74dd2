"""Checks an installation by what NATS holds, and shares no code with the engine: own subjects, own decoding.

Belongs here: reading the streams with nats-py, and what must hold for any tables. Does not: deciding events
(`log_check` compares the log with what the core makes), the live feed (`raw_recorder`). It follows docs/design.md.
"""

import asyncio
import json
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
from nats.aio.client import Client
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

LIMIT = 60.0
"""Seconds without any movement in which STATE must have copied the log."""
PIECE = 1_000
COPIED = "Nats-Stream"
"""A header of every direct get. A stored message that has it was injected: the server answered to a subject of ours."""


@dataclass(frozen=True)
class Raw:
    """A stored message."""

    subject: str
    sequence: int
    data: bytes
    headers: dict[str, str]


@dataclass(frozen=True)
class Answer:
    """What the checker needs of a record: the event, the place among its records, and the entity's version."""

    raw: Raw
    position: int
    index: int
    records: int
    entity: str
    version: int | None
    event: str
    source: str


@dataclass
class Report:
    """What was found. `problems` must be empty. `foreign`: messages that nobody of ours wrote, by subject."""

    events: int = 0
    answers: int = 0
    problems: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    log: list[Raw] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Note a problem; the first ones are enough."""
        if len(self.problems) < 50:
            self.problems.append(text)

    def __str__(self) -> str:
        return "\n".join([f"{self.events} events, {self.answers} answers", *self.problems, *self.foreign])


def decode(data: bytes) -> Any:
    """A body as a map; None if it is none."""
    try:
        found = json.loads(data) if data[:1] == b"{" else msgpack.unpackb(data, timestamp=0, strict_map_key=False)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException):
        return None
    return found if isinstance(found, dict) else None


async def read(client: Client, stream: str) -> list[Raw]:
    """All messages that a stream holds now."""
    js = client.jetstream(timeout=20)
    state = (await js.stream_info(stream)).state
    if not state.messages:
        return []
    name = f"raw{client._nuid.next().decode()}"
    config = ConsumerConfig(
        name=name,
        ack_policy=AckPolicy.NONE,
        deliver_policy=DeliverPolicy.ALL,
        inactive_threshold=60.0,
        mem_storage=True,
    )
    await js.add_consumer(stream, config)
    reader = await js.pull_subscribe_bind(name, stream)
    found: list[Raw] = []
    try:
        while True:  # to the very end: a checkpoint that moves meanwhile stands behind the last place of before
            try:
                batch = await reader.fetch(PIECE, timeout=5)
            except NatsTimeout:
                break  # the last messages are deleted
            for message in batch:
                place = message.metadata.sequence.stream
                found.append(Raw(message.subject, place, message.data, dict(message.headers or {})))
            if batch[-1].metadata.num_pending == 0:
                break
    finally:
        await reader.unsubscribe()
        await js.delete_consumer(stream, name)
    return found


class Checker:
    """The checks of one installation. `must_answer`: types of events that always get an answer, such as intents."""

    def __init__(self, client: Client, prefix: str, must_answer: frozenset[str] = frozenset()) -> None:
        self.client, self.prefix, self.must_answer = client, prefix, must_answer
        self.report = Report()
        self.skip = prefix.count(".") + 1

    def stream(self, role: str) -> str:
        return f"{self.prefix.replace('.', '_')}-{role}"

    def words(self, subject: str) -> list[str]:
        """The tokens after the prefix."""
        return subject.split(".")[self.skip :]

    async def check(self, *, finished: bool = True, states: bool = True) -> Report:
        """Read everything and check it. finished: every event must be decided. states: STATE is checked too."""
        events, log = await read(self.client, self.stream("EVENTS")), await read(self.client, self.stream("LOG"))
        self.report.events, self.report.log = len(events), log
        answers, checkpoints = self._sorted(log)
        self.report.answers = sum(map(len, answers.values()))
        for partition, found in answers.items():
            self._check_order(partition, found)
            self._check_versions(found)
        self._check_events(events, answers, checkpoints, finished)
        if states:
            await self._check_states(answers)
        return self.report

    def _sorted(self, log: list[Raw]) -> tuple[dict[str, list[Answer]], dict[str, dict[str, Any]]]:
        """The answers of each partition in the order of LOG, and its last checkpoint."""
        answers: dict[str, list[Answer]] = defaultdict(list)
        checkpoints: dict[str, dict[str, Any]] = {}
        for raw in log:
            words = self.words(raw.subject)
            if words[0] not in ("log", "mark"):
                continue
            if words[0] == "mark" and words[2:4] == ["transition", "checkpoint"]:
                found = self._checkpoint(raw)
                if found is None or COPIED in raw.headers:
                    self._foreign(raw)
                elif _rank(found) >= _rank(checkpoints.get(words[1], {})):
                    checkpoints[words[1]] = found
                else:
                    self.report.say(f"the checkpoint at {raw.sequence} falls back: {found}")
                continue
            answer = self._answer(raw, words)
            if answer is None or COPIED in raw.headers:
                self._foreign(raw)
            else:
                answers[words[1]].append(answer)
        return answers, checkpoints

    def _foreign(self, raw: Raw) -> None:
        if len(self.report.foreign) < 50:
            self.report.foreign.append(f"foreign: {raw.subject} at {raw.sequence}: {raw.data[:60]!r}")

    def _checkpoint(self, raw: Raw) -> dict[str, Any] | None:
        found = decode(raw.data)
        names = {"epoch": int, "worker": str, "position": int, "commit": str}
        if found is None or any(type(found.get(name)) is not kind for name, kind in names.items()):
            return None
        return dict(found)

    def _answer(self, raw: Raw, words: list[str]) -> Answer | None:
        """A record in the form that docs/design.md gives; None if it has another form, or does not belong there."""
        body = decode(raw.data)
        try:
            data, cause = body["data"], body["data"]["cause"]
            position, _, index = body["id"].partition("-")
            kind, verb = body["type"].split(".")
            ours = body["source"] == f"phaseline/{self.prefix}" and int(position) == cause["sequence"]
            place = {"transitioned": "transition", "rejected": "rejection", "marked": "transition"}[verb]
            fits = words[2] == place and body["subject"] == f"{data['kind']}/{data['id']}"
            if verb == "transitioned":
                fits = (
                    fits and words[3:6] == [data["kind"], data["facet"], data["to"]["state"]] and kind == data["kind"]
                )
            version = data["version"] if verb == "transitioned" else None
            tail = ".".join(words[6:])
            entity = f"{data['kind']}.{tail}" if verb == "transitioned" else tail if verb == "marked" else ""
            if not (ours and fits):
                return None
            return Answer(
                raw, int(position), int(index), cause["records"], entity, version, cause["event"], cause["source"]
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _check_order(self, partition: str, answers: list[Answer]) -> None:
        """The positions of the causes rise, and each event's records stand together: 0, 1, 2 ... up to their number."""
        before: Answer | None = None
        for found in answers:
            here = f"record {found.position}-{found.index} at {found.raw.sequence} of partition {partition}"
            if before is None or found.position > before.position:
                if found.index != 0:
                    self.report.say(f"{here}: the first record of its event is missing")
                if before is not None and before.index + 1 != before.records:
                    self.report.say(
                        f"{here}: event {before.position} has {before.index + 1} of {before.records} records"
                    )
            elif found.position < before.position:
                self.report.say(f"{here} stands behind one of event {before.position}: doubled or out of order")
            elif found.index != before.index + 1 or found.records != before.records:
                self.report.say(f"{here} stands behind record {before.position}-{before.index}: doubled or missing")
            before = found
        if before is not None and before.index + 1 != before.records:
            self.report.say(
                f"partition {partition}: event {before.position} has {before.index + 1} of {before.records}"
            )

    def _check_versions(self, answers: list[Answer]) -> None:
        """The transitions of an entity count 1, 2, 3."""
        last: dict[str, int] = defaultdict(int)
        for found in answers:
            if found.version is not None:
                if found.version != last[found.entity] + 1:
                    self.report.say(f"{found.entity}: version {found.version} follows version {last[found.entity]}")
                last[found.entity] = found.version

    def _check_events(
        self,
        events: list[Raw],
        answers: dict[str, list[Answer]],
        checkpoints: dict[str, dict[str, Any]],
        finished: bool,
    ) -> None:
        """Each answer names an event of its partition; each event is answered or passed."""
        stored = {raw.sequence: raw for raw in events}
        first, last = (events[0].sequence, events[-1].sequence) if events else (0, 0)
        positions = {
            partition: max(
                checkpoints.get(partition, {}).get("position", 0),
                *(one.position for one in answers.get(partition, [])[-1:]),
                0,
            )
            for partition in {*answers, *checkpoints}
        }
        answered: set[int] = set()
        for partition, found in answers.items():
            for one in found:
                answered.add(one.position)
                event = stored.get(one.position)
                if event is None:
                    if first <= one.position <= last:
                        self.report.say(f"record {one.position}-{one.index}: no such event")
                elif self.words(event.subject)[1] != partition:
                    self.report.say(f"record {one.position}-{one.index}: its event is of another partition")
                elif not _same_event(decode(event.data), one):
                    self.report.say(f"record {one.position}-{one.index} names another event: {one.event!r}")
        for raw in events:
            partition = self.words(raw.subject)[1]
            passed = raw.sequence <= positions.get(partition, 0)
            if finished and not passed:
                self.report.say(f"event {raw.sequence} of partition {partition} is not decided")
            if passed and raw.sequence not in answered:
                kind = (decode(raw.data) or {}).get("type", "undecodable")
                if kind in self.must_answer or kind == "undecodable":
                    self.report.say(f"event {raw.sequence} ({kind}) has no answer and is passed: it is lost")

    async def _check_states(self, answers: dict[str, list[Answer]]) -> None:
        """STATE holds the last transition or mark of each entity, and nothing else. It may lag for a moment."""
        wanted: dict[str, bytes] = {}
        for partition, found in answers.items():
            for one in found:
                if one.entity:
                    wanted[f"{self.prefix}.state.{partition}.{one.entity}"] = one.raw.data
        wrong, last, since = await self._wrong_states(wanted), 0, time.monotonic()
        while wrong and time.monotonic() - since < LIMIT:
            await asyncio.sleep(0.1)
            wrong = await self._wrong_states(wanted)
            copied = (await self.client.jetstream().stream_info(self.stream("STATE"))).state.last_seq
            if copied != last:
                last, since = copied, time.monotonic()
        for subject in wrong:
            self.report.say(f"STATE differs from the last record of the log: {subject}")

    async def _wrong_states(self, wanted: dict[str, bytes]) -> list[str]:
        """The subjects at which STATE holds something else now."""
        states = await read(self.client, self.stream("STATE"))
        found = {raw.subject: raw for raw in states if self.words(raw.subject)[2] != "checkpoint"}
        return [
            subject
            for subject in sorted(wanted.keys() | found.keys())
            if not self._is_state(found.get(subject), wanted.get(subject))
        ]

    def _is_state(self, raw: Raw | None, wanted: bytes | None) -> bool:
        """Whether STATE holds what it should. A foreign message that STATE copied from the log may cover a record."""
        if raw is None or raw.data == wanted:
            return raw is not None
        body = decode(raw.data)
        return bool(self.report.foreign) and (COPIED in raw.headers or body is None or "specversion" not in body)


def _rank(checkpoint: dict[str, Any]) -> tuple[int, int]:
    return checkpoint.get("epoch", 0), checkpoint.get("position", 0)


def _same_event(event: Any, answer: Answer) -> bool:
    """Whether the record names its event's id and source. Of an event that cannot be read it may name neither."""
    named = {answer.event, answer.source} - {""}
    if not isinstance(event, dict):
        return not named
    return not named or (event.get("id"), event.get("source")) == (answer.event, answer.source)


async def check(
    url: str, prefix: str, *, finished: bool = True, must_answer: frozenset[str] = frozenset(), foreign: bool = False
) -> Report:
    """Check an installation and raise `AssertionError` with all problems. foreign: whether injected messages may be."""
    client = Client()
    await client.connect(url, error_cb=_ignored, max_reconnect_attempts=20)
    try:
        report = await Checker(client, prefix, must_answer).check(finished=finished)
    finally:
        await client.close()
    assert not report.problems, f"\n{report}"
    assert foreign or not report.foreign, f"\n{report}"
    return report


async def _ignored(error: Exception) -> None:
    """nats-py prints tracebacks otherwise; a request that failed raises by itself."""
