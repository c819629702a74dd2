"""Changing the settings of a stream, and waiting until its copies are up to date.

Belongs here: one STREAM.UPDATE for all differences of a stream. Does not: which ones there are (`differences`), what
people are told (`surfaces.cli.streams`).
A stream is changed as a whole, so its present configuration is read just before. What nobody asked to change stays.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.stream_settings.differences import StreamDifference
from phaseline.engine.nats.stream_settings.fill import KEPT_BYTES
from phaseline.engine.nats.stream_settings.report import StreamReport, late_copies
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import ApiFailed, NatsUnreachable, NoAnswer, SetupError

PATIENCE = 120.0
"""Seconds without any progress after which nobody waits for copies any more."""
LOOK = 0.5
"""Seconds between two looks at the copies."""


class CopyProgress(NamedTuple):
    """How far the copies of a stream are. behind: messages that the last one lacks, as far as the server knows."""

    stream: str
    current: int
    wanted: int
    behind: int


def check(reports: Sequence[StreamReport]) -> None:
    """Raise `SetupError.stream_fixed` if one of the differences cannot be changed. Nothing is changed then."""
    for report in reports:
        for one in report.differences:
            if not one.can_change:
                raise SetupError.stream_fixed(
                    stream=one.stream, setting=one.setting, found=one.found, wanted=one.wanted, way_out=one.way_out
                )


async def change(wire: Wire, report: StreamReport, progress: Callable[[CopyProgress], None]) -> None:
    """Change a stream as its differences say, and wait until its copies are up to date.

    Raises `SetupError` if the server refuses, `NoAnswer` if nothing moves for `PATIENCE` seconds.
    """
    name = report.stream
    config = (await wire.api(f"STREAM.INFO.{name}"))["config"]
    try:
        await wire.api(f"STREAM.UPDATE.{name}", changed(config, report.differences))
    except ApiFailed as error:
        if can_pass(error):
            raise
        settings = ", ".join(one.setting for one in report.differences)
        raise SetupError.stream_unchanged(stream=name, settings=settings, problem=error.description) from error
    await until_copied(wire, name, progress)


def changed(config: dict[str, Any], differences: Sequence[StreamDifference]) -> dict[str, Any]:
    """The configuration with these differences made good."""
    made = {one.key: None if one.value == {} else one.value for one in differences}
    if "metadata" in made:
        made["metadata"] = {**(config.get("metadata") or {}), KEPT_BYTES: str(made["metadata"])}
    return {**config, **made}


async def until_copied(wire: Wire, name: str, progress: Callable[[CopyProgress], None]) -> None:
    """Wait until the stream has a leader, and as many copies that are up to date as its configuration says."""
    last: CopyProgress | None = None
    since, late = time.monotonic(), "the others"
    while True:
        try:
            info = await wire.api(f"STREAM.INFO.{name}")
        except (NoAnswer, NatsUnreachable, ApiFailed) as error:
            if not can_pass(error):
                raise
        else:
            if is_whole(info):
                return
            late, found = ", ".join(late_copies(info)) or late, copying(name, info)
            if found != last:
                progress(found)
                last, since = found, time.monotonic()
        if time.monotonic() - since > PATIENCE:
            raise NoAnswer.copies_late(stream=name, seconds=PATIENCE, late=late)
        await asyncio.sleep(LOOK)


def copying(name: str, info: dict[str, Any]) -> CopyProgress:
    """How far the copies of a stream are."""
    peers = (info.get("cluster") or {}).get("replicas") or ()
    late = late_copies(info)
    behind = max((int(peer.get("lag", 0)) for peer in peers), default=0)
    return CopyProgress(name, 1 + len(peers) - len(late), int(info["config"]["num_replicas"]), behind)


def is_whole(info: dict[str, Any]) -> bool:
    """Whether a stream has a leader, and just the copies that it should have, all up to date."""
    cluster = info.get("cluster")
    if cluster is None:
        return int(info["config"]["num_replicas"]) == 1
    peers = cluster.get("replicas") or ()
    return bool(cluster.get("leader")) and len(peers) == info["config"]["num_replicas"] - 1 and not late_copies(info)
