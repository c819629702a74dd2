"""A backup of an installation, made while workers, publishers and readers go on.

STATE is read first, then LOG, then EVENTS: a copy must not be ahead of what it copies, and LOG must not have decided
what EVENTS does not hold. What EVENTS holds beyond that is decided again once it is put back. EVENTS copies the timers
that LOG fired; those that LOG fired between the two are in EVENTS only, so the backup says up to which place that can
be (`BackupManifest.reached`). The checkpoints are read before LOG (`checkpoints`).
Belongs here: this order. Does not: the bytes (`stream_files`), putting back (`restoring`).
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from phaseline.engine import regular_files
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.restored.identity import log_identity
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.backup import checkpoints, manifest, stream_files
from phaseline.engine.replay.backup.checkpoints import SavedCheckpoint
from phaseline.engine.replay.backup.manifest import BackupManifest, StreamEntry
from phaseline.schemas.errors import InvalidInput

Begin = Callable[[str, int], None]
"""Gets the name of a stream, and the bytes that it holds."""


def order(layout: Layout) -> Sequence[str]:
    """The streams of a backup, in the order in which they are read."""
    return layout.state, layout.log, layout.events


def new_folder(path: Path) -> None:
    """Make the folder of a backup; raises `InvalidInput.bad_backup` if something is there, `OSError`."""
    with suppress(FileExistsError):
        path.mkdir(mode=0o700, parents=True)
    if not path.is_dir() or any(path.iterdir()):
        raise InvalidInput.bad_backup(
            name=path, problem="something is there already: name a new folder for each backup"
        )


async def back_up(
    installation: Installation, folder: Path, by: str, begin: Begin, advance: Callable[[int], None]
) -> BackupManifest:
    """Write a backup into an empty folder. by: who makes it. Raises `ApiFailed`, `NoAnswer`, `OSError`.

    begin: is told which stream comes next. advance: gets the numbers of bytes that were written.
    """
    begun, wire, layout = time.time_ns(), installation.wire, installation.layout
    number, found = await log_identity(installation), list[StreamEntry]()
    standing = list[SavedCheckpoint]()
    for stream in order(layout):
        if stream == layout.log:
            standing = await checkpoints.saved(wire, layout)
        begin(stream, int((await state_of(wire, stream))["bytes"]))
        try:
            found.append(await stream_files.save(wire, stream, folder, advance))
        except OSError as error:
            error.filename = error.filename or str(folder / f"{stream}.stream")  # Python names it not for a full disk
            raise
        regular_files.sync(folder / found[-1].file)
    reached = int((await state_of(wire, layout.log))["last_seq"])
    state, log, events = found
    made = BackupManifest(
        prefix=installation.prefix, streams=[log, events, state], reached=reached, checkpoints=standing, log=number,
        begun_ns=begun, ended_ns=time.time_ns(), made_by=by,
    )  # fmt: skip
    manifest.write(folder, made)
    regular_files.sync(folder)
    return made


async def state_of(wire: Wire, stream: str) -> dict[str, int]:
    """What a stream holds now, by JetStream's names; raises `ApiFailed`."""
    found: dict[str, int] = (await wire.api(f"STREAM.INFO.{stream}"))["state"]
    return found
