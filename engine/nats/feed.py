"""The feed of an installation: in which format its workers write records. The metadata of EVENTS keep it.

Belongs here: reading and changing what is kept. Does not: the other settings of streams (`streams`), leaving a feed
that was removed (`worker.former_feed`).
"""

from typing import Any, Literal, cast

from phaseline.engine import logs
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import FEEDS, Feed
from phaseline.schemas.errors import SetupError

KEY = "phaseline.feed"
BOTH: Literal["both"] = "both"
"""A feed that earlier versions had: msgpack, and beside each record a copy in JSON, which all readers skip."""
KeptFeed = Feed | Literal["both"]
"""What an installation may have kept."""
RUNNING = "workers that run now keep the format that they started with: restart them"

log = logs.get_logger(__name__)


def kept_feed(config: dict[str, Any]) -> KeptFeed:
    """The feed that the configuration of EVENTS says; raises `SetupError.feed_unknown`."""
    found = config.get("metadata", {}).get(KEY, "msgpack")
    if found not in (*FEEDS, BOTH):
        raise SetupError.feed_unknown(found=found, do="update it")
    return cast("KeptFeed", found)


async def change(wire: Wire, stream: str, config: dict[str, Any], feed: Feed) -> None:
    """Keep another feed from now on. stream, config: EVENTS. Raises as `Wire.api` does."""
    before = kept_feed(config)
    changed = {**config, "metadata": {**config.get("metadata", {}), KEY: feed}}
    await wire.api(f"STREAM.UPDATE.{stream}", changed)
    log.warning("feed_changed", stream=stream, before=before, feed=feed, hint=RUNNING)
