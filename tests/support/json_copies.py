"""Copies of records in JSON, as earlier versions wrote them into LOG where the feed was in both formats.

Belongs here: adding them to a log. Does not: what readers make of them (nothing; the tests say it).
"""

from phaseline.engine.nats.streams import BOTH, FEED, Layout
from phaseline.engine.nats.wire import Wire
from phaseline.schemas import codec
from phaseline.schemas.subjects import json_copy
from tests.support.log_check import stored

MARK = {"Phaseline-Copy": "json"}
RECORDS = ("transition", "rejection", "loss")


async def add_json_copies(wire: Wire, layout: Layout) -> int:
    """Store a copy of each record of the log behind them all; returns how many."""
    found = await stored(wire, layout.log, [f"{layout.prefix}.log.*.{word}.>" for word in RECORDS])
    for one in found:
        await wire.publish_acked(json_copy(layout.prefix, one.subject), codec.as_json(one.data), MARK)
    return len(found)


async def keep_both(wire: Wire, layout: Layout) -> None:
    """Let the installation have the feed in both formats, as an earlier version left it."""
    config = (await wire.api(f"STREAM.INFO.{layout.events}"))["config"]
    config["metadata"][FEED] = BOTH
    await wire.api(f"STREAM.UPDATE.{layout.events}", config)
