"""The pure core alone: decisions a second, the time of each stage, memory per entity."""

import gc
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.workload import CLUSTERS, NODES, Workload
from phaseline.engine.collecting import collecting_rarely
from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival, read
from phaseline.engine.core.process import Processor, pieces
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.nats.reader import Stored
from phaseline.machines.built_in import installed
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec
from phaseline.schemas.records import Record
from phaseline.schemas.subjects import Subjects

ROOT = Path(__file__).parent.parent
EVENTS = 60_000
ENTITIES = 100_000
START = 1_700_000_000_000_000_000


def run(events: int = EVENTS, entities: int = ENTITIES) -> dict[str, Any]:
    """Microseconds per event for each stage, decisions a second, bytes per entity (in fresh processes)."""
    few, many = _memory_of(entities), _memory_of(3 * entities)
    each = (many["bytes"] - few["bytes"]) / (many["entities"] - few["entities"])
    found = {"entities": many["entities"], "each": each, "caches": few["bytes"] - each * few["entities"]}
    return {"stages": stages(events), "memory": found}


def _memory_of(entities: int) -> dict[str, int]:
    code = f"from benchmarks.core import fill; fill({entities})"
    found: dict[str, int] = json.loads(subprocess.check_output([sys.executable, "-c", code], cwd=ROOT))  # ourselves
    return found


def stored_events(count: int) -> list[Stored]:
    """The workload as stored events of one partition."""
    return [
        Stored(subject.replace("pl.events.", "pl.inbox.0."), body, number, START + number * 1_000_000, 0, None)
        for number, (subject, body, _) in enumerate(Workload("pl", count).events(), 1)
    ]


def stages(count: int) -> dict[str, float]:
    """CPU microseconds per event in each stage and in all of it, garbage collected as in a worker."""
    kinds, subjects, events = installed(), Subjects("pl"), stored_events(count)
    with collecting_rarely():
        spent = _staged(Processor(Tree(kinds, NoScripts()), subjects, 0), events)
        begun = time.process_time()
        _folded(Processor(Tree(kinds, NoScripts()), subjects, 0), events)
        spent["all of it, as a worker does"] = time.process_time() - begun
    return {name: seconds / count * 1e6 for name, seconds in spent.items()}


def _staged(processor: Processor, events: list[Stored]) -> dict[str, float]:
    """CPU seconds of each stage. Each one runs over some events before the next begins, as in `Processor.process`."""
    spent: dict[str, float] = {}
    kinds, subjects, begun = processor.tree.kinds, processor.subjects, time.process_time()

    def ends(stage: str) -> None:
        nonlocal begun
        spent[stage] = spent.get(stage, 0.0) + time.process_time() - begun
        begun = time.process_time()

    for piece in pieces(events):
        arrivals: list[Any] = [read(kinds, subjects, e.subject, e.data, e.sequence, e.time_ns) for e in piece]
        ends("intake: bytes to arrival")
        records = _decided(processor.tree, arrivals)
        ends("decide and evolve")
        processor.written(records, as_json=False)
        ends("records to log messages")
    return spent


def _decided(tree: Tree, arrivals: list[Arrival]) -> list[list[Record]]:
    answers = []
    for arrival in arrivals:
        records = decide(tree, arrival).records
        for record in records:
            evolve(tree, record)
        answers.append(records)
    return answers


def _folded(processor: Processor, events: list[Stored]) -> None:
    at = 0
    while at < len(events):
        at += processor.process(events[at : at + 1_000], 0).events


def fill(entities: int) -> None:
    """Print how much memory a tree of this many nodes adds to the process."""
    processor = Processor(Tree(installed(), NoScripts()), Subjects("pl"), 0)
    subjects = Subjects("pl")
    gc.collect()
    before = _resident()
    for number in range(entities):
        cluster, node = divmod(number, 1_000)
        subject = subjects.event("node", "adopt", f"cluster-{cluster}/pool/node-{node}").replace("events", "inbox.0")
        body = {"specversion": "1.0", "id": "1", "source": "/x", "type": "node.adopt", "data": {"phase": "Running"}}
        processor.process([Stored(subject, codec.encode(body), number + 1, START + number, 0, None)], 0)
    gc.collect()
    print(json.dumps({"entities": len(processor.tree), "bytes": _resident() - before}))


def _resident() -> float:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  # one line of a pseudo file
            return float(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = ["| stage | CPU, us an event |", "|---|---|"]
    memory = found["memory"]
    rows += [f"| {name} | {value:.1f} |" for name, value in found["stages"].items()]
    decisions = 1e6 / found["stages"]["decide and evolve"]
    rows += [
        "",
        f"Pure decisions (decide and evolve, {CLUSTERS * NODES:,} nodes): **{decisions:,.0f} a second** on one core.",
        "",
        f"Memory: **{memory['each']:.0f} bytes an entity**, indexes and tallies included, and "
        f"{memory['caches'] / 1e6:.0f} MB for caches of names, which",
        f"do not grow further (resident memory of fresh processes, up to {memory['entities']:,} entities).",
    ]
    return "\n".join(rows)
