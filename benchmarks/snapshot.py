"""A snapshot of thousands of nodes of which three differ, as a ratio to only decoding its bytes."""

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.nats.reader import Stored
from phaseline.machines.built_in import installed
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas import codec, envelope
from phaseline.schemas.subjects import Subjects

NODES, DIFFER, ROUNDS = 5_000, 3, 41
SUBJECT = "pl.inbox.0.c1.cluster.snapshot"


def items(nodes: int, differ: int) -> list[dict[str, Any]]:
    """The nodes of fifty pools; the first ones are not ready."""
    failed = {"phase": "Failed", "conditions": ["NotReady"], "reason": "KubeletStopped"}
    running = {"phase": "Running", "conditions": ["Ok"]}
    return [
        {"id": f"pool-{number % 50:02}/node-{number:05}", **(failed if number < differ else running)}
        for number in range(nodes)
    ]


def body_of(found: list[dict[str, Any]], number: int) -> bytes:
    """The body of a snapshot."""
    data = {"kind": "node", "items": found, "seen": number - 1}
    event = {"specversion": "1.0", "id": f"s{number}", "source": "/agent/c1", "type": "cluster.snapshot", "data": data}
    return codec.encode(event)


def built(nodes: int) -> Processor:
    """A processor whose tree holds the nodes, all Running."""
    processor = Processor(Tree(installed(), NoScripts()), Subjects("pl"), 0)
    for record in processor.answer(Stored(SUBJECT, body_of(items(nodes, 0), 2), 2, 2, 0, None)).records:
        evolve(processor.tree, record)
    return processor


def run(nodes: int = NODES, differ: int = DIFFER, rounds: int = ROUNDS) -> dict[str, Any]:
    """Medians of the CPU milliseconds of each part, and of the ratios of each round."""
    processor = built(nodes)
    event = Stored(SUBJECT, body_of(items(nodes, differ), 3), 3, 3, 0, None)
    made = processor.answer(event).records
    decoded, decided = [], []
    for _ in range(rounds):
        decoded.append(spent(lambda: envelope.decode(event.data)))
        decided.append(spent(lambda: processor.messages(processor.answer(event).records)))
    return {
        "nodes": nodes, "bytes": len(event.data), "records": len(made), "decode_ms": statistics.median(decoded),
        "decide_ms": statistics.median(decided),
        "ratio": statistics.median(whole / part for whole, part in zip(decided, decoded, strict=True)),
    }  # fmt: skip


def spent(work: Callable[[], Any]) -> float:
    """The CPU milliseconds of one call."""
    gc.collect()
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1e3


def page(found: dict[str, Any]) -> str:
    """The figures as a section of the page of results."""
    return f"""\
A snapshot of {found["nodes"]:,} nodes ({found["bytes"]:,} bytes) of which {found["records"]} differ makes
{found["records"]} records. Both lines are CPU time, the median of the rounds.

| | ms |
|---|---|
| decoding its bytes | {found["decode_ms"]:.1f} |
| all of it: decode, compare, decide, write the records | {found["decide_ms"]:.1f} |

Median of the ratios: {found["ratio"]:.2f}.
"""
