"""Runs one contender in its own process: `python -m benchmarks.contender NAME URL PREFIX COUNT BYTES`.

It prints `ready`, waits for a line, does its work, and prints the seconds as JSON.
Belongs here: starting and timing a contender. Does not: the contenders (`phaseline_worker`, `bare_loops`, `by_hand`).
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial

from benchmarks import bare_loops, by_hand, latency, phaseline_worker

Work = Callable[[], Awaitable[None]]
CONTENDERS: dict[str, Callable[[str, str, int, int], Awaitable[Work]]] = {
    "phaseline": phaseline_worker.prepare,
    "share": phaseline_worker.prepare_share,
    "fetch": bare_loops.prepare_fetch,
    "pull": bare_loops.prepare_pull,
    "pull_100": partial(bare_loops.prepare_pull, most=100),
    "snapshots": partial(bare_loops.prepare_pull, states_every=1.0),
    "copies": partial(bare_loops.prepare_pull, states_every=0.0),
    "by_hand": by_hand.prepare,
    "hop": latency.prepare_hop,
}


async def main() -> None:
    """Run the contender that the arguments name."""
    name, url, prefix, count, size = sys.argv[1:]
    work = await CONTENDERS[name](url, prefix, int(count), int(size))
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    begun, worked = time.perf_counter(), time.process_time()
    await work()
    print(json.dumps({"seconds": time.perf_counter() - begun, "cpu": time.process_time() - worked}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
