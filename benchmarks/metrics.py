"""What metrics cost: counting while events are decided, and one scrape."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.core import stored_events
from phaseline.engine.core.counts.outcomes import Outcomes, move_of
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.telemetry.exposition import exposed
from phaseline.engine.worker.collecting import collecting_rarely
from phaseline.engine.worker.measures import Measures
from phaseline.machines.built_in import installed
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.records import Transition
from phaseline.schemas.subjects import Subjects

if TYPE_CHECKING:
    from phaseline.engine.telemetry.metric_table import Values

EVENTS, ROUNDS, SERIES = 30_000, 5, 500
PIECE, SLICE = 64, 200
"""Events that are decided together, and of one commit."""


def run(events: int = EVENTS, rounds: int = ROUNDS) -> dict[str, float]:
    """CPU microseconds: of deciding an event with all that is counted, of the counting alone, of a scrape."""
    stored, kinds = stored_events(events), installed()
    processor = Processor(Tree(kinds, NoScripts()), Subjects("pl"), 0)
    records: list[Transition] = []
    for event in stored:
        records += [one for one in processor.answer(event).records if isinstance(one, Transition)]
        processor.process([event], 0)
    times, measures, outcomes = [event.time_ns for event in stored], Measures(), Outcomes()

    def decide() -> None:
        fresh, at = Processor(Tree(kinds, NoScripts()), Subjects("pl"), 0), 0
        while at < len(stored):
            at += fresh.process(stored[at : at + 1_000], 0).events

    def count() -> None:
        single = outcomes.single
        for record in records:
            move = move_of(record)
            single[move] = single.get(move, 0) + 1
        for at in range(0, len(records), PIECE):
            outcomes.hear({record.cause.source for record in records[at : at + PIECE]}, times[0])
        for at in range(0, len(stored), SLICE):
            measures.committed([event.time_ns for event in stored[at : at + SLICE]], SLICE, 0.01)

    values: Values = {
        "phaseline_transitions_total": {("node", "phase", f"State{number}"): number for number in range(SERIES)},
        "phaseline_event_delay_seconds": {(): measures.delays},
    }
    with collecting_rarely():
        return {
            "decide": _least(decide, rounds) / events * 1e6, "count": _least(count, rounds) / events * 1e6,
            "scrape": _least(lambda: exposed(values), rounds) * 1e6,
        }  # fmt: skip


def _least(work: Callable[[], object], rounds: int) -> float:
    """The CPU seconds of the fastest round."""
    found = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def page(found: dict[str, float]) -> str:
    """The results as Markdown."""
    share = found["count"] / found["decide"]
    return "\n".join(
        [
            "| | CPU, us |",
            "|---|---|",
            f"| deciding an event in the core, with what is counted there | {found['decide']:.1f} |",
            f"| counting it: its outcome, its source, its delay | {found['count']:.2f} |",
            f"| one scrape, {SERIES} series | {found['scrape']:,.0f} |",
            "",
            f"Counting takes {share:.1%} of the core's time, and less of a worker's, which receives and sends too.",
            "It is always on. Least of several rounds.",
        ]
    )
