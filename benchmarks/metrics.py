"""What metrics cost: counting while events are decided and committed, against a worker's whole CPU; and one scrape."""

import statistics
from collections.abc import Callable, Sequence
from time import thread_time
from typing import TYPE_CHECKING

from benchmarks.core import stored_events
from benchmarks.throughput import contend
from benchmarks.workload import installation
from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.core.message import Message
from phaseline.engine.core.process import Batch, InboxEvent, Processor, Read
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import Tree
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.telemetry.exposition import exposed
from phaseline.engine.worker.measures import Measures
from phaseline.machines.built_in import installed
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.records import Record
from phaseline.schemas.subjects import Subjects

if TYPE_CHECKING:
    from phaseline.engine.surfaces.telemetry.metric_table import Values

EVENTS, ROUNDS, SERIES = 60_000, 5, 500
AT_ONCE = 1_000
"""Events that a worker takes at once while many wait."""


class Timed(Processor):
    """Measures what it does for a decided batch beside writing its records: where they lie in the caches already."""

    spent, calls = 0.0, 0

    def _add(
        self, batch: Batch, events: Sequence[InboxEvent], arrivals: Sequence[Read], decisions: Sequence[Decision]
    ) -> None:
        begun = thread_time()
        super()._add(batch, events, arrivals, decisions)
        self.book(thread_time() - begun)

    def written(self, answers: Sequence[list[Record]], *, as_json: bool) -> list[Message]:
        """As there."""
        begun = thread_time()
        found = super().written(answers, as_json=as_json)
        self.book(begun - thread_time())
        return found

    def book(self, seconds: float) -> None:
        """Add seconds to those that were spent, or take them away."""
        self.spent += seconds
        self.calls += 1


async def run(events: int = EVENTS, rounds: int = ROUNDS) -> dict[str, float]:
    """CPU microseconds: of an event in the core, of all its counting, of a worker as `throughput` runs it, of a scrape.

    share: the median, over the rounds, of counting by the worker's whole.
    """
    stored, measures = stored_events(events), Measures()
    found: dict[str, list[float]] = {"decide": [], "count": [], "worker": []}
    async with EmbeddedServer() as server:
        for number in range(rounds):
            found["worker"].append(await _worker(server.url, f"metrics{number}", events))
            with collecting_rarely():
                decided, counted = _counted(stored, measures)
            found["decide"].append(decided / events * 1e6)
            found["count"].append(counted / events * 1e6)
    values: Values = {
        "phaseline_transitions_total": {("node", "phase", f"State{number}"): number for number in range(SERIES)},
        "phaseline_event_delay_seconds": {(): measures.delays},
    }
    return {
        **{name: statistics.median(each) for name, each in found.items()},
        "share": statistics.median(a / b for a, b in zip(found["count"], found["worker"], strict=True)),
        "scrape": _least(lambda: exposed(values), rounds) * 1e6,
    }


def _counted(stored: Sequence[Stored], measures: Measures) -> tuple[float, float]:
    """The CPU seconds of deciding these events, and of what of it is counting, without those of the clock."""
    processor, at, whole = Timed(Tree(installed(), NoScripts()), Subjects("pl"), 0), 0, thread_time()
    while at < len(stored):
        size = processor.process(stored[at : at + AT_ONCE], 0).events
        begun = thread_time()
        measures.committed([event.time_ns for event in stored[at : at + size]], size, 0.01)
        processor.book(thread_time() - begun)
        at += size
    whole = thread_time() - whole
    clock = _least(lambda: [thread_time() for _ in range(processor.calls)], 3)
    return whole - 2 * clock, processor.spent


async def _worker(url: str, prefix: str, events: int) -> float:
    """The CPU of a worker process, us an event."""
    settings = Settings(feed="msgpack", nats=(url,), prefix=prefix)
    async with Wire.open(settings, name="bench") as wire:
        layout = await installation(wire, settings, events)
        taken = await contend("phaseline", url, prefix, events, 0)
        for stream in layout.streams:
            await wire.api(f"STREAM.DELETE.{stream}")
    return taken["cpu"] / events * 1e6


def _least(work: Callable[[], object], rounds: int) -> float:
    """The CPU seconds of the fastest round."""
    found = []
    for _ in range(rounds):
        begun = thread_time()
        work()
        found.append(thread_time() - begun)
    return min(found)


def page(found: dict[str, float]) -> str:
    """The results as Markdown."""
    return "\n".join(
        [
            "| | CPU, us |",
            "|---|---|",
            f"| a worker's event, as `throughput` measures it | {found['worker']:.1f} |",
            f"| of that, deciding it in the core | {found['decide']:.1f} |",
            f"| of that, counting it: outcome, transitions, source, delay | {found['count']:.2f} |",
            f"| one scrape, {SERIES} series | {found['scrape']:,.0f} |",
            "",
            f"Counting takes at most {found['share']:.1%} of a worker's CPU. It is always on. It is measured where it"
            "\nhappens, batch by batch, with the walk over the decisions that other work shares. Medians of several"
            "\nrounds, in which worker and counting take turns.",
        ]
    )
