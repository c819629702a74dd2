"""Lets workers of one version and clients of another work together, both ways.

Belongs here: both directions, with the real commands of both. Does not: recording logs (`record_logs`), the bytes that
clients send (`client_bytes`). `python -m tests.support.versions_together PROGRAM`, where PROGRAM is the
command `phaseline` of the other version; docs/developing/releases.md says when. It imports nothing of Phaseline.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tests.support.record_logs import HERE, Version, version_of

EXAMPLES = ("morning.jsonl", "invoice.jsonl", "emco/deployment.jsonl")
QUERIES = (("list",), ("list", "--state", "Failed"), ("list", "node"))
"""What both versions are asked. The second one is what clients ask workers, where they mean the same by a state."""


def events() -> str:
    """Events of the examples, each on a line."""
    return "".join((HERE.parents[1] / "examples" / name).read_text(encoding="utf-8") for name in EXAMPLES)


def states(said: str) -> dict[str, Any]:
    """By entity, what a version lists of its states: what records hold, without the words of tables."""
    found: list[dict[str, Any]] = [json.loads(line) for line in said.splitlines() if line]
    return {
        f"{one['kind']} {one['id']}": {
            name: [facet["base"], facet["state"], facet["conditions"], facet["since"]]
            for name, facet in one["facets"].items()
        }
        for one in found
    }


async def together(workers: Path, client: Path) -> int:
    """Start a system of one version; let a client of another publish, wait and read. How many entities it reads."""
    async with version_of(workers) as system:
        other = Version(client, system.work, system.port)
        async with system.system():
            path = system.work / "events.jsonl"
            path.write_text(events(), encoding="utf-8")
            other.call("publish", "--file", str(path), "--force")
            other.call("publish", "cluster", "create", "together", "--wait")
            await system.decided()
            for query in QUERIES:
                mine, theirs = (states(one.call(*query, "--json")) for one in (system, other))
                differing = [name for name in mine.keys() | theirs if mine.get(name) != theirs.get(name)]
                if differing or not mine:
                    one = (differing or [""])[0]
                    raise SystemExit(
                        f"{query}: {len(differing)} differ, such as {one}:\n{mine.get(one)}\n{theirs.get(one)}"
                    )
            other.call("why", "together")
            count = len(states(other.call("list", "--json")))
            if '"divergences": 0' not in (said := json_of(system.audit())):
                raise SystemExit(f"the audit finds differences: {said}")
            return count


def json_of(said: str) -> str:
    """What an audit prints, with the number of differences in place of these."""
    found = json.loads(said)
    return json.dumps({**found, "divergences": len(found["divergences"])})


async def main() -> None:
    """Both directions."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.versions_together", description=__doc__)
    parser.add_argument("program", type=Path, help="the command `phaseline` of the other version")
    theirs = parser.parse_args().program.absolute()
    ours = Path(sys.executable).with_name("phaseline")
    for workers, client, what in (
        (ours, theirs, "its clients, our workers"),
        (theirs, ours, "our clients, its workers"),
    ):
        sys.stderr.write(f"{what}: {await together(workers, client)} entities, and all that is read is the same\n")


if __name__ == "__main__":
    asyncio.run(main())
