"""Records the live feed and the checkpoints while an installation runs, and compares the feed with the log.

Belongs here: listening with nats-py, and the comparison. Does not: the log itself (`raw_checker`). Like it, it shares
no code with the engine.
"""

import asyncio
import hashlib
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from tests.support.patience import wait_for
from tests.support.raw_checker import Raw, decode

EACH = 0.2
"""Seconds between two looks at the checkpoints."""
BUFFER = 1 << 30
"""Bytes of the feed that may wait: a recorder that drops messages is none."""


class Said(NamedTuple):
    """One message of the feed, with its place in the log. The digest takes less room than the body."""

    subject: str
    sequence: int
    digest: bytes


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=12).digest()


class Recorder:
    """What the feed said, in order, and how each partition's checkpoint moved. gaps: how often the connection broke."""

    def __init__(self, client: Client, prefix: str) -> None:
        self.client, self.prefix = client, prefix
        self.feed: list[Said] = []
        self.problems: list[str] = []
        self.epochs: dict[str, list[int]] = defaultdict(list)
        self.gaps = 0
        self.over = False
        self._last: dict[str, tuple[int, int]] = {}
        self._heard: dict[str, int] = defaultdict(int)

    async def take(self, message: Msg) -> None:
        """One message of the feed."""
        place = int((message.headers or {}).get("Nats-Sequence", 0))
        self.feed.append(Said(message.subject, place, _digest(message.data)))
        branch = message.subject[len(self.prefix) + 1 :].partition(".")[0]
        self._heard[branch] = max(self._heard[branch], place)

    async def look(self) -> None:
        """Look at the last well-formed checkpoint of each partition: neither epoch nor position may fall."""
        js = self.client.jetstream(timeout=5)
        stream = f"{self.prefix.replace('.', '_')}-LOG"
        info = await js.stream_info(stream, subjects_filter=f"{self.prefix}.mark.*.transition.checkpoint.-.-.-")
        for subject in info.state.subjects or {}:
            found = decode((await js.get_last_msg(stream, subject)).data or b"")
            if found is None or type(found.get("epoch")) is not int:
                continue
            partition, rank = subject.split(".mark.")[1].split(".")[0], (found["epoch"], found["position"])
            if rank < self._last.get(partition, (0, 0)):
                self.problems.append(
                    f"partition {partition}: the checkpoint falls from {self._last[partition]} to {rank}"
                )
            self._last[partition] = rank
            if self.epochs[partition][-1:] != [found["epoch"]]:
                self.epochs[partition].append(found["epoch"])

    async def keep_looking(self) -> None:
        """Look again and again until the end, also while the server is away. It is not cancelled, for nats-py can
        swallow that.
        """
        while not self.over:
            with suppress(TimeoutError, NatsError, OSError):
                await self.look()
            await asyncio.sleep(EACH)

    async def until(self, log: list[Raw]) -> None:
        """Wait until the feed has come to the last transition and the last rejection of this log."""
        last: dict[str, int] = {}
        for raw in log:
            words = raw.subject[len(self.prefix) + 1 :].split(".")
            if words[0] == "log":
                last[words[2]] = raw.sequence

        async def complete() -> bool:
            return bool(self.gaps) or all(self._heard[branch] >= place for branch, place in last.items())

        async def heard() -> object:
            return len(self.feed)

        await wait_for(complete, heard, EACH)

    def compare(self, log: list[Raw]) -> list[str]:
        """The problems: what the feed said and the log does not hold, or the other way round.

        A feed with gaps is only checked for what it said: core messages that pass while nobody listens are gone.
        """
        skip = len(f"{self.prefix}.log.")
        wanted = {
            raw.sequence: (f"{self.prefix}.{raw.subject[skip:].partition('.')[2]}", _digest(raw.data))
            for raw in log
            if raw.subject.startswith(f"{self.prefix}.log.")
        }
        said = {one.sequence: (one.subject, one.digest) for one in self.feed}
        problems = list(self.problems)
        if len(said) != len(self.feed):
            problems.append(f"the feed said {len(self.feed) - len(said)} messages twice, or without a place")
        for branch in ("transition", "rejection"):  # one subscription each: only within it there is an order
            places = [one.sequence for one in self.feed if one.subject.startswith(f"{self.prefix}.{branch}.")]
            if places != sorted(places):
                problems.append(f"the feed of {branch}s is out of order")
        problems += [f"the feed differs from the log at {place}" for place in said if said[place] != wanted.get(place)]
        if not self.gaps:
            problems += [f"the feed lacks the record at {place}" for place in wanted.keys() - said.keys()]
        return problems[:50]


@asynccontextmanager
async def recording(url: str, prefix: str) -> AsyncIterator[Recorder]:
    """Record from now on. Start before the first record is committed."""
    client = Client()
    recorder = Recorder(client, prefix)

    async def broke() -> None:
        recorder.gaps += 1

    async def ignored(error: Exception) -> None:
        """A request that failed raises by itself."""

    await client.connect(url, error_cb=ignored, disconnected_cb=broke, max_reconnect_attempts=-1, reconnect_time_wait=1)
    for branch in ("transition", "rejection"):
        await client.subscribe(
            f"{prefix}.{branch}.>", cb=recorder.take, pending_msgs_limit=-1, pending_bytes_limit=BUFFER
        )
    await client.flush()
    looking = asyncio.create_task(recorder.keep_looking())
    try:
        yield recorder
    finally:
        recorder.over = True
        await looking
        await client.close()
