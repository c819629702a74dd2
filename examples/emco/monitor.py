"""ResourceBundleState CRs of one cluster, as `kubectl` prints them, to Phaseline's events.

    kubectl get resourcebundlestate -A -o json --watch | python monitor.py --cluster edge+paris

EMCO's monitor labels each CR `emco/deployment-id: <context>-<app>`. The id of an event consists of these, the cluster's
name, and the resource that the context belongs to, which Phaseline knows.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import phaseline

LABEL = "emco/deployment-id"


class Objects:
    """JSON objects that stand one after the other, each on any number of lines."""

    def __init__(self) -> None:
        """Nothing has come yet."""
        self.held = ""

    def take(self, line: str) -> Iterator[dict[str, Any]]:
        """Those that are complete with this line; the items of a list one by one."""
        self.held = (self.held + line).lstrip()
        while self.held and line.rstrip().endswith("}"):
            try:
                found, end = json.JSONDecoder().raw_decode(self.held)
            except ValueError:
                return  # the rest of it is yet to come
            self.held = self.held[end:].lstrip()
            yield from found["items"] if str(found.get("kind", "")).endswith("List") else (found,)


async def lines() -> AsyncIterator[str]:
    """Standard input, without holding up the event loop."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield line


async def context_of(client: phaseline.Client, known: dict[str, str], name: str) -> str | None:
    """The id of the app context that EMCO knows by that number."""
    if name not in known:
        async for found in client.list("app_context"):
            known[found.id.rpartition("/")[2]] = found.id
    return known.get(name)


async def publish(client: phaseline.Client, known: dict[str, str], cluster: str, found: dict[str, Any]) -> None:
    """One CR; one whose label leads nowhere is left out, as EMCO leaves it out."""
    label = str(found.get("metadata", {}).get("labels", {}).get(LABEL, ""))
    number, _, app = label.partition("-")
    context = await context_of(client, known, number) if app else None
    if context is None:
        print(f"left out: the label {LABEL}: {label!r} is no context's", file=sys.stderr)
        return
    receipt = await client.publish(
        "app_cluster", "bundle_state", f"{context}/{app}/{cluster}", {"status": found.get("status") or {}}
    )
    print(f"{context}/{app}/{cluster}: event {receipt.sequence}", file=sys.stderr)


async def main() -> None:
    """Until the input ends."""
    options = argparse.ArgumentParser(description="ResourceBundleState CRs to Phaseline's events.")
    options.add_argument(
        "--cluster", required=True, help="the cluster they are of, as EMCO writes it: provider+cluster"
    )
    options.add_argument("--nats", default="nats://127.0.0.1:4222", help="where Phaseline's server listens")
    options.add_argument("--prefix", default="pl", help="which installation")
    chosen = options.parse_args()
    known: dict[str, str] = {}
    async with phaseline.connect(chosen.nats, prefix=chosen.prefix, source=f"/monitor/{chosen.cluster}") as client:
        reading = Objects()
        async for line in lines():
            for found in reading.take(line):
                await publish(client, known, chosen.cluster, found)
        if reading.held:
            raise SystemExit(f"the input ends inside an object: {reading.held[:60]!r}")


if __name__ == "__main__":
    asyncio.run(main())
