"""What is stale: states at or below something that is silent may have changed since it was heard last.

Belongs here: which entities are stale, and by what; reading what stands above them. Does not: when something falls
silent (`core.hearing`), how staleness is printed (`surfaces.cli.render`).
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from phaseline.engine.log.state_view import ONE_BY_ONE, Key, StateView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.contact import FRESH, SILENT, has_begun, recorded_ns, silent_since
from phaseline.schemas.records import Entity, timestamp, utc
from phaseline.schemas.subjects import ancestor_id

if TYPE_CHECKING:
    from phaseline.engine.log.restored.identity import LogIdentity

BACKUP: Key = ("backup", "")
"""What stands in the place of a thing that is silent where the log was put back from a backup."""


class Stale(NamedTuple):
    """Why an entity is stale.

    by: the nearest thing at or above it that has contact, and is silent. since_ns: when that was heard last.
    as_of_ns: when the entity itself was recorded last. What is shown of it was true then.
    Of what is known from a backup of the log only, both are the time of the backup.
    """

    by: Key
    since_ns: int
    as_of_ns: int

    @property
    def since(self) -> datetime:
        """When the silent one was heard last."""
        return utc(self.since_ns)

    @property
    def as_of(self) -> datetime:
        """When the entity itself was recorded last."""
        return utc(self.as_of_ns)

    def text(self) -> str:
        """`cluster c1`; `the backup`."""
        return "the backup" if self.is_of_backup else " ".join(self.by)

    @property
    def is_of_backup(self) -> bool:
        """Whether the entity is known from a backup of the log only."""
        return self.by == BACKUP

    def is_itself(self, entity: Entity) -> bool:
        """Whether the entity is what is silent."""
        return self.by == (entity.kind, entity.id)


class Nearest:
    """Finds what is nearest at or above entities and has contact, once for all below one parent."""

    def __init__(self, kinds: Kinds, find: Callable[[str, str], Entity | None]) -> None:
        """find: returns an entity, by its kind and id; None if it is unknown."""
        self._kinds, self._find = kinds, find
        self._known: dict[Key, Entity | None] = {}

    def of(self, entity: Entity) -> Entity | None:
        """The nearest one; None if nobody waits for any."""
        if has_begun(entity):
            return entity
        parent = (entity.kind, entity.id.rpartition("/")[0])
        try:
            return self._known[parent]
        except KeyError:
            found = (self._find(*place) for place in _above(self._kinds, *parent))
            self._known[parent] = nearest = next((one for one in found if one is not None and has_begun(one)), None)
            return nearest

    def stale(self, entity: Entity) -> Stale | None:
        """Why an entity is stale; None if it is not."""
        nearest = self.of(entity)
        since = None if nearest is None else silent_since(nearest)
        if nearest is None or since is None:
            return None
        return Stale((nearest.kind, nearest.id), since, since if nearest is entity else recorded_ns(entity))


class Staleness:
    """Says which entities of a view are stale. What it has read of kinds above it does not read again."""

    def __init__(self, view: StateView) -> None:
        """Read from this view."""
        self._view = view
        self._found: dict[Key, Entity] = {}
        self._whole: set[tuple[str, str]] = set()
        self._backup: tuple[LogIdentity | None] | None = None
        """The note of a log that goes on from a backup, once it was asked for."""

    async def of(self, entities: Sequence[Entity]) -> dict[Key, Stale]:
        """The stale ones of these entities."""
        kinds = self._view.installation.kinds
        # Many entities have the same one above, so what stands above each is looked for once.
        parents = {(one.kind, one.id.rpartition("/")[0]) for one in entities}
        missing = {place for parent in parents for place in _above(kinds, *parent)}
        known = dict[Key, Entity]()
        if missing:
            known = {key: one for one in entities if (key := (one.kind, one.id)) in missing}
            await self._read(missing.difference(known))
        nearest = Nearest(kinds, lambda *key: known.get(key) or self._found.get(key))
        found = ((one, nearest.stale(one)) for one in entities)
        silent = {(one.kind, one.id): stale for one, stale in found if stale is not None}
        return {**silent, **await self._of_backup([one for one in entities if (one.kind, one.id) not in silent])}

    async def _of_backup(self, entities: Sequence[Entity]) -> dict[Key, Stale]:
        """Those of these entities that are known from a backup of the log only."""
        from phaseline.engine.log.restored import unheard  # noqa: PLC0415  # few commands ask

        if self._backup is None:
            self._backup = (await unheard.backup_of(self._view),)
        (note,) = self._backup
        if note is None:
            return {}
        stale = Stale(BACKUP, note.backup_ns, note.backup_ns)
        return dict.fromkeys(await unheard.unheard(self._view, note, entities), stale)

    async def _read(self, places: Iterable[Key]) -> None:
        """Read those that exist; of many, at least those without which nothing can be said."""
        wanted = sorted(place for place in places if (place[0], FRESH) not in self._whole)
        if len(wanted) <= ONE_BY_ONE and not self._whole:
            found = await asyncio.gather(*(self._view.found(*place) for place in wanted))
            self._keep(one.entity for one in found if one is not None)
            return
        named = [*dict(wanted)]
        silent = await asyncio.gather(*(self._of_kind(kind, SILENT) for kind in named))
        if any(silent):  # then something that speaks may stand between
            await asyncio.gather(*(self._of_kind(kind, FRESH) for kind in named))

    async def _of_kind(self, kind: str, state: str) -> bool:
        """Read those of a kind whose contact is so; whether some are known now."""
        if (kind, state) not in self._whole:
            self._whole.add((kind, state))
            self._keep(record.entity for record in await self._view.states(kind, state=state))
        return any(one.kind == kind for one in self._found.values())

    def _keep(self, entities: Iterable[Entity]) -> None:
        self._found |= {(one.kind, one.id): one for one in entities if has_begun(one)}


def _above(kinds: Kinds, kind: str, parent: str) -> Sequence[Key]:
    """What can have contact above an entity of a kind, whose parent has this id, from the bottom up."""
    known, parts = kinds.get(kind), parent.count("/") + 1 if parent else 0
    places = () if known is None else known.places
    return [(name, ancestor_id(parent, arity)) for name, arity in places if arity <= parts]


def shown(stale: Stale | None) -> dict[str, str]:
    """The mark as JSON shows it: since when, by what, and when the entity was recorded last; empty without one."""
    if stale is None:
        return {}
    return {
        **shown_since(stale.since_ns),
        "stale_by": "/".join(filter(None, stale.by)),
        "as_of": timestamp(stale.as_of_ns),
    }


def shown_since(since: int | None) -> dict[str, str]:
    """`stale_since` as JSON shows it, of a sum over several; empty if nothing is stale."""
    return {} if since is None else {"stale_since": timestamp(since)}


Marks = Mapping[Key, Stale]
"""The stale ones of some entities."""
