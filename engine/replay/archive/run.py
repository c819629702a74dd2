"""Archiving: the steps in their order, so that a run that is killed anywhere loses nothing and can be repeated.

Belongs here: the order of the steps, what a repeated run finds.

1. Finish the trimming of a former run, if its manifest is there. 2. Write the parts. 3. Read them back, and compare
them with the streams. 4. Write the manifest, as one step. 5. Note the cut in the log. 6. Trim the streams.
Before step 5 the archive is as it was: what the log was not told of is written anew, if the streams still hold all of
it. From step 5 on the archive holds everything, and the rest of step 6 is done again, as far as the note says, whatever
the manifest says meanwhile.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from phaseline.engine.log import as_of, foreign
from phaseline.engine.log.archived import note as notes
from phaseline.engine.log.archived.note import ArchiveNote
from phaseline.engine.log.foreign import Barrier, NoteStanding
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.restored import identity
from phaseline.engine.log.restored.identity import log_identity
from phaseline.engine.log.when import END, When
from phaseline.engine.replay.archive import check, cut
from phaseline.engine.replay.archive.log_slice import LogSlice
from phaseline.engine.replay.archive.manifest import Manifest, PartEntry
from phaseline.engine.replay.archive.store import ArchiveStore
from phaseline.engine.replay.archive.trim import TrimCounts, trim
from phaseline.engine.replay.archive.write_parts import EVENTS, PartWriter
from phaseline.schemas.errors import BadArchive, BadLogFile, Fenced, NotInLog

COPIED = 10.0
"""Seconds to wait until STATE and LIVE have copied what will be trimmed."""


@dataclass(slots=True)
class ArchiveRun:
    """What a run did. manifest: that of the archive now. parts: the ones that this run wrote."""

    manifest: Manifest
    parts: list[PartEntry] = field(default_factory=list)
    trimmed: TrimCounts = field(default_factory=TrimCounts)


class _NobodyWaits(Exception):
    """Nobody waits for the thread any more."""


class Archiver:
    """One archive of one installation, while `store` is locked."""

    def __init__(
        self, installation: Installation, store: ArchiveStore, by: str,
        begin: Callable[[str, int], None] = lambda _, __: None, progress: Callable[[int], None] = lambda _: None,
        least: int = EVENTS,
    ) -> None:  # fmt: skip
        """by: who archives. begin: called with the name of a step and the number of its events, before the step.

        progress: called with the number of events or messages since the last call. least: positions in a part.
        """
        self.installation, self.store, self.by = installation, store, by
        self.begin, self.progress, self.least = begin, progress, least

    async def run(self, before: When) -> ArchiveRun:
        """Archive what was finished before a moment. Raises `BadArchive`, `NoAnswer.copy_behind`."""
        behind = await foreign.barrier(self.installation.wire, self.installation.layout)
        manifest, standing = self._manifest(), await notes.standing(self.installation, behind)
        await self._check_continues(manifest, standing.note, behind)
        if manifest.parts or (standing.note is not None and standing.note.archive == manifest.archive):
            # Parts that the log was not told of are written anew: nothing of them was trimmed.
            manifest = manifest.noted(standing.note, self.store.name)
        done = ArchiveRun(manifest)
        if manifest.parts:
            await self._finish(done, standing)
        try:
            moment = await as_of.resolve(self.installation, before)
        except NotInLog:  # all before it is archived already
            return done
        if standing.note is not None and not manifest.parts:
            manifest = replace(manifest, begins=standing.note.place, begins_ns=standing.note.time_ns)
        first = 1 + max(manifest.position, 0 if standing.note is None else standing.note.position)
        last = await cut.last_finished(self.installation, moment)
        if last >= first:
            after = _reach(manifest, standing)
            done.manifest, done.parts = await self._write(manifest, first, last, after)
            await self._finish(done, standing)
        return done

    def _manifest(self) -> Manifest:
        """The manifest of the archive, or that of an empty one."""
        layout = self.installation.layout
        found = self.store.manifest() or Manifest.new(layout.prefix, layout.partitions)
        if (found.prefix, found.partitions) != (layout.prefix, layout.partitions):
            problem = f"it is of the prefix {found.prefix!r} with {found.partitions} partitions"
            raise BadArchive(name=self.store.name, problem=problem)
        return found

    async def _check_continues(self, manifest: Manifest, note: ArchiveNote | None, behind: Barrier | None) -> None:
        """Raise `BadArchive` if another archive took what would follow here, or if this is one of other streams.

        Also if it has what the streams no longer hold, and the log was not told of that. behind: as for
        `foreign.standing`.
        """
        found = (await identity.standing(self.installation, behind)).note
        told, log = 0 if note is None else note.position, identity.UNKNOWN if found is None else found.number
        if manifest.position > told and manifest.log not in (0, log):
            problem = (
                f"it has events up to {manifest.position} of the log {manifest.log}, but the log {log}, which was put "
                f"back from a backup, knows of it up to {told}: begin a new one, and keep this one"
            )
            raise BadArchive(name=self.store.name, problem=problem)
        if manifest.parts and note is not None and told >= manifest.position:
            if (told, note.archive) != (manifest.position, manifest.archive):
                problem = (
                    f"it ends at event {manifest.position}, but what was archived up to event {told} is in the archive"
                    f" {note.archive}: go on with that one, or begin a new one"
                )
                raise BadArchive(name=self.store.name, problem=problem)
            return
        # Of parts that the log does not know of yet nothing is trimmed, so the streams hold what they hold.
        if new := [part for part in manifest.parts if part.last > told]:
            await self._check_untold(new, is_ours=note is not None and note.archive == manifest.archive)

    async def _check_untold(self, parts: Sequence[PartEntry], *, is_ours: bool) -> None:
        """Raise `BadArchive` if the streams do not hold all that these parts do, which would be written anew.

        is_ours: whether the log knows the archive.
        """
        first, last = parts[0].first, parts[-1].last
        self.begin("comparing", last - first + 1)
        if not is_ours and not await check.are_held(self.installation, parts):
            problem = (
                f"the streams hold none of its events {first} to {last}, so it is of another installation, or of"
                " streams that were deleted: begin a new one"
            )
        elif missing := await check.only_here(self.installation, self.store, parts, self.progress):
            problem = (
                f"the log has no note of its events {first} to {last}, and of these and their records the streams no"
                f" longer hold {missing}, which would be lost if they were written anew: keep it, and begin a new one"
            )
        else:
            return
        raise BadArchive(name=self.store.name, problem=problem)

    async def _write(self, manifest: Manifest, first: int, last: int, after: int) -> tuple[Manifest, list[PartEntry]]:
        """Write the events from `first` to `last`, check them, store the manifest. after: as for `LogSlice.open`."""
        installation = self.installation
        self.begin("writing", last - first + 1)
        async with LogSlice.open(installation, first, last, after) as found:
            writer = PartWriter(self.store, found, len(manifest.parts), self.least)
            try:
                parts = await writer.write(self.progress)
            except (OSError, BadLogFile) as error:
                why = f"{getattr(error, 'strerror', None) or error}: nothing was trimmed; make room, and call it again"
                if isinstance(error, OSError):
                    raise OSError(error.errno, why, f"archive {self.store.name}") from None
                raise self.store.failed(why) from None
            place, sources = found.settled, {**manifest.sources, **found.sources}
        self.begin("reading back", last - first + 1)
        reading = await self._read_back(parts)
        self.begin("comparing", last - first + 1)
        held = await check.read_streams(installation, first, last, after, place, self.progress)
        if held.tally != reading.tally:
            problem = (
                f"the files hold {reading.tally}, the streams {held.tally}, or others: nothing was trimmed, try again"
            )
            raise BadArchive(name=self.store.name, problem=problem)
        await cut.wait_for_copies(installation, writer.state_place, found.observed, COPIED)
        manifest = manifest.extended(
            parts, position=last, place=place, time_ns=max(manifest.time_ns, held.time_ns), sources=sources,
            missing=check.joined([*manifest.missing, *reading.missing]), log=await log_identity(installation),
        )  # fmt: skip
        self.begin("storing the manifest", 0)
        self.store.write(manifest)
        return manifest, parts

    async def _read_back(self, parts: Sequence[PartEntry]) -> check.ReadBack:
        """Read parts back in a thread, which ends soon if the run is ended meanwhile."""
        ended = False

        def progress(events: int) -> None:
            if ended:
                raise _NobodyWaits
            self.progress(events)

        try:
            return await asyncio.to_thread(check.read_back, self.store, parts, progress)
        except asyncio.CancelledError:
            ended = True
            raise

    async def _finish(self, done: ArchiveRun, standing: NoteStanding[ArchiveNote]) -> None:
        """Note in the log what the archive holds, if it does not say so yet, and trim the streams."""
        manifest = done.manifest
        if standing.note is None or standing.note.position < manifest.position:
            self.begin("noting", 0)
            await self._note(manifest, standing.sequence)
        self.begin("trimming", 0)
        kept = manifest.sources.values()
        trimmed = await trim(self.installation, manifest.position, manifest.place, kept, self.progress)
        trimmed.events += done.trimmed.events
        trimmed.log += done.trimmed.log
        done.trimmed = trimmed

    async def _note(self, manifest: Manifest, expected: int) -> None:
        try:
            await notes.notes(self.installation).leave(manifest.note(self.by), expected)
        except Fenced:
            problem = "another run archived at the same time: nothing was trimmed, call it again"
            raise BadArchive(name=self.store.name, problem=problem) from None


def _reach(manifest: Manifest, standing: NoteStanding[ArchiveNote]) -> int:
    """The last place of what was archived: by this archive, or by one before it; the end of all if nothing was."""
    if manifest.parts:
        return manifest.reach
    return END if standing.note is None else standing.sequence
