"""What it costs the core to reject an event, beside an event that it takes: bytes in, log messages out.

Belongs here: the sorts of rejections, measuring them. Does not: what a rejection says (`tests/pure/test_rejections`).
"""

import statistics
import time
from typing import Any

from phaseline.engine.core.process import Processor
from phaseline.engine.nats.reader import Stored
from phaseline.engine.surfaces.testing.histories import SUBJECTS, Sent, event, play
from phaseline.machines.built_in import installed
from phaseline.schemas.records import Rejection

ROUNDS, EVENTS = 15, 400
START = 1_700_000_000_000_000_000

# fmt: off
PREPARED = (
    event("cluster", "adopt", "c", {"phase": "Running"}),
    event("node_pool", "adopt", "c/p", {"phase": "Running"}),
    event("node", "adopt", "c/p/n", {"phase": "Running"}),
    event("cluster", "adopt", "late", {"phase": "Running"}),
    event("node_pool", "adopt", "late/p", {"phase": "Running"}),
    event("cluster", "overdue", "late"),
    event("cluster", "create", "new"),
    event("cluster", "adopt", "gone", {"phase": "Running"}),
    event("cluster", "delete", "gone"),
    event("cluster", "deleted", "gone"),
    event("emco_resource", "create", "g"),
    event("emco_resource", "approve", "g"),
    event("app_context", "create", "g/1"),
    event("emco_resource", "instantiate", "g", {"context": "1"}),
    event("app_context", "create", "g/2"),
)
REJECTED: dict[str, Sent] = {
    "an intent in the wrong state":            event("cluster", "update", "new"),
    "an observation in the wrong state":       event("cluster", "started", "new"),
    "an intent under a view":                  event("node_pool", "update", "late/p"),
    "an observation of what is unknown":       event("node", "ready", "c/p/x"),
    "a guard on an ancestor":                  event("node_pool", "create", "late/q"),
    "a guard on an attribute":                 event("node", "stop", "c/p/n"),
    "below what is unknown":                   event("node", "create", "x/p/n"),
    "below what is deleted":                   event("node", "not_ready", "gone/p/n"),
    "a child that must follow":                event("emco_resource", "instantiate", "g", {"context": "9"}),
    "a rule of the kind":                      event("emco_resource", "rollback", "g", {"revision": 9}),
    "a value of the wrong type":               event("node", "not_ready", "c/p/n", {"reason": 1}),
    "a trigger that is unknown":               event("node", "explode", "c/p/n"),
}
TAKEN = event("node", "not_ready", "c/p/n", {"reason": "KubeletStopped", "message": "no heartbeat for 40 s"})
"""An event that is taken: the tree stays as it is, so it can be decided again and again."""
# fmt: on


def run(rounds: int = ROUNDS, events: int = EVENTS) -> dict[str, Any]:
    """CPU microseconds of an event that is taken and of each sort of rejection; all take turns in each round."""
    processor = Processor(play(installed(), PREPARED).tree, SUBJECTS, 0)
    found: dict[str, list[float]] = {name: [] for name in ("taken", *REJECTED)}
    for _ in range(rounds):
        for name, sent in {"taken": TAKEN, **REJECTED}.items():
            found[name].append(_cost(processor, sent, events, taken=sent is TAKEN))
    taken = found.pop("taken")
    costs = {name: statistics.median(costs) for name, costs in found.items()}
    ratios = {
        name: statistics.median(cost / other for cost, other in zip(costs, taken, strict=True))
        for name, costs in found.items()
    }
    return {"taken": statistics.median(taken), "rejected": costs, "ratios": ratios, "rounds": rounds}


def _cost(processor: Processor, sent: Sent, events: int, *, taken: bool) -> float:
    """The CPU microseconds of one event, without changing the tree. taken: whether it is taken, or rejected."""
    if (
        isinstance(processor.answer(Stored(sent.subject, sent.body, 100, START, 0, None)).records[0], Rejection)
        is taken
    ):
        raise AssertionError(f"{sent.subject} is{' not' * taken} taken")
    stored = [Stored(sent.subject, sent.body, 100 + n, START + n * 1_000, 0, None) for n in range(events)]
    begun = time.process_time()
    for one in stored:
        processor.messages(processor.answer(one).records)
    return (time.process_time() - begun) / events * 1e6


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = [
        f"The core alone: bytes of an event in, log messages out, medians of {found['rounds']} rounds. "
        f"An event of a node that is taken\ncosts {found['taken']:.1f} us.",
        "",
        "| rejected | CPU, us an event | times an event that is taken |",
        "|---|---|---|",
    ]
    rows += [f"| {name} | {cost:.1f} | {found['ratios'][name]:.2f} |" for name, cost in found["rejected"].items()]
    return "\n".join(rows)
