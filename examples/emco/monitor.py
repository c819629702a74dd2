"""Publishes the ResourceBundleState objects of one cluster, as `kubectl` prints them, as events of Phaseline.

    kubectl get resourcebundlestate -A -o json --watch | python monitor.py --cluster edge+paris

EMCO's monitor labels each object `emco/deployment-id: <context>-<app>`. The id of an event needs that, the name of the
cluster, and the resource that the context belongs to. Phaseline knows that resource.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import phaseline

LABEL = "emco/deployment-id"


class Objects:
    """Parses JSON objects that follow each other, each on any number of lines."""

    def __init__(self) -> None:
        """Begin without any input."""
        self.held = ""

    def take(self, line: str) -> Iterator[dict[str, Any]]:
        """The objects that are complete with this line; the items of a list one by one."""
        self.held = (self.held + line).lstrip()
        while self.held and line.rstrip().endswith("}"):
            try:
                found, end = json.JSONDecoder().raw_decode(self.held)
            except ValueError:
                return  # the object is not complete yet
            self.held = self.held[end:].lstrip()
            yield from found["items"] if str(found.get("kind", "")).endswith("List") else (found,)


async def lines() -> AsyncIterator[str]:
    """The lines of standard input, read without blocking the event loop."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        yield line


async def context_of(client: phaseline.Client, known: dict[str, str], name: str) -> str | None:
    """The id of the app context with that number; None if there is none."""
    if name not in known:
        async for found in client.list("app_context"):
            known[found.id.rpartition("/")[2]] = found.id
    return known.get(name)


async def publish(client: phaseline.Client, known: dict[str, str], cluster: str, found: dict[str, Any]) -> None:
    """Publish the event of one object. Like EMCO, leave it out if its label names no known context."""
    label = str(found.get("metadata", {}).get("labels", {}).get(LABEL, ""))
    number, _, app = label.partition("-")
    context = await context_of(client, known, number) if app else None
    if context is None:
        print(f"left out: the label {LABEL}={label!r} names no known app context", file=sys.stderr)
        return
    receipt = await client.publish(
        "app_cluster", "bundle_state", f"{context}/{app}/{cluster}", {"status": found.get("status") or {}}
    )
    print(f"{context}/{app}/{cluster}: event {receipt.sequence}", file=sys.stderr)


async def main() -> None:
    """Publish events until the input ends."""
    options = argparse.ArgumentParser(description="Publishes ResourceBundleState objects as events of Phaseline.")
    options.add_argument(
        "--cluster", required=True, help="the cluster of the objects, as EMCO writes it: provider+cluster"
    )
    options.add_argument(
        "--nats",
        default=os.environ.get("PHASELINE_NATS", "nats://127.0.0.1:4222"),
        help="the address of the NATS server",
    )
    options.add_argument("--prefix", default="pl", help="the prefix of the installation")
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
