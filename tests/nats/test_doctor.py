"""What `phaseline doctor` finds: on healthy systems, and on systems with one thing wrong each."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from phaseline.engine.surfaces.doctor.growth import FilledRoom, growth, said
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.cloudevents.content_types import AS_MSGPACK
from tests.support import closed_port
from tests.support.accounts_server import accounts_installation
from tests.support.archives import ArchiveNote
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.changed_tables import DEGRADED
from tests.support.command import Shell
from tests.support.guarded_server import Guarded, as_user
from tests.support.installation import EmbeddedServer, Installation, Settings, Wire, inspect, provision
from tests.support.newer_record import newer_record
from tests.support.own_installation import CheckResult, Client, examined
from tests.support.streams import EXPECTED, size
from tests.support.terminal import on_a_terminal, without_codes

STREAMS = ["stream {}-EVENTS", "stream {}-LOG", "stream {}-STATE", "stream {}-LEASE", "stream {}-LIVE"]
INSTALLATION = ["clock", *STREAMS, "log", "workers", "decisions", "tables", "sources"]


async def findings(settings: Settings, kinds: Kinds = BUILT_IN_KINDS) -> dict[str, CheckResult]:
    return {finding.check: finding for finding in await examined(settings, kinds)}


def bad(found: dict[str, CheckResult]) -> dict[str, str]:
    """The verdicts that are not good."""
    return {check: finding.verdict for check, finding in found.items() if finding.verdict != "ok"}


@pytest_asyncio.fixture
async def owned(working: Settings) -> AsyncIterator[Settings]:
    """An installation whose worker owns all partitions."""
    async with asyncio.timeout(60):
        while (await findings(working))["workers"].verdict != "ok":
            await asyncio.sleep(0.05)
    yield working


async def test_a_healthy_installation_passes_every_check(owned: Settings, client: Client) -> None:
    await client.publish_and_wait("cluster", "create", "c1")
    found = await findings(owned)
    assert list(found) == [
        "server", "version", "user", "jetstream", *(check.format(owned.prefix) for check in INSTALLATION)
    ]  # fmt: skip
    assert bad(found) == {}
    assert found["decisions"].found == "all events of 2 partitions are decided"
    assert "own 2 of 2 partitions" in found["workers"].found
    assert not any(finding.advice for finding in found.values())


async def test_sources_of_what_nothing_reads_and_of_wrong_clocks_are_named(owned: Settings, client: Client) -> None:
    await client.publish_and_wait("node", "reported", "c1/p/n", {"phase": "Running"})
    assert "fields" not in await findings(owned)
    receipt = await client.publish(
        "node", "not_ready", "c1/p/n", {"reson": "x"}, source="/agent/1", time="2199-01-01T00:00:00Z"
    )
    assert receipt.unread == ("reson",)
    assert receipt.shown()["unread"] == ("reson",)
    assert (await client.outcome(receipt)).unread == ("reson",)
    again = await client.publish_and_wait("node", "not_ready", "c1/p/n", {"reson": "x"}, source="/agent/1")
    assert (again.effect, again.records, again.unread) == ("none", (), ("reson",))
    await client.publish("node_pool", "scale", "c1/p", {"desierd": 3}, source="/console", check=False)
    assert (await client.publish_and_wait("node_pool", "configure", "c1/p", {"zone": "a"}, check=False)).rejection
    found = await findings(owned)
    assert bad(found) == {"fields": "warning", "clocks": "warning"}
    assert found["fields"].found == (
        "the latest events have fields that nothing reads, such as data.reson; by source: /agent/1 (2), /console (1), "
        "/test (1)"
    )
    assert "more than 5 minutes ahead of the server's: /agent/1 (" in found["clocks"].found


async def test_without_a_worker_it_says_how_long_events_wait(settings: Settings, wire: Wire) -> None:
    await provision(wire, replace(settings, partitions=2), BUILT_IN_KINDS.copies.values())
    async with Client.open(settings, source="/test", kinds=BUILT_IN_KINDS) as client:
        await client.publish("cluster", "create", "c1")
    found = await findings(settings)
    assert bad(found) == {"workers": "problem", "sources": "unknown"}
    assert "the oldest for" in found["decisions"].found
    assert "phaseline worker" in found["workers"].advice


async def test_an_event_that_waits_for_long_is_a_problem(
    settings: Settings, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    await provision(wire, replace(settings, partitions=1), BUILT_IN_KINDS.copies.values())
    async with Client.open(settings, source="/test", kinds=BUILT_IN_KINDS) as client:
        await client.publish("cluster", "create", "c1")
    monkeypatch.setattr("phaseline.engine.surfaces.doctor.installation_checks.WAITING", 0.0)
    found = (await findings(settings))["decisions"]
    assert found.verdict == "problem"
    assert "event 1, partition 0" in found.found


async def test_a_prefix_without_streams_is_named(settings: Settings) -> None:
    found = (await findings(settings))["installation"]
    assert found.verdict == "problem"
    assert settings.prefix in found.found
    assert "phaseline worker" in found.found


async def test_a_missing_stream_is_named(settings: Settings, wire: Wire) -> None:
    layout = await provision(wire, replace(settings, partitions=1), BUILT_IN_KINDS.copies.values())
    await wire.api(f"STREAM.DELETE.{layout.live}")
    found = bad(await findings(settings))
    assert found == {f"stream {layout.live}": "problem", "workers": "problem", "sources": "unknown"}


READ_FROM = {
    "events": {"decisions"},
    "log": {"clock", "decisions", "tables", "events", "followers", "log"},
    "state": {"things"},
    "lease": {"workers"},
}


@pytest.mark.parametrize("stream", READ_FROM)
async def test_a_check_whose_stream_is_missing_does_not_pass(owned: Settings, wire: Wire, stream: str) -> None:
    layout = await inspect(wire, owned)
    await wire.api(f"STREAM.DELETE.{getattr(layout, stream)}")
    found = await findings(owned)
    assert {"installation", f"stream {getattr(layout, stream)}"} & {
        check for check, one in found.items() if one.verdict == "problem" and getattr(layout, stream) in str(one)
    }
    assert READ_FROM[stream] & {check for check, one in found.items() if one.verdict == "ok"} == set()
    assert ("sources" in found) == ("installation" not in found), "the others go on"


async def test_observations_that_were_rejected_are_told_by_source(owned: Settings, client: Client) -> None:
    await client.publish_and_wait("cluster", "create", "c1", check=False)
    assert (await client.publish_and_wait("cluster", "delete", "c9", check=False)).rejection
    assert "rejected" not in await findings(owned)  # who asked was told
    assert (await client.publish_and_wait("node", "ready", "c9/p/n", source="/agent/9", check=False)).rejection
    found = await findings(owned)
    assert bad(found) == {"rejected": "warning"}
    assert "by source: /agent/9 (1)" in found["rejected"].found


async def test_a_record_of_a_newer_version_is_a_problem_and_the_other_checks_go_on(
    owned: Settings, client: Client, wire: Wire
) -> None:
    await client.publish_and_wait("cluster", "create", "c1")
    await newer_record(wire, await inspect(wire, owned))
    found = await findings(owned)
    assert found["events"].verdict == "problem"
    assert "sources" in found


async def test_other_tables_are_named(owned: Settings) -> None:
    async with asyncio.timeout(60):
        while bad(found := await findings(owned, DEGRADED)) != {"tables": "warning"}:
            await asyncio.sleep(0.05)  # the worker notes its tables after it has taken the partitions
    assert "changed: component" in found["tables"].found


async def test_a_clock_that_is_off_is_told(owned: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phaseline.engine.surfaces.doctor.server_checks.CLOCK", -1.0)
    assert bad(await findings(owned)) == {"clock": "warning"}


async def test_a_user_without_rights_is_told_what_he_may_not_see() -> None:
    async with Guarded() as server:
        async with Wire.open(Settings(nats=(as_user("engine", server.url),))) as wire:
            await provision(wire, Settings(partitions=1), BUILT_IN_KINDS.copies.values())
        asker = Settings(nats=(as_user("asker", server.url),), inbox_prefix="_INBOX_asker", partitions=1)
        found = await findings(replace(asker, request_timeout=0.5))
        words = ("--nats", asker.nats[0], "--inbox-prefix", "_INBOX_asker", "--timeout", "0.5")
        for known in ({"PHASELINE_PARTITIONS": "1"}, {}):
            assert (await Shell(**known)("doctor", *words)).code == 5
    checks = (
        "user",
        "jetstream",
        *(c.format("pl") for c in INSTALLATION),
        "events",
        "things",
        "growth",
        "followers",
        "edges",
    )
    assert bad(found) == dict.fromkeys(checks, "unknown")
    assert "operator" in found["jetstream"].advice


@pytest.mark.parametrize("user", ["operator", "reader"])
async def test_the_accounts_of_phaseline_suffice(user: str) -> None:
    async with accounts_installation() as server:
        found = await findings(server.settings(user))
    assert "problem" not in bad(found).values()
    assert found["decisions"].verdict == "ok"
    assert found["tables"].verdict == "ok"
    assert ("workers" in bad(found)) == (user == "reader")


class WithoutJetStream(EmbeddedServer):
    """A server that has no JetStream."""

    def _config(self) -> str:
        return "\n".join(line for line in super()._config().splitlines() if not line.startswith("jetstream"))


async def test_a_server_without_jetstream_is_named() -> None:
    async with WithoutJetStream() as server:
        found = await findings(Settings(nats=(server.url,)))
    assert bad(found) == {"jetstream": "problem"}
    assert "nats-server -js" in found["jetstream"].found


async def test_a_wrong_key_and_a_closed_port_are_told_apart(own_server: EmbeddedServer) -> None:
    async with Guarded() as server:
        refused = (await findings(Settings(nats=(server.url,), connect_timeout=2.0)))["server"]
    closed = (await findings(Settings(nats=(closed_port.NATS,))))["server"]
    no_tls = (await findings(Settings(nats=(own_server.url.replace("nats://", "tls://"),))))["server"]
    assert [one.verdict for one in (refused, closed, no_tls)] == ["problem"] * 3
    assert "--creds" in refused.advice
    assert "phaseline up" in closed.advice
    assert "tls://" in no_tls.advice


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (2**50, "1125.9 TB")]
)
def test_sizes_are_for_people(count: int, shown: str) -> None:
    assert size(count) == shown


async def test_no_word_is_broken_in_a_narrow_terminal(owned: Settings, shell: Shell) -> None:
    lines = without_codes(await on_a_terminal(shell, "doctor", "--prefix", "nowhere", width=60))
    assert max(map(len, lines)) <= 60
    whole = (await shell("doctor", "--prefix", "nowhere")).out.split()
    assert {word for word in whole if word.isalpha()} <= {word for line in lines for word in line.split()}


async def test_the_command_prints_each_check_and_ends_with_a_code(owned: Settings, shell: Shell) -> None:
    said = await shell("doctor")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("✓ server ")
    as_json = await shell("doctor", "--json")
    assert [line["verdict"] for line in as_json.lines] == ["ok"] * len(said.out.splitlines())
    assert json.loads(as_json.out.splitlines()[0])["found"] == f"answers at {owned.nats[0]}"
    wrong = await shell("doctor", "--prefix", "nowhere")
    assert wrong.code == 6
    assert "run `phaseline up`" in wrong.out
    assert (await shell("doctor", "--nats", closed_port.NATS)).code == 3


async def test_growth_is_said_before_something_is_full(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, replace(settings, partitions=1, events_max_bytes=1_000_000))
    installation = Installation(wire, layout, BUILT_IN_KINDS)
    for number in range(100):
        await wire.publish_acked(f"{settings.prefix}.events.c1.cluster.create.{number}", b"x" * 1_000)
    found = await growth(installation, None, least=0)
    assert found is not None
    assert (found.check, found.verdict) == ("growth", "warning")
    assert found.found.startswith(f"{layout.events} has ")
    assert await growth(installation, None) is None, "a few seconds are no history"
    await wire.publish_acked(
        f"{settings.prefix}.tables.archived", ArchiveNote(1, 1, 1, "a").encode(), {**AS_MSGPACK, EXPECTED: "0"}
    )
    assert await growth(installation, None, least=0) is None, "what is archived does not stay"


@pytest.mark.parametrize(
    ("rooms", "found"),
    [
        ([], None),
        ([FilledRoom("LOG", 0.0, 0)], None),
        ([FilledRoom("LOG", 1.0, 8 * 86_400)], None),
        ([FilledRoom("LOG", 1e6, int(3 * 86_400e6)), FilledRoom("disk", 1e6, int(2 * 86_400e6))], "disk has 172.8 GB left, and is full in 2.0 days at 86.4 GB a day"),
        ([FilledRoom("LOG", 1e6, int(7_200e6))], "LOG has 7.2 GB left, and is full in 2.0 hours at 86.4 GB a day"),
    ],
)  # fmt: skip
def test_what_is_full_first_is_named(rooms: list[FilledRoom], found: str | None) -> None:
    warned = said(rooms)
    assert (None if warned is None else warned.found) == found
