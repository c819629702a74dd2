"""Metrics and probes of a worker on a real server."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from phaseline.engine.surfaces.telemetry import checks, endpoint, exposing, listening
from phaseline.engine.surfaces.telemetry.endpoint import ProbeAnswer, ProbeRequest
from phaseline.engine.surfaces.telemetry.exposing import Exposing
from phaseline.engine.surfaces.telemetry.metric_table import BY_NAME
from phaseline.schemas.errors import BadSetting, NameUnknown, SetupError
from tests.support import free_ports
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_server import http_server
from tests.support.installation import LIMIT, EmbeddedServer, Settings, Wire, Worker, ready, system, until_decided
from tests.support.own_installation import Client
from tests.support.random_events import RandomEvents, publish

Samples = dict[str, dict[tuple[str, ...], float]]


def samples(text: str) -> Samples:
    """By metric, or part of a histogram, the values by the values of the labels of the table."""
    found: Samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            metric = BY_NAME.get(family.name) or BY_NAME.get(f"{family.name}_total")
            names = [*(metric.labels if metric else ()), *({"le"} & {*sample.labels})]
            found.setdefault(sample.name, {})[tuple(sample.labels[name] for name in names)] = sample.value
    return found


class Exposed(NamedTuple):
    """A worker with an endpoint, and what to ask it with."""

    own: Exposing
    http: httpx2.AsyncClient

    async def text(self, path: str, status: int = 200) -> str:
        answer = await self.http.get(path)
        assert answer.status_code == status, answer.text
        return answer.text

    async def metrics(self) -> Samples:
        return samples(await self.text("/metrics"))

    async def until(self, name: str, labels: tuple[str, ...], value: float) -> Samples:
        """The metrics, once one of them has a value."""
        async with asyncio.timeout(LIMIT):
            while (found := await self.metrics()).get(name, {}).get(labels) != value:
                await asyncio.sleep(0.02)
        return found


@asynccontextmanager
async def exposed(entities_of: str = "") -> AsyncIterator[Exposed]:
    port = free_ports.side_by_side(1)
    async with (
        exposing.exposing(f"127.0.0.1:{port}", BUILT_IN_KINDS, entities_of) as own,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=LIMIT, trust_env=False, verify=False) as http,
    ):
        yield Exposed(own, http)


@asynccontextmanager
async def at_work(settings: Settings, wire: Wire, watch: Exposing) -> AsyncIterator[Worker]:
    worker, stop = Worker(wire, settings, BUILT_IN_KINDS), asyncio.Event()
    watch.watch(worker)
    running = asyncio.create_task(worker.run(stop))
    try:
        await ready(worker, running)
        yield worker
    finally:
        stop.set()
        await running


async def test_a_worker_tells_what_it_did(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=2)
    limited = replace(settings, log_max_bytes=1 << 30)
    async with exposed("node") as found, at_work(limited, wire, found.own) as worker:
        assert worker.installation is not None
        fleet = RandomEvents(settings.prefix)
        sent = [*fleet.built(2, 3), fleet.event("node", "create", "c0/p/n0"), fleet.event("spaceship", "land", "c0")]
        await publish(wire, sent)
        await until_decided(wire, worker.installation.layout)
        metrics = await found.until("phaseline_event_delay_seconds_count", (), len(sent))
        assert metrics["phaseline_entities"]["node", "phase", "Running"] == 6
        assert metrics["phaseline_entities"]["cluster", "contact", "Unheard"] == 2
        async with asyncio.timeout(LIMIT):
            while sum(n for (kind, _, _), n in metrics["phaseline_entities_by_class"].items() if kind == "node") != 6:
                metrics = await found.metrics()
        assert metrics["phaseline_transitions_total"]["node", "phase", "Running"] == 6
        assert metrics["phaseline_events_total"]["node", "transitions"] == 12
        transitions = sum(metrics["phaseline_transitions_total"].values())
        assert metrics["phaseline_event_transitions_sum"] == {(): transitions}
        assert set(metrics["phaseline_timers"].values()) == {0}
        assert metrics["phaseline_rejections_total"]["-", "unknown_kind"] == 1
        assert metrics["phaseline_rejections_total"]["node", "fault"] == 0
        assert metrics["phaseline_entity_state"]["node", "c1/p/n2", "phase", "Running"] == 1
        assert metrics["phaseline_metrics_entities_dropped"] == {("node",): 0}
        assert metrics["phaseline_partition_owned"] == {("0",): 1, ("1",): 1}
        assert metrics["phaseline_partition_lag_events"] == {("0",): 0, ("1",): 0}
        assert metrics["phaseline_partition_oldest_seconds"] == {("0",): 0, ("1",): 0}
        assert metrics["phaseline_takeovers_total"]["first",] == 2
        assert metrics["phaseline_partition_losses_total"]["fenced",] == 0
        assert metrics["phaseline_nats_connected"] == {(): 1}
        assert metrics["phaseline_source_last_timestamp_seconds"]["/fleet",] > 1e9
        assert metrics["phaseline_stream_messages"][worker.installation.layout.events,] == len(sent)
        assert metrics["phaseline_stream_limit_bytes"] == {(worker.installation.layout.log,): 1 << 30}
        assert metrics["phaseline_stream_replicas_current"][worker.installation.layout.log,] == 1
        assert metrics["phaseline_lease_renewal_seconds_count"][()] > 0
        assert metrics["phaseline_table_info"]["node", BUILT_IN_KINDS.versions["node"]] == 1
        assert "partitions: 2 loaded" in await found.text("/readyz?verbose")
        assert await found.text("/livez") == await found.text("/readyz") == "ok\n"
        worker.ends = SetupError.worker_faults(faults=20, kinds=2, trees=3, problem="LookupError: no such codec")
        assert "[-] decisions: the last 20 events, of 2 kinds in 3 trees" in await found.text("/readyz", 503)
        worker.ends = None


async def test_what_happened_stays_counted_when_a_partition_moves(settings: Settings, wire: Wire) -> None:
    """Its gauges vanish, so that sums over workers stay right; the next owner counts what it loads."""
    settings = replace(settings, partitions=1, lease=1.0)
    async with exposed() as first, exposed() as second:
        async with at_work(settings, wire, first.own) as worker:
            assert worker.installation is not None
            fleet = RandomEvents(settings.prefix)
            heard = [fleet.event("node", trigger, "c0/p/n0") for trigger in ("not_ready", "ready")]
            silence = fleet.event("cluster", "configure", "c0", silence_after=900)
            await publish(wire, [*fleet.cluster("c0", 2), *heard, silence])
            before = await first.until("phaseline_timers", ("cluster",), 1)  # by the last event
            assert before["phaseline_entities"]["node", "phase", "Running"] == 2
        after = await first.metrics()
        assert after["phaseline_partition_owned"] == {("0",): 0}
        assert "phaseline_partition_epoch" not in after
        assert "phaseline_entities" not in after
        assert "phaseline_timers" not in after
        assert after["phaseline_transitions_total"] == before["phaseline_transitions_total"]
        async with at_work(settings, wire, second.own):
            metrics = await second.until("phaseline_partition_owned", ("0",), 1)
            assert metrics["phaseline_entities"]["node", "phase", "Running"] == 2
            assert metrics["phaseline_timers"] == {("cluster",): 1}
            assert metrics["phaseline_partition_epoch"] == {("0",): 2}
            assert metrics["phaseline_takeovers_total"]["ended",] == 1
            assert "phaseline_transitions_total" not in metrics


async def test_a_worker_without_nats_is_alive_and_not_ready(tmp_path: Path) -> None:
    async with exposed() as found, EmbeddedServer(tmp_path) as server:
        settings, stop = Settings(nats=(server.url,), partitions=1), asyncio.Event()
        assert "nats: not reached yet" in await found.text("/readyz", 503)
        assert (await found.metrics())["phaseline_nats_connected"] == {(): 0}
        working = asyncio.create_task(system.run_worker(settings, BUILT_IN_KINDS, stop, watch=found.own.watch))
        await found.until("phaseline_partition_owned", ("0",), 1)
        assert await found.text("/readyz") == "ok\n"
        await server.kill()
        await found.until("phaseline_nats_connected", (), 0)
        assert "[-] nats: the connection is down" in await found.text("/readyz?verbose", 503)
        assert await found.text("/livez") == "ok\n"
        await server.start()
        await found.until("phaseline_nats_reconnects_total", (), 1)
        stop.set()
        await working


async def test_a_worker_that_owns_nothing_is_ready(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=1)
    async with exposed() as first, exposed() as second, at_work(settings, wire, first.own):
        await first.until("phaseline_partition_owned", ("0",), 1)
        async with Wire.open(settings, name="other") as other, at_work(settings, other, second.own):
            async with asyncio.timeout(LIMIT):
                while True:
                    answers = [await one.http.get("/readyz?verbose") for one in (first, second)]
                    if sorted(("0 loaded" in one.text, one.status_code) for one in answers) == [
                        (False, 200),
                        (True, 200),
                    ]:
                        break
                    await asyncio.sleep(0.02)


async def test_it_answers_while_the_event_loop_does_not_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process that a probe must find: the endpoint answers in threads."""
    monkeypatch.setattr(exposing, "PATIENCE", 0.05)
    monkeypatch.setattr(checks, "TICKS", 0.0)
    port = free_ports.side_by_side(1)
    async with exposing.exposing(f"127.0.0.1:{port}", BUILT_IN_KINDS):
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=LIMIT, trust_env=False, verify=False) as http:
            # This client waits in the event loop's own thread.
            for path, says in (("/livez", "[-] loop"), ("/readyz", "did not answer"), ("/metrics", "did not answer")):
                answer = http.get(path)
                assert (answer.status_code, says in answer.text) == (503, True), answer.text
            assert http.get("/nowhere").status_code == 404
            assert http.head("/livez").text == ""
            assert http.post("/livez").status_code == 501


async def test_too_many_connections_end_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "MOST_REQUESTS", 3)
    async with exposed() as found:
        port = found.http.base_url.port
        assert port is not None
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(6)]
        assert await found.text("/livez") == "ok\n"
        assert await silent[0][0].read() == b""
        for _, writer in silent:
            writer.close()


async def test_wrong_settings_are_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for listen, kind, error in (
            ("nowhere:nothing", "", BadSetting), (f"127.0.0.1:{port}", "", SetupError), ("0", "nod", NameUnknown),
        ):  # fmt: skip
            with pytest.raises(error):
                async with exposing.exposing(listen, BUILT_IN_KINDS, kind):
                    pass


async def test_a_rejected_flood_of_sources_and_kinds_makes_few_series(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=1)
    async with exposed() as found, at_work(settings, wire, found.own) as worker, Client.open(
        settings, source="/test", kinds=BUILT_IN_KINDS
    ) as client:  # fmt: skip
        fleet = RandomEvents(settings.prefix)
        await publish(wire, [fleet.event(f"kind{number}", "land", "c0") for number in range(50)])
        for number in range(5):
            await client.publish("cluster", "create", f"c{number}", source=f"/source/{number}")
        assert worker.installation is not None
        await until_decided(wire, worker.installation.layout)
        metrics = await found.until("phaseline_rejections_total", ("-", "unknown_kind"), 50)
        assert {kind for kind, _ in metrics["phaseline_events_total"]} <= {"-", *BUILT_IN_KINDS}
        assert len(metrics["phaseline_source_last_timestamp_seconds"]) == 6
        assert metrics["phaseline_source_events_total"]["/fleet", "rejected"] == 50


async def test_the_http_server_has_metrics_of_its_own(client: Client, working: Settings) -> None:
    await client.publish_and_wait("cluster", "create", "c1")
    async with http_server(working) as api:
        await api.place()
        await api.get("/v1/counts")
        await api.get("/v1/nothing", 404)
        metrics = samples((await api.http.get("/metrics")).text)
        assert metrics["phaseline_http_requests_total"]["GET", "/v1/counts", "200"] == 1
        assert metrics["phaseline_http_requests_total"]["-", "-", "404"] == 1
        assert metrics["phaseline_fleet_entities"] == metrics["phaseline_nats_connected"] == {(): 1}
        assert metrics["phaseline_log_place"][()] > 0
        assert metrics["phaseline_watchers"] == metrics["phaseline_resyncs_total"] == {(): 0}
        assert "phaseline_entities" not in metrics
        assert {BY_NAME[name].by for name in metrics if name in BY_NAME} == {"serve", "both"}


async def test_an_error_of_ours_is_an_answer_and_is_logged() -> None:
    def fails(_: ProbeRequest) -> ProbeAnswer:
        raise ZeroDivisionError

    bound = listening.bound("127.0.0.1", 0, "metrics")
    url = listening.url_of("127.0.0.1", bound)
    async with (
        endpoint.answering(bound, {"/metrics": fails}),
        httpx2.AsyncClient(base_url=url, timeout=LIMIT, trust_env=False, verify=False) as http,
    ):
        with capture_logs() as logged:
            answer = await http.get("/metrics")
    assert (answer.status_code, answer.text) == (500, "an error in phaseline; its log says more\n")
    assert [(one["event"], one["path"]) for one in logged] == [("request_failed", "/metrics")]
