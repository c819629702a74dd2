"""The feed of an installation: in which format its workers write records. The metadata of EVENTS keep it.

Belongs here: reading and changing what is kept. Does not: the other settings of streams (`streams`), writing records
(`ownership.claim`).
"""

from typing import Any, cast

from phaseline.engine import logs
from phaseline.engine.errors import FeedUnknown
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import FEEDS, Feed

KEY = "phaseline.feed"
RUNNING = "workers that run now keep the format that they started with: restart them"

log = logs.get_logger(__name__)


def kept(config: dict[str, Any]) -> Feed:
    """The feed that the configuration of EVENTS says; raises `FeedUnknown`."""
    found = config.get("metadata", {}).get(KEY, "msgpack")
    if found not in FEEDS:
        raise FeedUnknown(found=found)
    return cast("Feed", found)


async def change(wire: Wire, stream: str, config: dict[str, Any], feed: Feed) -> None:
    """Keep another feed from now on. stream, config: EVENTS. Raises as `Wire.api` does."""
    before = kept(config)
    changed = {**config, "metadata": {**config.get("metadata", {}), KEY: feed}}
    await wire.api(f"STREAM.UPDATE.{stream}", changed)
    log.warning("feed_changed", stream=stream, before=before, feed=feed, hint=RUNNING)
