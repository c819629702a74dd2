"""Spans of commits on a real server, in the memory of OpenTelemetry's SDK."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from structlog.testing import capture_logs

from phaseline.engine.worker.tracing import MOST_LINKS, Tracing
from phaseline.schemas.errors import Fenced
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import LIMIT, Settings, Wire, Worker, ready
from tests.support.own_installation import Client
from tests.support.owners import Batch

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SAMPLED, UNSAMPLED = f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00"


def in_memory() -> tuple[Tracing, InMemorySpanExporter]:
    """Tracing, and where its spans go."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return Tracing("pl-EVENTS", provider), exporter


def named(spans: Sequence[ReadableSpan], name: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name == name]


async def test_a_commit_has_a_span_and_sampled_events_have_theirs(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=1)
    worker, stop = Worker(wire, settings, BUILT_IN_KINDS), asyncio.Event()
    worker.tracing, exporter = in_memory()
    running = asyncio.create_task(worker.run(stop))
    await ready(worker, running)
    traces: dict[str, dict[str, Any]] = {
        "c1": {"traceparent": SAMPLED, "tracestate": "a=b"}, "c2": {"traceparent": UNSAMPLED},
        "c3": {}, "c4": {"traceparent": "00-nonsense-01"}, "c5": {"traceparent": 7},
    }  # fmt: skip
    async with Client.open(settings, source="/test", kinds=BUILT_IN_KINDS) as client:
        for name, extensions in traces.items():
            outcome = await client.publish_and_wait("cluster", "create", name, extensions=extensions)
            assert outcome.records[0].record.cause.extensions == extensions  # whoever hears of the transition can go on
        refused = await client.publish_and_wait("cluster", "create", "c1", extensions={"traceparent": SAMPLED})
        assert refused.effect == "rejection"
    stop.set()
    await running
    spans = exporter.get_finished_spans()
    commits = named(spans, "process pl-EVENTS")
    counts = [span.attributes["messaging.batch.message_count"] for span in commits if span.attributes]
    assert sum(count for count in counts if isinstance(count, int)) == 6
    links = [link.context for span in commits for link in span.links]
    assert [(f"{one.trace_id:032x}", f"{one.span_id:016x}") for one in links] == [(TRACE, SPAN)] * 2
    first, second = named(spans, "decide cluster.create")
    assert first.parent is not None
    assert first.context is not None
    assert (f"{first.parent.span_id:016x}", f"{first.context.trace_id:032x}") == (SPAN, TRACE)
    assert first.attributes is not None
    assert second.attributes is not None
    assert first.attributes["phaseline.to"] == "Creating"
    assert first.attributes["cloudevents.event_subject"] == "cluster/c1"
    assert (first.attributes["phaseline.outcome"], second.attributes["phaseline.outcome"]) == (
        "transitions",
        "rejected",
    )
    assert first.start_time is not None
    assert first.end_time is not None
    assert first.start_time <= first.end_time
    assert len(spans) == len(commits) + 2


async def test_a_commit_that_fails_says_why() -> None:
    tracing, exporter = in_memory()
    with pytest.raises(Fenced), tracing.commit(Batch(7, events=2), 3, 1):
        raise Fenced(subject="pl.mark.3")
    with tracing.commit(Batch(7), 3, 1):
        pass  # an idle partition, which moves its checkpoint
    [span] = exporter.get_finished_spans()
    assert span.attributes is not None
    assert (span.status.status_code, span.attributes["error.type"]) == (StatusCode.ERROR, "Fenced")


async def test_a_flood_of_sampled_events_makes_few_spans(settings: Settings, wire: Wire) -> None:
    settings = replace(settings, partitions=1)
    tracing, exporter = in_memory()
    async with Client.open(settings, source="/test", kinds=BUILT_IN_KINDS) as client:
        first, stop = Worker(wire, settings, BUILT_IN_KINDS), asyncio.Event()
        running = asyncio.create_task(first.run(stop))
        await ready(first, running)
        stop.set()
        await running
        count = 3 * MOST_LINKS
        for number in range(count):
            await client.publish("cluster", "create", f"c{number}", extensions={"traceparent": SAMPLED})
        second, stop = Worker(wire, settings, BUILT_IN_KINDS), asyncio.Event()
        second.tracing = tracing
        running = asyncio.create_task(second.run(stop))
        async with asyncio.timeout(LIMIT):
            while second.counts().events < count:
                await asyncio.sleep(0.02)
        stop.set()
        await running
    spans = exporter.get_finished_spans()
    commits = named(spans, "process pl-EVENTS")
    assert max(len(span.links) for span in commits) <= MOST_LINKS
    assert len(spans) <= len(commits) * (1 + MOST_LINKS)


async def test_an_sdk_that_fails_costs_no_commit() -> None:
    class Broken(TracerProvider):
        def get_tracer(self, *_: Any, **__: Any) -> Any:
            return None

    tracing = Tracing("pl-EVENTS", Broken())
    with capture_logs() as logs:
        for _ in range(2):
            with tracing.commit(Batch(7, events=2), 3, 1):
                pass
    assert [line["event"] for line in logs] == ["traces_off"]


async def test_without_an_sdk_nothing_happens() -> None:
    with Tracing("pl-EVENTS").commit(Batch(7, events=2), 3, 1):
        pass
