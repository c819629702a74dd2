"""Checks of the server: its version, the user, JetStream, its clock, its room.

Belongs here: what can be asked of any NATS server. Does not: checks of the installation (`installation_checks`).
"""

import json
import shutil
import time
from pathlib import Path
from typing import Any

from phaseline.engine.nats.embedded.server_key import NAME as KEY
from phaseline.engine.nats.stream_settings.fill import size
from phaseline.engine.nats.streams import MINIMUM_SERVER
from phaseline.engine.nats.wire import Wire
from phaseline.engine.surfaces.doctor.check_result import CheckResult, failed, ok, problem, unknown, warning
from phaseline.schemas.errors import (
    ApiFailed,
    NoJetStream,
    NoResponders,
    NotPermitted,
    RequestTimedOut,
    SetupError,
)
from phaseline.schemas.records import SECOND, nanoseconds

USER_INFO = "$SYS.REQ.USER.INFO"
"""The subject on which a server tells each user its name and rights."""
FULL, ALMOST_FULL = 0.98, 0.85
"""Shares of the room for streams, or of the disk, that are used."""
CLOCK = 2.0
"""Seconds by which two clocks may differ. Moments such as `--at 15m` are computed by the clock of this machine."""
ROOM = "give the server more room, or limit EVENTS with --events-max-age (A full disk, docs/trouble.md)"


def version(wire: Wire) -> CheckResult:
    """Whether the server is new enough for workers."""
    try:
        wire.require(*MINIMUM_SERVER)
    except SetupError as error:
        return failed("version", error)
    return ok("version", f"NATS {wire.version}")


async def user(wire: Wire) -> CheckResult:
    """Which user and account this connection has."""
    try:
        reply = json.loads((await wire.request(USER_INFO)).data)["data"]
    except (NotPermitted, RequestTimedOut, NoResponders, ValueError, KeyError) as error:
        if isinstance(error, NotPermitted) and NotPermitted.inbox_refused.made(error):
            return failed("user", error)
        return unknown("user", "its name is not known: it may not ask the server for it")
    name = reply.get("user") or "no name: the server lets everybody in"
    return ok("user", f"{name}, account {reply.get('account', '?')}{_limits(reply.get('permissions') or {})}")


def _limits(permissions: dict[str, Any]) -> str:
    """What a user may do, in words: `; may publish to a, b; may subscribe to c`."""
    found = []
    for act, words in (("publish", "may publish to"), ("subscribe", "may subscribe to")):
        rules = permissions.get(act) or {}
        if rules.get("allow"):
            found.append(f"; {words} {', '.join(rules['allow'])}")
        if rules.get("deny"):
            found.append(f"; {words} nothing under {', '.join(rules['deny'])}")
    return "".join(found)


async def jetstream(wire: Wire) -> CheckResult:
    """Whether JetStream is on, and how much of its room is used."""
    try:
        info = await wire.api("INFO")
    except NotPermitted:
        return unknown("jetstream", "this user may not ask about JetStream")
    except (NoJetStream, ApiFailed) as error:
        return failed("jetstream", error)
    except NoResponders as error:
        if not wire.has_consumers:
            return unknown("jetstream", "the API of this account has no such request")
        return failed("jetstream", error, "look at the servers: the leader may be away")
    used, limit = int(info["storage"]), int(info["limits"]["max_storage"])
    if limit <= 0:
        return ok("jetstream", f"{size(used)} on disk, without a limit for the account")
    return _filled("jetstream", f"{size(used)} of {size(limit)} on disk", used / limit)


async def clock(wire: Wire, stream: str) -> CheckResult:
    """How much the clocks of this machine and of the server differ."""
    before = time.time_ns()
    info = await wire.api(f"STREAM.INFO.{stream}")
    middle = (before + time.time_ns()) / 2
    apart = (nanoseconds(info["ts"]) - middle) / SECOND
    found = f"the server's clock is {abs(apart):.1f} s {'ahead' if apart > 0 else 'behind'}"
    if abs(apart) <= CLOCK:
        return ok("clock", "as the server's")
    return warning("clock", found, "let both machines follow a time server; records have the server's time")


def disk(key: Path | None) -> CheckResult | None:
    """How full the disk of a server of this user's `phaseline up` is; None if the server is another one."""
    if key is None or key.name != KEY:
        return None
    total, used, free = shutil.disk_usage(key.parent)
    return _filled("disk", f"{size(free)} free of {size(total)} in {key.parent}", used / total if total else 0.0)


def _filled(name: str, found: str, part: float) -> CheckResult:
    """The result about something of which a part is filled."""
    if part < ALMOST_FULL:
        return ok(name, found)
    return (problem if part > FULL else warning)(name, found, ROOM)
