"""A worker process with a kind whose rules misbehave: `python -m tests.support.stalling_worker URL PREFIX`.

Belongs here: rules that sleep, never end, keep the interpreter to themselves or end the process. Does not: the tests.
Its limits of seconds are smaller than in the product, so that the tests are quick.
"""

import asyncio
import logging
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from phaseline.engine.settings import Pacing, Settings
from phaseline.engine.worker import system
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.edge_hosting.cluster import CLUSTER
from phaseline.machines.kinds.edge_hosting.component import COMPONENT
from phaseline.machines.kinds.edge_hosting.node import NODE
from phaseline.machines.kinds.edge_hosting.node_pool import NODE_POOL
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    OK,
    Attributes,
    Facet,
    Field,
    Interpret,
    Label,
    Row,
    RuleEvent,
    Table,
)
from phaseline.schemas.errors import SetupError


@rule("test.misbehave", revision=1)
def misbehave(_: Scene, __: str, ___: Attributes, event: RuleEvent) -> Mapping[str, Any]:
    """Does what the event says."""
    match event.data.get("how"):
        case "sleep":
            time.sleep(event.data["seconds"])
        case "end":
            os._exit(7)
        case "loop":
            while True:
                pass
        case "keep":  # one operation in C
            (10**300_000) ** 300_000
    return {}


STALL = Table(
    kind="stall",
    id=("cluster", "stall"),
    parent="cluster",
    intents=("begin",),
    facets=(
        Facet(
            name="phase",
            labels=(Label("There", OK, "There"),),
            rows=(
                Row((ABSENT, DELETED), "begin", "There"),
                Row(("There",), "begin", "There"),
                Row(("There",), "ended", DELETED),
            ),
        ),
    ),
    interprets=(Interpret(("begin",), (), misbehave),),
    fields={"begin": (Field("how", str, "what the rule does"), Field("seconds", float, "how long"))},
)
IMPATIENT = Pacing(stuck=1.0, hung=2.0, comes_back=0.2)
KINDS = Kinds((CLUSTER, NODE_POOL, NODE, COMPONENT, STALL), products=PRODUCTS)


async def main() -> None:
    """Run the worker."""
    url, prefix = sys.argv[1:]
    settings = Settings(nats=(url,), prefix=prefix, lease=1.0, partitions=1)
    try:
        await system.run_worker(settings, KINDS, system.stopped_by_signals(), pacing=IMPATIENT)
    except SetupError as error:
        if not SetupError.decision_stuck.made(error):
            raise
        sys.exit(str(error))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(main())
