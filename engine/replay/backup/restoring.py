"""An installation of a backup, on a server that has none with this prefix.

Belongs here: the order, what may be changed of the streams, and the places of LOG that EVENTS already copied. Does not:
the bytes (`stream_files`), what a log that was put back means (`engine.log.restored`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from phaseline.engine.nats.stream_settings.report import info_of
from phaseline.engine.nats.streams import Layout, partitions_of
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.backup import checkpoints, mirror, stream_files
from phaseline.engine.replay.backup.backing_up import Begin, state_of
from phaseline.engine.replay.backup.manifest import BackupManifest, StreamEntry, bad
from phaseline.schemas.errors import NoAnswer, SetupError
from phaseline.schemas.subjects import Subjects

AT_ONCE = 5_000
"""Messages that are sent before the server is asked whether it has them."""


async def restore(
    wire: Wire, layout: Layout, folder: Path, backup: BackupManifest, changes: dict[str, object],
    begin: Begin, advance: Callable[[int], None],
) -> Literal["whole", "promoted", "promoted, forgetful"]:  # fmt: skip
    """Make the streams of a backup whose files were checked. changes: what their configurations are to say otherwise.

    EVENTS may be there as the mirror of a first site: then it is promoted, after all others were put back. Forgetful:
    it does not know the ids of messages that it holds before its server is restarted.
    Raises `SetupError.backup_in_the_way` and what `mirror.check` raises before anything is made,
    `InvalidInput.bad_backup`, `ApiFailed`, `NoAnswer`.
    """
    entries = {one.stream: _changed(one, changes) for one in backup.streams}
    mirrored = await _mirrored(wire, layout)
    events, reached = entries[layout.events], backup.reached
    if mirrored is not None:
        await mirror.check(wire, mirrored, events)
        reached = max(reached, await mirror.copied_from_log(wire, layout.prefix, layout.events))
        del entries[layout.events]
    for one in entries.values():
        begin(one.stream, one.bytes)
        await _put_back(wire, folder, one, advance)
        if one.stream == layout.log:
            await _checkpoints(wire, layout, folder, backup)
            await skip_to(wire, layout, reached)
    if mirrored is None:
        return "whole"
    await mirror.promote(wire, events)
    return "promoted" if mirror.remembers(mirrored, events) else "promoted, forgetful"


async def _mirrored(wire: Wire, layout: Layout) -> dict[str, Any] | None:
    """What the server says of EVENTS if that is a mirror; raises `SetupError.backup_in_the_way` for anything else."""
    found = {name: info for name in layout.streams if (info := await info_of(wire, name)) is not None}
    events = found.pop(layout.events, None)
    if events is not None and not mirror.is_mirror(events):
        raise SetupError.backup_in_the_way(stream=layout.events)
    for name in found:
        raise SetupError.backup_in_the_way(stream=name)
    return events


def _changed(entry: StreamEntry, changes: dict[str, object]) -> StreamEntry:
    """The entry with another configuration. A value of None takes a setting away."""
    config = {name: value for name, value in {**entry.config, **changes}.items() if value is not None}
    return replace(entry, config=config)


async def _checkpoints(wire: Wire, layout: Layout, folder: Path, backup: BackupManifest) -> None:
    """Let LOG have the checkpoints of the backup; raises `InvalidInput.bad_backup` if it lacks one."""
    [events] = [one for one in backup.streams if one.stream == layout.events]
    layout = replace(layout, partitions=partitions_of(events.config))
    await checkpoints.put_back(wire, layout, backup.checkpoints or [])
    if lacking := await checkpoints.without(wire, layout):
        problem = (
            f"it has no checkpoint of the partitions {', '.join(map(str, lacking))}, as may be in one that an earlier"
        )
        raise bad(folder, f"{problem} version made while workers went on: make another one")


async def _put_back(wire: Wire, folder: Path, entry: StreamEntry, advance: Callable[[int], None]) -> None:
    last = await stream_files.put_back(wire, entry, folder, advance)
    if last < entry.last:  # how many there are is no sign: of a schedule only the last one stays
        raise bad(folder, f"{entry.file} ended at message {entry.last:,}, and the server has it up to {last:,}")


async def skip_to(wire: Wire, layout: Layout, place: int) -> None:
    """Let LOG go on behind a place. What it skips stays empty, as if it had been purged.

    A server that starts looks for fired timers behind the last one that EVENTS has. One that LOG fired at a place
    before, and that EVENTS had not copied yet, would be lost.
    """
    subject, last = Subjects(layout.prefix).skipped(), int((await state_of(wire, layout.log))["last_seq"])
    if last >= place:
        return
    while last < place:
        wire.send(wire.frame(subject, b"") * (min(AT_ONCE, place - last) - 1))
        ack = await wire.publish_acked(subject, b"")
        if ack.seq <= last:
            raise NoAnswer.backup_stopped(stream=layout.log, problem=f"it does not grow beyond place {last}")
        last = ack.seq
    await wire.api(f"STREAM.PURGE.{layout.log}", {"filter": subject})
