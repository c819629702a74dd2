"""Clients that take more of `phaseline serve` than they should, on raw sockets, while others ask and follow.

The process has 256 handles. Whatever the attack: probes and other clients are answered, memory stays within bounds, and
the log is not filled.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import suppress

import httpx2
import pytest
import pytest_asyncio

from tests.support.attacked_server import ATTACKS, Attack, Attacked, answers, attacked
from tests.support.command import LIMIT
from tests.support.installation import EmbeddedServer, Settings, Wire, installation_with_history
from tests.support.prober import Prober, probing
from tests.support.random_events import RandomEvents, publish

SHARED = pytest.mark.asyncio(loop_scope="module")
MOST = 150
"""Megabytes of memory."""
ROUNDS = 3
MEASURED, SHORTLY = 2.0, 0.5
"""Seconds for which `/livez` is asked at least, for the figures of a proof and in each run."""
LINE, LINES = 400, 5
"""Bytes of a line in the log; lines of a second and those of the beginning."""
SHORT = ("half a body", "headers without end", "pipelined after a stream", "answers that nobody reads")
"""The attacks of each run, one of each class: requests that do not end, that are too large, that are too many, and
answers that nobody takes. `prove` has all.
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def installation(server: EmbeddedServer) -> AsyncIterator[tuple[Settings, Wire]]:
    """An installation whose answers are large enough to fill sockets."""
    settings = Settings(nats=(server.url,), prefix="attacked")
    async with (
        Wire.open(settings, name="test") as wire,
        installation_with_history(settings, wire, events=1_500, clusters=10, nodes=40),
    ):
        yield settings, wire


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(
    installation: tuple[Settings, Wire], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Attacked]:
    """The process. All attacks go against the same one: what they take must be given back."""
    async with attacked(installation[0], tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def prober(
    installation: tuple[Settings, Wire], served: Attacked, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Prober]:
    """It asks the process, and another one that nobody attacks."""
    async with (
        attacked(installation[0], tmp_path_factory.mktemp("idle")) as idle,
        probing(served.url, idle.url) as asks,
    ):
        yield asks


async def _follow(served: Attacked, seen: asyncio.Queue[int]) -> None:
    """Follow transitions as a page does: begin again where it ended."""
    last = ""
    async with served.client() as http:
        while True:
            headers = {"Last-Event-ID": last} if last else {}
            with suppress(httpx2.HTTPError):
                async with http.stream("GET", "/v1/transitions?form=columns", headers=headers) as answer:
                    async for line in answer.aiter_lines():
                        if line.startswith("id: "):
                            last = line[4:]
                        if line.startswith("data: ") and "rows" in (data := json.loads(line[6:])):
                            seen.put_nowait(data["place"])
            await asyncio.sleep(0.05)


async def _seen(wire: Wire, fleet: RandomEvents, seen: asyncio.Queue[int]) -> None:
    """Let something happen until the one who follows sees it."""
    while not seen.empty():
        seen.get_nowait()
    async with asyncio.timeout(LIMIT):
        while seen.empty():
            await publish(wire, [fleet.event("node", word, "c1/p/n0") for word in ("not_ready", "ready")])
            await asyncio.sleep(0.1)


@SHARED
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SHORT else pytest.mark.slow) for name in ATTACKS]
)
async def test_others_are_served_meanwhile(
    installation: tuple[Settings, Wire], served: Attacked, prober: Prober, name: str
) -> None:
    settings, wire = installation
    fleet, seen = RandomEvents(settings.prefix, seed=len(name)), asyncio.Queue[int]()
    fleet.number = 1_000_000 + 10_000 * list(ATTACKS).index(name)
    most, logged, began = 0, served.log.stat().st_size, time.monotonic()
    async with Attack(served) as attack:
        attack.tasks.append(asyncio.create_task(_follow(served, seen)))
        await _seen(wire, fleet, seen)
        await ATTACKS[name](attack)
        await prober.report()
        computed, waited, since = served.computed, served.waited, time.monotonic()
        for _ in range(ROUNDS):
            async with asyncio.timeout(LIMIT):
                while (status := await answers(served, "/v1/counts")) in (0, 503):
                    await asyncio.sleep(0.2)  # try again, as the answer asks for
            assert status == 200, (name, status)
            most = max(most, served.megabytes)
            await asyncio.sleep(0.1)
        await asyncio.sleep(max(0.0, since + (SHORTLY if name in SHORT else MEASURED) - time.monotonic()))
        attacked_figures, idle_figures = await prober.report()
        passed = time.monotonic() - since
        computed, waited = (served.computed - computed) / passed, (served.waited - waited) / passed
        await _seen(wire, fleet, seen)
    own = computed / (computed + waited)  # of the time in which it could compute; the rest is the machine's
    sys.stderr.write(
        f"{name}: {most} MB, it computed for {computed:.0%} of the time and waited for a CPU for {waited:.0%}\n"
        f"  /livez {attacked_figures}\n  of these it computed p50 {own * attacked_figures.p50:.1f}, "
        f"p99 {own * attacked_figures.p99:.1f} ms\n  of an idle server {idle_figures}\n"
    )
    assert attacked_figures.failed == 0, (name, attacked_figures)
    assert most < MOST, name
    lines = LINES + time.monotonic() - began
    assert served.log.stat().st_size - logged < lines * LINE, name
    assert all(line.startswith("{") for line in served.log.read_text().splitlines()), name
    assert served.process.returncode is None
