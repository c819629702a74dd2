"""EVENTS at a second site: a mirror of the first one's, which becomes the stream itself when the first is lost.

Belongs here: whether a mirror fits a backup, and whether the first site still answers; promoting it. Does not: making
it (plain NATS does), LOG and STATE (`restoring`).
LOG is not mirrored: of what a mirror takes the server removes the headers by which a worker's messages are known. It
comes from the backup, and what EVENTS holds beyond that is decided again.
"""

from typing import Any

from phaseline.engine.nats.api_reply import read_reply
from phaseline.engine.nats.direct_get import last_message_from_leader, message_from_leader, origin
from phaseline.engine.nats.stream_settings.report import STREAM_NOT_FOUND
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.backup.manifest import StreamEntry
from phaseline.schemas.errors import ApiFailed, NoAnswer, SetupError
from phaseline.schemas.records import nanoseconds

PATIENCE = 5.0
"""Seconds in which a first site that lives answers."""


def is_mirror(info: dict[str, Any]) -> bool:
    """Whether a stream takes everything from another one, from the answer to STREAM.INFO."""
    return bool(info["config"].get("mirror"))


async def check(wire: Wire, info: dict[str, Any], entry: StreamEntry) -> None:
    """Raise `SetupError` if the first site answers, or the mirror does not go on from the backup.

    info: what the server says of the mirror. entry: EVENTS in the backup.
    """
    config, last = info["config"], int(info["state"]["last_seq"])
    if await _answers(wire, config["mirror"]):
        raise SetupError.first_site_lives(stream=entry.stream)
    if last < entry.last:
        raise SetupError.mirror_unfit(stream=entry.stream, problem=f"it ends at {last:,}, the backup at {entry.last:,}")
    told = entry.state.get("last_ts")
    found = await message_from_leader(wire, config["name"], {"seq": entry.last}) if entry.last else None
    if found is not None and told and found.time_ns != nanoseconds(told):
        problem = f"its message {entry.last:,} is not that of the backup"
        raise SetupError.mirror_unfit(stream=entry.stream, problem=problem)


async def _answers(wire: Wire, mirrored: dict[str, Any]) -> bool:
    """Whether the server of the first site has the stream, and says so."""
    api = (mirrored.get("external") or {}).get("api") or wire.settings.api_prefix
    subject = f"{api}.STREAM.INFO.{mirrored['name']}"
    try:
        read_reply(subject, (await wire.request(subject, timeout=PATIENCE)).data)
    except NoAnswer:
        return False
    except ApiFailed as error:
        return error.err_code != STREAM_NOT_FOUND
    return True


def remembers(info: dict[str, Any], entry: StreamEntry) -> bool:
    """Whether a promoted mirror knows the ids of its messages. If not, its server does after a restart."""
    windows = [int(config.get("duplicate_window", 0)) for config in (info["config"], entry.config)]
    return windows[0] >= windows[1]


async def copied_from_log(wire: Wire, prefix: str, stream: str) -> int:
    """The last place of LOG from which the first site's EVENTS had copied a timer; 0 if there is none."""
    last = await last_message_from_leader(wire, stream, f"{prefix}.due.>")
    return 0 if last is None else origin(last.block)


async def promote(wire: Wire, entry: StreamEntry) -> None:
    """Let the mirror be EVENTS, with the configuration of the backup. From then on it takes events."""
    await wire.api(f"STREAM.UPDATE.{entry.stream}", entry.config)
