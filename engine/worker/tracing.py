"""Spans of commits, for OpenTelemetry. By its API only: without an SDK in the process nothing happens.

Belongs here: one span for each commit, with links to the traces of its events; one for each event of a sampled trace.
Does not: which events belong to traces (`core.process`), exporting. The only importer of `opentelemetry`, which costs
too much for each event: a span takes as long as deciding one.
The names follow OpenTelemetry's conventions for messaging and CloudEvents, which are still in development.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from phaseline.engine import logs
from phaseline.engine.core.counts.outcomes import outcome_of
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.process import TRACE, Batch
from phaseline.engine.core.transitions import Decision
from phaseline.schemas import libraries
from phaseline.schemas.records import Rejection, Transition
from phaseline.schemas.version import __version__

with libraries.needed("opentelemetry", "traces"):
    from opentelemetry import trace
    from opentelemetry.trace import Link, Span, SpanContext, SpanKind, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

MOST_LINKS = 128
"""The most events of a commit that are linked, or have spans: as many as an SDK keeps."""
STATE = "tracestate"
log = logs.get_logger(__name__)

Traced = tuple[Arrival | Rejection, Decision, SpanContext]
"""An event of a sampled trace, its answer, and where the trace comes from."""


class Tracing:
    """Makes the spans of one installation's worker."""

    def __init__(self, stream: str, provider: trace.TracerProvider | None = None) -> None:
        """stream: the name of EVENTS. provider: the global one by default."""
        self._stream = stream
        self._tracer = trace.get_tracer("phaseline", __version__, provider)
        self._propagator = TraceContextTextMapPropagator()
        self._is_off = False
        """Whether an SDK failed."""

    @contextmanager
    def commit(self, batch: Batch, partition: int, epoch: int) -> Iterator[None]:
        """The span of the commit that the block makes. Commits of no event have none."""
        began, failure = time.time_ns(), ""
        try:
            yield
        except BaseException as error:
            failure = type(error).__name__
            raise
        finally:
            if batch.events and not self._is_off:
                try:
                    self._end(batch, partition, epoch, began, failure)
                except Exception as error:  # the commit stands, whatever an SDK does
                    self._is_off = True
                    log.exception("traces_off", error=repr(error))

    def _end(self, batch: Batch, partition: int, epoch: int, began: int, failure: str) -> None:
        ended, sampled = time.time_ns(), self._sampled(batch)
        about = self._destination(partition)
        span = self._tracer.start_span(
            f"process {self._stream}", kind=SpanKind.CONSUMER, start_time=began,
            links=[Link(context) for _, _, context in sampled],
            attributes={
                **about, "messaging.batch.message_count": batch.events, "phaseline.messages": len(batch.messages),
                "phaseline.epoch": epoch, "phaseline.position": batch.position,
            },
        )  # fmt: skip
        if failure:
            span.set_attribute("error.type", failure)
            span.set_status(StatusCode.ERROR, failure)
        else:
            for one in sampled:
                self._event(one, span, about, ended)
        span.end(ended)

    def _sampled(self, batch: Batch) -> list[Traced]:
        """The first events of a batch whose traces are sampled."""
        found: list[Traced] = []
        for arrival, decision in batch.traced:
            extensions = arrival.cause.extensions
            carrier = {name: text for name in (TRACE, STATE) if isinstance(text := extensions.get(name), str)}
            context = trace.get_current_span(self._propagator.extract(carrier)).get_span_context()
            if context.is_valid and context.trace_flags.sampled:
                found.append((arrival, decision, context))
            if len(found) == MOST_LINKS:
                break
        return found

    def _event(self, traced: Traced, commit: Span, about: dict[str, str], ended: int) -> None:
        """The span of one event, in the trace that its publisher began: from when it was stored."""
        arrival, decision, context = traced
        is_known = isinstance(arrival, Arrival)
        moved = [record for record in decision.records if isinstance(record, Transition)]
        span = self._tracer.start_span(
            f"decide {arrival.kind}.{arrival.trigger}" if is_known else "decide",  # not any name from outside
            context=trace.set_span_in_context(trace.NonRecordingSpan(context)), kind=SpanKind.CONSUMER,
            start_time=min(arrival.time if isinstance(arrival, Arrival) else arrival.time_ns, ended),
            links=[Link(commit.get_span_context())],
            attributes={
                **about, "cloudevents.event_id": arrival.cause.event, "cloudevents.event_source": arrival.cause.source,
                "cloudevents.event_type": f"{arrival.kind}.{arrival.trigger}",
                "cloudevents.event_subject": f"{arrival.kind}/{arrival.id}",
                "phaseline.outcome": outcome_of(decision, moved=bool(moved)),
                "phaseline.records": len(decision.records), "phaseline.position": arrival.cause.sequence,
            },
        )  # fmt: skip
        if moved:
            first = moved[0]
            span.set_attribute("phaseline.from", "" if first.before is None else first.before.phase)
            span.set_attribute("phaseline.to", first.after.phase)
        span.end(ended)

    def _destination(self, partition: int) -> dict[str, str]:
        return {
            "messaging.system": "nats", "messaging.operation.name": "process", "messaging.operation.type": "process",
            "messaging.destination.name": self._stream, "messaging.destination.partition.id": str(partition),
        }  # fmt: skip
