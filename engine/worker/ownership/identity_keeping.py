"""Keeps the identity of the log: makes it with the log, and anew when LOG or EVENTS was put back from a backup.

Belongs here: seeing that, writing the note. Does not: the note (`log.restored.identity`), what follows in a partition
(`takeover`, `tables_change.carry_out`).
The server says when it made a stream; one that is restored counts as made then, as one that was deleted does. So the
note is compared with that. Where files of the server were put back, the streams end before what a worker has seen in
them, or a reporter has read there.
"""

import asyncio
import secrets
import time
from typing import Any

from phaseline.engine import logs
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.restored import identity
from phaseline.engine.log.restored.identity import LogIdentity
from phaseline.engine.nats.direct_get import message_from_leader
from phaseline.schemas.errors import Fenced
from phaseline.schemas.records import nanoseconds

MICROSECOND = 1_000
LATELY = 600.0
"""Seconds after a new identity in which no reporter's word makes another one."""

log = logs.get_logger(__name__)


async def ensured(installation: Installation, worker: str, why: str = "", known: int = 0) -> LogIdentity:
    """The identity of the log, which is made if there is none, and anew if LOG or EVENTS was put back.

    why: what else shows that the log `known` was put back, in words. Raises as `Wire.api` does.
    """
    while True:
        layout = installation.layout
        held, events, found = await asyncio.gather(
            installation.wire.api(f"STREAM.INFO.{layout.log}"), installation.wire.api(f"STREAM.INFO.{layout.events}"),
            identity.standing(installation),
        )  # fmt: skip
        made = {layout.log: str(held["created"]), layout.events: str(events["created"])}
        former: LogIdentity | None = found.note
        told = why
        if former is not None:
            changed = [name for name, when in made.items() if former.made.get(name, when) != when]
            other = why if former.number == known else ""
            told = f"{' and '.join(changed)} made anew, or put back" if changed else other
            if not told:
                return former
        is_backup = (former is not None and former.made.get(layout.log) != made[layout.log]) or told == why != ""
        note = await _next(installation, former, made, held, events, told, worker, is_backup=is_backup)
        try:
            await identity.notes(installation).leave(note, found.sequence)
        except Fenced:  # another worker was faster
            continue
        _say(note)
        return note


def is_recent(note: LogIdentity) -> bool:
    """Whether an identity was made a moment ago: then what a reporter has read may still be of the former one."""
    return time.time() - note.number / 1e6 < LATELY


async def _next(
    installation: Installation, former: LogIdentity | None, made: dict[str, str], held: dict[str, Any],
    events: dict[str, Any], why: str, worker: str,
    *, is_backup: bool,
) -> LogIdentity:  # fmt: skip
    """The note of the next identity."""
    now = nanoseconds(held["ts"]) if "ts" in held else time.time_ns()
    number = now // MICROSECOND // 1_000 * 1_000 + secrets.randbelow(1_000)
    if former is None:
        return LogIdentity(number, made, worker, found_ns=now)
    place, position = int(held["state"]["last_seq"]), int(events["state"]["last_seq"])
    last = await message_from_leader(installation.wire, installation.layout.log, {"seq": place}) if place else None
    return LogIdentity(
        max(number, former.number + 1), made, worker, former.number, why, is_backup, position, place,
        0 if last is None else last.time_ns, now,
    )  # fmt: skip


def _say(note: LogIdentity) -> None:
    if note.was_restored:
        log.error("log_restored", log=note.number, former=note.former, why=note.why, position=note.position,
                  place=note.place)  # fmt: skip
    else:
        log.info("log_identified", log=note.number)
