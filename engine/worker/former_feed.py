"""Leaves the feed in both formats, which earlier versions had: msgpack, and a copy of each record in JSON beside it.

Belongs here: whether an installation can leave it, and what else to do. Does not: the copies in old logs, which readers
skip (`log.foreign`).
"""

from msgspec.structs import replace

from phaseline.engine.log import checkpoint
from phaseline.engine.log.installation import Installation
from phaseline.engine.nats import feed
from phaseline.engine.settings import Feed
from phaseline.schemas.errors import SetupError

CHOOSE = (
    "start a worker once with --feed json, or with --feed msgpack; programs that listen to {prefix}.json.> then listen "
    "to {prefix}.transition.>, {prefix}.rejection.> and {prefix}.loss.>"
)
FINISH = (
    "a commit of partition {partition} was begun under it and is not finished: start a worker of the former version, "
    "which finishes it, stop it, and start this one again"
)


async def leave(installation: Installation, wanted: Feed | None) -> Installation:
    """The installation with the feed that is wanted in place of the one in both formats; raises `SetupError`."""
    wire, layout = installation.wire, installation.layout
    if layout.feed != feed.BOTH:
        return installation
    if wanted is None:
        raise SetupError.feed_unknown(found=feed.BOTH, do=CHOOSE.format(prefix=layout.prefix))
    for number in range(layout.partitions):
        last = await checkpoint.last(wire, layout.log, installation.subjects.checkpoint(number))
        if last is not None and last.plan is not None:
            raise SetupError.feed_unknown(found=feed.BOTH, do=FINISH.format(partition=number))
    config = (await wire.api(f"STREAM.INFO.{layout.events}"))["config"]
    await feed.change(wire, layout.events, config, wanted)
    return replace(installation, layout=replace(layout, feed=wanted))
