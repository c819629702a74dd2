"""Table eras: notes in the log that say which tables decide a partition's events. Workers with other tables refuse it.

A note also holds the setting of the worker on which decisions depend, so that a replay decides as the worker did.

Belongs here: the notes, reading and comparing them. Does not: writing them (`worker.ownership.takeover`), versions of
tables (`compiler.kinds`). A note is about the events after its position. Which tables decided before the first note is
not known.
"""

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.log import foreign
from phaseline.engine.log.foreign import Barrier, LogNote, Notes
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.restored.identity import LogIdentity
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import BadSetting, SetupError


class Era(LogNote, frozen=True, omit_defaults=True):
    """The tables that decide the events after `position`. `worker` wrote the note.

    silence_after: the seconds after which places fall silent that have none of their own.
    former: where a map of states moves entities, by kind that has changed the version of its table before. The next
    note says that all of them have moved. time_ns: when they began to.
    log: the identity of the log (`restored.identity`); 0 before it had one. backup: if it goes on from a backup, the
    last position before.
    """

    position: int
    digest: str
    tables: dict[str, str]
    worker: str = ""
    silence_after: float = 0.0
    former: Mapping[str, str] = {}
    time_ns: int = 0
    log: int = 0
    backup: int = 0

    @property
    def decides_as(self) -> tuple[str, float, int, int]:
        """That on which decisions depend: two eras with the same decide the same."""
        return self.digest, self.silence_after, self.log, self.backup

    def change(self) -> TablesChange:
        """The change of tables that begins with this note."""
        return TablesChange(self.position, self.time_ns, self.digest, self.former)


def notes(installation: Installation, partition: int) -> Notes[Era]:
    """The notes of a partition."""
    subject = installation.subjects.tables(partition)
    return Notes(installation.wire, installation.layout.log, subject, Era, foreign.is_by_worker)


async def eras(installation: Installation, partition: int) -> list[Era]:
    """The notes of a partition, oldest first. Foreign messages are skipped and reported."""
    return await notes(installation, partition).all_of()


async def latest(installation: Installation, partition: int, behind: Barrier | None = None) -> Era | None:
    """The last note of a partition, read from the leader of LOG; None if there is none.

    behind: as for `foreign.standing`.
    """
    return (await notes(installation, partition).standing(behind)).note


def continued(wanted: Era, last: Era | None, log: LogIdentity, position: int) -> Era:
    """The note of a partition with the identity of its log. position: up to which it is decided."""
    if last is not None and last.log == log.number:
        return replace(wanted, log=log.number, backup=last.backup)
    return replace(wanted, log=log.number, backup=max(log.position, position) if log.is_backup else 0)


def check_accepted(settings: Settings, kinds: Kinds) -> None:
    """Raise `BadSetting` if the setting accepts other tables than those installed here."""
    for name in ("accept_tables", "accept_stranded"):
        if (accepted := getattr(settings, name)) not in ("", kinds.digest):
            raise BadSetting(name=name, problem=f"the tables installed here are {kinds.digest}, not {accepted}")


def check(kinds: Kinds, era: Era | None, partition: int, accepted: str) -> None:
    """Raise `SetupError` if other tables decided the partition, unless `accepted` is the digest of ours."""
    if era is not None and era.digest not in (kinds.digest, "") and accepted != kinds.digest:
        raise SetupError.tables_differ(partition=partition, digest=kinds.digest, how=differing_kinds(kinds, era))


def changed(kinds: Kinds, era: Era | None) -> dict[str, str]:
    """The kinds whose tables have changed since an era, each with its version in it; none if it is ours.

    If entities were still moving to the tables of the era, it is the version from which they came.
    """
    if era is None or era.digest in (kinds.digest, ""):
        return {}
    found = {name: version for name, version in era.tables.items() if name in kinds and kinds[name].version != version}
    return {**found, **{name: version for name, version in era.former.items() if name in kinds}}


def differing_kinds(kinds: Kinds, era: Era) -> str:
    """Which kinds differ between our tables and those of the era, as text."""
    mine, theirs = kinds.versions, era.tables
    parts = (
        ("changed", sorted(name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name])),
        ("new", sorted(mine.keys() - theirs.keys())),
        ("missing", sorted(theirs.keys() - mine.keys())),
    )
    return "; ".join(f"{word}: {', '.join(names)}" for word, names in parts if names)


async def check_all(installation: Installation, accepted: str) -> list[Era | None]:
    """`check` for every partition; returns the last note of each."""
    numbers = range(installation.layout.partitions)
    notes = await asyncio.gather(*(latest(installation, partition) for partition in numbers))
    for partition, note in zip(numbers, notes, strict=True):
        check(installation.kinds, note, partition, accepted)
    return notes


def in_force(notes: Sequence[Era], sequence: int) -> Era | None:
    """The note about the event at the position `sequence`; None if there is none."""
    for era in reversed(notes):
        if era.position < sequence:
            return era
    return None
