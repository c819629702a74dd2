"""The raw checker accepts a sound installation, finds every sort of damage, and shares no code with the engine."""

import ast
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import ModuleType

import pytest
import pytest_asyncio
from nats.aio.client import Client

from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from tests.support import patience, raw_checker, raw_recorder
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import installation_with_history, until_decided, working
from tests.support.random_events import RandomEvents, publish
from tests.support.raw_checker import Raw, check, read
from tests.support.raw_recorder import recording

ALONE = {
    patience: set(),
    raw_checker: set(),
    raw_recorder: {"tests.support.patience", "tests.support.raw_checker"},
}


@pytest.mark.parametrize("module", ALONE)
def test_they_share_no_code_with_the_engine(module: ModuleType) -> None:
    path = Path(module.__file__ or "")
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    found = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    found |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert {one for one in found if one.partition(".")[0] in ("phaseline", "tests", "benchmarks")} == ALONE[module]


@pytest_asyncio.fixture
async def layout(wire: Wire, settings: Settings) -> AsyncIterator[Layout]:
    """An installation with a history, whose worker has stopped."""
    async with installation_with_history(settings, wire, events=150, clusters=3) as made:
        pass
    yield made


@pytest_asyncio.fixture
async def client(settings: Settings) -> AsyncIterator[Client]:
    client = Client()
    await client.connect(settings.nats[0])
    yield client
    await client.close()


async def records(client: Client, layout: Layout) -> list[Raw]:
    return [raw for raw in await read(client, layout.log) if raw.subject.startswith(f"{layout.prefix}.log.")]


async def test_a_sound_installation_is_accepted(settings: Settings, layout: Layout) -> None:
    report = await check(settings.nats[0], layout.prefix, must_answer=frozenset({"node.create", "node.stop"}))
    assert report.events > 150
    assert report.answers > 100


async def repeated(client: Client, layout: Layout) -> None:
    last = (await records(client, layout))[-1]
    await client.jetstream().publish(last.subject, last.data)


async def lost(client: Client, layout: Layout) -> None:
    await client.jetstream().delete_msg(layout.log, (await records(client, layout))[20].sequence)


async def swapped(client: Client, layout: Layout) -> None:
    first = (await records(client, layout))[0]
    await client.jetstream().delete_msg(layout.log, first.sequence)
    await client.jetstream().publish(first.subject, first.data)


async def forgotten_state(client: Client, layout: Layout) -> None:
    entities = [raw for raw in await read(client, layout.state) if ".checkpoint." not in raw.subject]
    await client.jetstream().delete_msg(layout.state, entities[0].sequence)


async def undecided(client: Client, layout: Layout) -> None:
    await client.jetstream().publish(f"{layout.prefix}.events.c1.node.ready.p.n1", b"nonsense")


async def other_event(client: Client, layout: Layout) -> None:
    answered = (await records(client, layout))[20]
    body = raw_checker.decode(answered.data)
    await client.jetstream().delete_msg(layout.events, body["data"]["cause"]["sequence"])


async def passed_unanswered(client: Client, layout: Layout) -> None:
    """All records of the last event with an answer are gone."""
    found = await records(client, layout)
    cause = raw_checker.decode(found[-1].data)["data"]["cause"]["sequence"]
    for raw in found:
        if raw_checker.decode(raw.data)["data"]["cause"]["sequence"] == cause:
            await client.jetstream().delete_msg(layout.log, raw.sequence)


DAMAGES: dict[str, tuple[Callable[[Client, Layout], Awaitable[None]], str]] = {
    "a record twice": (repeated, "doubled"),
    "a record lost": (lost, "version|missing|no answer|has . of|STATE"),
    "records swapped": (swapped, "out of order|version|missing"),
    "a state lost": (forgotten_state, "STATE differs"),
    "an event not decided": (undecided, "is not decided"),
    "a record without an event": (other_event, "no such event"),
    "an answer lost": (passed_unanswered, "STATE differs|no answer|not decided"),
}


@pytest.mark.parametrize("name", DAMAGES)
async def test_damage_is_found(
    name: str, settings: Settings, layout: Layout, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_checker, "LIMIT", 0.3)
    damage, words = DAMAGES[name]
    await damage(client, layout)
    with pytest.raises(AssertionError, match=words):
        await check(settings.nats[0], layout.prefix)


async def test_foreign_messages_are_named(settings: Settings, layout: Layout, client: Client) -> None:
    await client.jetstream().publish(f"{layout.prefix}.mark.0.transition.checkpoint.-.-.-", b'{"seq": 1}')
    await client.jetstream().publish(f"{layout.prefix}.log.0.transition.node.phase.Running.c1", b'{"seq": 1}')
    report = await check(settings.nats[0], layout.prefix, foreign=True)
    assert len(report.foreign) == 2
    with pytest.raises(AssertionError, match="foreign"):
        await check(settings.nats[0], layout.prefix)


async def test_the_feed_is_the_log(settings: Settings, wire: Wire, client: Client) -> None:
    async with (
        working(settings, wire, BUILT_IN_KINDS) as layout,
        recording(settings.nats[0], layout.prefix) as recorder,
    ):
        fleet = RandomEvents(settings.prefix)
        await publish(wire, [*fleet.built(3, 3), *fleet.life(100, 3, 3)])
        await until_decided(wire, layout)
        log = (await check(settings.nats[0], layout.prefix)).log
        await recorder.until(log)
        assert recorder.compare(log) == []
        assert len(recorder.feed) > 100
        assert all(found == sorted(set(found)) for found in recorder.epochs.values())
        await client.publish(f"{layout.prefix}.transition.node.phase.Running.c1", b"forged")
        await client.flush()
        async with asyncio.timeout(120):
            while recorder.compare(log) == []:
                await asyncio.sleep(0.01)
