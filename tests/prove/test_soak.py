"""A long steady run: memory stays flat, no line is logged that should not be, and the log is right at the end.

PROVE_SCALE=0.02 makes the hour a little more than a minute.
"""

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.streams import provision
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import until_decided
from tests.support.log_check import assert_log_is_the_fold
from tests.support.prove_scale import scaled
from tests.support.random_events import RandomEvents, Sent, publish
from tests.support.raw_checker import check
from tests.support.raw_recorder import recording
from tests.support.worker_fleet import Fleet, fleet_of

PIECE, PAUSE = 10, 0.1
"""Events that are published at once, and the seconds until the next ones."""
USUAL = frozenset(
    {
        *("worker_started", "partition_taken", "partition_handed_over", "tables_noted"),
        *("worker_counts", "worker_stopped"),
    }
)
BUSY = USUAL | {
    *("partition_lost", "lease_left", "lease_wait", "lease_back"),
    *("slow_decision", "commit_in_doubt", "reader_silence", "reader_gap", "partition_cut_off", "log_identified"),
}
"""What is written as well while the machine has other work. A worker that stops while the server owes it an
answer cuts its partition off."""
DELAY = 0.1
"""Seconds. If this test itself wakes up later than that, the machine has other work."""
LINE = re.compile(r"([A-Z]+):phaseline[\w.]*:(\w+)")
MARGIN, SHARE = 6.0, 1.1
"""Megabytes, and the factor, by which the last quarter may be above the second."""
SERVER_MARGIN = 100.0
"""The same for the server. It keeps an index of all messages, and ten minutes of message ids."""


def troubles(fleet: RandomEvents) -> Iterator[list[Sent]]:
    """Nodes fail and recover, for ever."""
    while True:
        cycle = list(fleet.troubles(6, 10))
        yield from (cycle[start : start + PIECE] for start in range(0, len(cycle), PIECE))


def megabytes(pid: int) -> float:
    """The resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def stray(text: str, usual: frozenset[str] = USUAL) -> list[str]:
    """The lines that a steady run does not write."""
    found = [(line, LINE.match(line)) for line in text.splitlines()]
    return [line for line, match in found if match is None or match[2] not in usual or match[1] == "ERROR"]


def assert_flat(name: str, samples: list[float], margin: float = MARGIN) -> None:
    """The last quarter of the run is not above the second one. The first one fills caches."""
    quarter = len(samples) // 4
    before, after = max(samples[quarter : 2 * quarter]), max(samples[3 * quarter :])
    assert after <= before * SHARE + margin, f"{name} grows from {before:.1f} to {after:.1f} MB: {samples}"


async def soak(server: EmbeddedServer, settings: Settings, folder: Path, seconds: float, busy: bool = False) -> Fleet:
    """Run two workers under load; `busy`: the machine has other work for certain."""
    memory: dict[str, list[float]] = {}
    async with AsyncExitStack() as stack:
        wire = await stack.enter_async_context(Wire.open(settings, name="soak"))
        layout = await provision(wire, settings)
        recorder = await stack.enter_async_context(recording(server.url, settings.prefix))
        fleet = await stack.enter_async_context(fleet_of(settings, 2, folder))
        events = RandomEvents(settings.prefix)
        first = list(events.built(6, 10))
        await publish(wire, first)
        await until_decided(wire, layout)
        pieces, begun, sent, late = troubles(events), time.monotonic(), len(first), 0.0
        while time.monotonic() - begun < seconds:
            for number, worker in enumerate(fleet.running):
                memory.setdefault(f"worker {number}", []).append(megabytes(worker.process.pid))
            memory.setdefault("the server", []).append(megabytes(server.pid))
            for _ in range(max(1, int(seconds / 400 / PAUSE))):
                piece = next(pieces)
                sent += len(piece)
                await publish(wire, piece)
                asleep = time.monotonic()
                await asyncio.sleep(PAUSE)
                late = max(late, time.monotonic() - asleep - PAUSE)
        await until_decided(wire, layout)
        report = await check(server.url, settings.prefix)
        assert report.events == sent
        await recorder.until(report.log)
        assert recorder.compare(report.log) == []
        await assert_log_is_the_fold(wire, layout, BUILT_IN_KINDS)
    for name, samples in memory.items():
        assert_flat(name, samples, SERVER_MARGIN if name == "the server" else MARGIN)
    assert stray(fleet.log, BUSY if busy or late > DELAY else USUAL) == []
    return fleet


async def test_a_short_soak(own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path) -> None:
    await soak(own_server, replace(own_settings, partitions=4), tmp_path, seconds=2, busy=True)


@pytest.mark.slow
async def test_an_hour_of_soak(own_server: EmbeddedServer, own_settings: Settings, tmp_path: Path) -> None:
    await soak(own_server, replace(own_settings, partitions=8), tmp_path, seconds=scaled(3_600, 60))


def test_stray_lines_are_found() -> None:
    usual = "INFO:phaseline.engine.worker.partition:partition_taken entities=0 epoch=1"
    assert stray(f"{usual}\n{usual.replace('INFO', 'ERROR')}\nTraceback (most recent call last):") == [
        usual.replace("INFO", "ERROR"),
        "Traceback (most recent call last):",
    ]
    with pytest.raises(AssertionError, match=r"grows from 20\.0 to 40\.0 MB"):
        assert_flat("it", [10.0, 20.0, 30.0, 40.0])
