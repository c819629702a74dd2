"""The values of the metrics of a worker at one moment: its plain numbers, and how the streams grow.

Belongs here: names and labels for what a worker has counted, and for what the server says of the streams. Does not:
counting (`worker.measures`, `core.process`), how many entities are in which class (`class_readings`).
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from phaseline.engine.core.counts.by_source import BySource
from phaseline.engine.core.counts.outcomes import Move, Outcomes
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.questions.answering import OUTCOMES
from phaseline.engine.nats.stream_settings.fill import Fill
from phaseline.engine.nats.wire import Wire
from phaseline.engine.surfaces.telemetry.metric_table import MOST_ENTITIES, Value
from phaseline.engine.worker.measures import CASCADES, FORMER, LOSSES, States, spread
from phaseline.engine.worker.ownership.atomic_batches import FAILURES
from phaseline.engine.worker.partition import Partition
from phaseline.engine.worker.worker import Worker
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.deadlines import counted_as, phase_of
from phaseline.machines.language.table import DELETED
from phaseline.schemas.errors import ApiFailed, NoAnswer, NotPermitted
from phaseline.schemas.records import SECOND
from phaseline.schemas.version import __version__

SOURCE_LENGTH = 128
"""The most characters of a source that are shown."""
FROM_0 = ("fault", "repeat")
"""The reasons of which one rejection is worth an alert."""
NO_SOURCE = "-"
"""The label of events that could not be read."""
FRESH = 5.0
"""Seconds for which an answer is used again, however often somebody asks."""
PATIENCE = 2.0
"""Seconds to wait for the server. Then the streams are left out."""
NO_TIME = "0001-01-01"
"""How the server writes the time of the first message where there is none."""

Reading = tuple[str, Mapping[tuple[str, ...], Value]]
"""A metric, and its values by the values of its labels."""


def readings(worker: Worker, entities_of: str = "") -> Iterator[Reading]:
    """All values of a worker. entities_of: a kind whose entities have series of their own."""
    yield from of_program(worker.kinds)
    yield from of_connection(worker.wire)
    outcomes, parts = worker.outcomes(), [partition for partition, _, _ in worker.owned.values()]
    yield from _of_events(outcomes, worker.kinds)
    counted = entities(worker.kinds, [(one.census.states, one.outcomes.all_moves()) for one in parts])
    yield from of_entities(counted)
    timers: Counter[str] = Counter()
    for one in parts:
        timers.update(one.census.timers)
        timers.update(one.outcomes.timers.copy())
    yield "phaseline_timers", {(kind,): count for kind, count in timers.items()}
    yield from _of_measures(worker)
    yield from _of_partitions(worker)
    if entities_of:
        yield from _of_each_entity(parts, entities_of)


def of_program(kinds: Kinds) -> Iterator[Reading]:
    """The versions of this build."""
    yield "phaseline_build_info", {(__version__,): 1}
    yield "phaseline_table_info", dict.fromkeys(kinds.versions.items(), 1)


def of_connection(wire: Wire) -> Iterator[Reading]:
    """The state of a connection."""
    yield "phaseline_nats_connected", {(): int(wire.connected)}
    yield "phaseline_nats_reconnects_total", {(): wire.reconnects}
    yield "phaseline_nats_pending_bytes", {(): wire.pending}


def _of_events(outcomes: Outcomes, kinds: Kinds) -> Iterator[Reading]:
    events: Counter[tuple[str, ...]] = Counter(outcomes.all_events())
    transitions: Counter[tuple[str, ...]] = Counter()
    for (kind, facet, _, after), count in outcomes.all_moves().items():
        transitions[kind, facet, phase_of(after)[0]] += count
    yield "phaseline_events_total", events
    yield "phaseline_transitions_total", transitions
    yield "phaseline_event_transitions", {(): spread(outcomes.all_cascades(), CASCADES)}
    # A counter that begins with its first event would hide this one from `increase`.
    rejections: Counter[tuple[str, ...]] = Counter({(kind, reason): 0 for kind in kinds for reason in FROM_0})
    rejections.update(outcomes.rejections)
    yield "phaseline_rejections_total", rejections
    yield "phaseline_timers_fired_total", {(kind,): count for kind, count in outcomes.fired.items()}
    yield "phaseline_timers_late_seconds_total", {(kind,): late / SECOND for kind, late in outcomes.late.items()}
    yield from _of_sources(outcomes.sources)


def _of_sources(sources: BySource) -> Iterator[Reading]:
    """Sources whose names begin alike are one: a label is bounded."""
    known, events = BySource(), Counter[tuple[str, ...]]()
    for source, counts in sources.counts.copy().items():
        known.add(source[:SOURCE_LENGTH] or NO_SOURCE, counts)
    for source, one in known.counts.items():
        events[source, "taken"], events[source, "rejected"] = one.taken, one.rejected
        events[source, "repeat"] = one.repeats
    yield "phaseline_source_events_total", events
    yield "phaseline_source_first_timestamp_seconds", {(n,): one.since_ns / SECOND for n, one in known.counts.items()}
    yield "phaseline_source_last_timestamp_seconds", {(n,): one.heard_ns / SECOND for n, one in known.counts.items()}
    dropped = 0 if sources.others is None else sources.others.events
    yield "phaseline_metrics_sources_dropped_total", {(): dropped}


def entities(kinds: Kinds, parts: Iterable[tuple[States, Mapping[Move, int]]]) -> States:
    """How many entities are in which state: those that partitions had at first, and the transitions since."""
    found: States = Counter()
    for states, moves in parts:
        found.update(states)
        for (kind, facet, before, after), count in moves.items():
            found[kind, facet, after] += count
            if before:
                found[kind, facet, before] -= count
                continue
            # A new entity: its other facets stand where they begin.
            compiled = kinds[kind]
            for name, unborn in zip(compiled.names, compiled.unborn, strict=True):
                if name != facet:
                    found[kind, name, counted_as(unborn.state)] += count
    return found


def of_entities(counted: States) -> Iterator[Reading]:
    """How many entities are in which phase, and how many of them are stalled."""
    phases, stalled = Counter[tuple[str, ...]](), dict[tuple[str, ...], Value]()
    for (kind, facet, what), count in counted.items():
        phase, is_stalled = phase_of(what)
        phases[kind, facet, phase] += count
        if is_stalled:
            stalled[kind, facet, phase] = count
    yield "phaseline_entities", phases
    yield "phaseline_entities_stalled", stalled


def _of_measures(worker: Worker) -> Iterator[Reading]:
    measures = worker.measures
    yield "phaseline_event_delay_seconds", {(): measures.delays}
    yield "phaseline_commit_seconds", {(): measures.commit_seconds}
    yield "phaseline_commit_messages", {(): measures.commit_messages}
    yield "phaseline_commit_failures_total", {(reason,): worker.commit_failures[reason] for reason in FAILURES}
    yield "phaseline_takeovers_total", {(former,): measures.takeovers[former] for former in FORMER}
    yield "phaseline_takeover_seconds", {(): measures.takeover_seconds}
    yield "phaseline_partition_losses_total", {(reason,): measures.losses[reason] for reason in LOSSES}
    yield "phaseline_edge_events_dropped_total", {(edge,): count for edge, count in measures.dropped.items()}
    yield "phaseline_questions_total", {(outcome,): measures.questions[outcome] for outcome in OUTCOMES}
    yield "phaseline_lease_renewal_seconds", {(): measures.renewals}


def _of_partitions(worker: Worker) -> Iterator[Reading]:
    """What a lost partition had vanishes with it, so that sums over workers stay right."""
    if worker.installation is None:
        return
    loaded = {n: one for n, (one, _, _) in worker.owned.items() if one.tree is not None}
    partitions, now = worker.installation.layout.partitions, time.time_ns()
    yield "phaseline_partitions", {(): partitions}
    yield "phaseline_partition_owned", {(str(number),): int(number in loaded) for number in range(partitions)}
    yield "phaseline_partition_epoch", {(str(n),): one.epoch for n, one in loaded.items()}
    yield "phaseline_partition_lag_events", {(str(n),): one.waiting or 0 for n, one in loaded.items()}
    oldest = {n: one.oldest_ns for n, one in loaded.items()}
    yield (
        "phaseline_partition_oldest_seconds",
        {(str(n),): 0.0 if stored is None else max(0.0, (now - stored) / SECOND) for n, stored in oldest.items()},
    )


def _of_each_entity(partitions: list[Partition], kind: str) -> Iterator[Reading]:
    """The states of the first entities of a kind that are not deleted, and how many there are beyond them."""
    trees = [partition.tree for partition in partitions if partition.tree is not None]
    known = [list(tree.entities[kind].values()) for tree in trees]  # copies: a thread may change the tree meanwhile
    living = (one for found in known for one in found if one.facets[0].state.phase != DELETED)
    shown = list(islice(living, MOST_ENTITIES))
    yield (
        "phaseline_entity_state",
        {
            (kind, one.id, name, facet.state.phase): 1
            for one in shown
            for name, facet in zip(one.names, one.facets, strict=True)
        },
    )
    yield "phaseline_metrics_entities_dropped", {(kind,): sum(1 for _ in living)}


# ---- the streams, of which one worker asks: the owner of the first partition


class StreamReadings:
    """What the server says about the streams."""

    def __init__(self) -> None:
        self._known: list[dict[str, Any]] = []
        self._until = 0.0

    async def read(self, installation: Installation) -> list[Reading]:
        """The values; none where the server does not answer in time."""
        if time.monotonic() > self._until:
            try:
                async with asyncio.timeout(PATIENCE):
                    names = installation.layout.streams
                    self._known = [await installation.wire.api(f"STREAM.INFO.{name}") for name in names]
            except (TimeoutError, NoAnswer, ApiFailed, NotPermitted):
                self._known = []
            self._until = time.monotonic() + FRESH
        return list(_of_streams(self._known))


def _of_streams(known: list[dict[str, Any]]) -> Iterator[Reading]:
    found: dict[str, dict[tuple[str, ...], Value]] = {}
    for info in known:
        for name, value in _of_stream(info):
            found.setdefault(f"phaseline_stream_{name}", {})[info["config"]["name"],] = value
    yield from found.items()


def _of_stream(info: dict[str, Any]) -> Iterator[tuple[str, float]]:
    state, config = info["state"], info["config"]
    yield "messages", state["messages"]
    yield "bytes", state["bytes"]
    yield "last_sequence", state["last_seq"]
    if (limit := Fill.of(info).limit) > 0:
        yield "limit_bytes", limit
    if state["messages"] and not (first := str(state["first_ts"])).startswith(NO_TIME):
        yield "first_timestamp_seconds", datetime.fromisoformat(first).timestamp()
    others = (info.get("cluster") or {}).get("replicas") or ()
    yield "replicas", config["num_replicas"]
    yield "replicas_current", 1 + sum(bool(one.get("current")) for one in others)
