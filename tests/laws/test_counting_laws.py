"""What is counted while events are decided, over random histories: the same as counting afterwards.

Belongs here: the law of counts. Does not: names of metrics (`test_metric_table`), a worker's own metrics
(`tests/nats/test_metrics`).
"""

import asyncio
from collections import Counter

import pytest

from phaseline.engine.core.counts.outcomes import Outcomes, sum_of
from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.replay.recorded_log import StoredEvent
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.surfaces.telemetry.readings import entities
from phaseline.engine.worker.measures import census
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.deadlines import counted_as
from phaseline.schemas.records import SECOND, Rejection, Transition
from tests.support import edge_worlds
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.strategies import SUBJECTS, History, histories, hold

FAMILIES = [
    pytest.param(BUILT_IN_KINDS, "dear", id="all"),
    *(
        pytest.param(kinds, "long", id=f"{name}-long", marks=pytest.mark.slow)
        for name, kinds in (("all", BUILT_IN_KINDS), ("edge", edge_worlds.KINDS))
    ),
]


def played(history: History) -> Processor:
    """A processor that has decided all events of a history."""
    processor = Processor(Tree(history.kinds, shared_runner()), SUBJECTS, 0)
    events = [
        StoredEvent(step.sent.subject, step.sent.body, number, number * SECOND + 123)
        for number, step in enumerate(history.steps, 1)
    ]
    while events:
        del events[: processor.process(events, 0).events]
    return processor


def counts_are_right(history: History) -> None:
    """Transitions, rejections, events and entities; alone and added up."""
    processor, records = played(history), [record for step in history.steps for record in step.records]
    outcomes = processor.outcomes
    moves = Counter((r.entity.kind, r.facet, counted_as(r.after)) for r in records if isinstance(r, Transition))
    found: Counter[tuple[str, str, str]] = Counter()
    for (kind, facet, _, after), count in outcomes.all_moves().items():
        found[kind, facet, after] += count
    assert found == moves
    rejections = [record for record in records if isinstance(record, Rejection)]
    assert outcomes.rejections == Counter((r.kind if r.kind in history.kinds else "-", r.reason) for r in rejections)
    assert outcomes.all_events().total() == outcomes.counts().events == len(history.steps)
    assert outcomes.counts().transitions == moves.total()
    counted = entities(history.kinds, [(Counter(), outcomes.all_moves())])
    assert min(counted.values(), default=0) >= 0
    there = asyncio.run(census(processor.tree))
    assert +counted == there.states
    assert +outcomes.timers == there.timers
    made = Counter(len([one for one in step.records if isinstance(one, Transition)]) for step in history.steps)
    assert +outcomes.all_cascades() == Counter({size: count for size, count in made.items() if size})
    doubled = sum_of([outcomes, Outcomes(), outcomes])
    assert doubled.all_moves() == outcomes.all_moves() + outcomes.all_moves()
    assert doubled.rejections == outcomes.rejections + outcomes.rejections


@pytest.mark.parametrize(("kinds", "effort"), FAMILIES)
def test_counting(kinds: Kinds, effort: str) -> None:
    hold(counts_are_right, histories(kinds), effort)
