"""An installation of a backup, on a server that has none with this prefix.

Belongs here: the order, what may be changed of the streams, and the places of LOG that EVENTS already copied. Does not:
the bytes (`stream_files`), what a log that was put back means (`engine.log.restored`).
"""

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from phaseline.engine.nats.stream_settings.report import info_of
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.backup import stream_files
from phaseline.engine.replay.backup.backing_up import Begin, state_of
from phaseline.engine.replay.backup.manifest import BackupManifest, StreamEntry, bad
from phaseline.schemas.errors import NoAnswer, SetupError
from phaseline.schemas.subjects import Subjects

AT_ONCE = 5_000
"""Messages that are sent before the server is asked whether it has them."""


async def restore(
    wire: Wire, layout: Layout, folder: Path, backup: BackupManifest, changes: dict[str, object],
    begin: Begin, advance: Callable[[int], None],
) -> None:  # fmt: skip
    """Make the streams of a backup whose files were checked. changes: what their configurations are to say otherwise.

    Raises `SetupError.backup_in_the_way` before anything is made, `InvalidInput.bad_backup`, `ApiFailed`, `NoAnswer`.
    """
    for name in layout.streams:
        if await info_of(wire, name) is not None:
            raise SetupError.backup_in_the_way(stream=name)
    for one in backup.streams:
        begin(one.stream, one.bytes)
        await _put_back(wire, folder, _changed(one, changes), advance)
        if one.stream == layout.log:
            await skip_to(wire, layout, backup.reached)


def _changed(entry: StreamEntry, changes: dict[str, object]) -> StreamEntry:
    """The entry with another configuration. A value of None takes a setting away."""
    config = {name: value for name, value in {**entry.config, **changes}.items() if value is not None}
    return replace(entry, config=config)


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
