"""Reading an installation's entities at one moment.

Belongs here: `StateView`, what all views have in common, the patterns that select entities, their order. Does not:
where the entities are read (`latest`, `as_of`).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from phaseline.engine.log import log_records
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import END, Moment
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import with_all_above
from phaseline.machines.language import endings
from phaseline.machines.language.table import DELETED
from phaseline.schemas.errors import EntityUnknown, InvalidInput, TreeUnknown
from phaseline.schemas.records import Entity, Transition, own_facets
from phaseline.schemas.subjects import natural, quoted_id

Key = tuple[str, str]
"""A kind and an id."""
ONE_BY_ONE = 32
"""The most entities that are read one by one. Of more, all of their kinds are read."""


class Pattern(NamedTuple):
    """Selects entities by subject. `partition` and `kind` can be `*`; `id` holds quoted tokens, with wildcards."""

    partition: int | str
    kind: str
    id: str


class StateView(ABC):
    """The entities of an installation at one moment.

    For each entity a read returns its last transition at that moment. The transition holds the whole entity.
    """

    installation: Installation
    moment: Moment | None
    """The moment that the view shows; None for the latest states at each read."""

    @abstractmethod
    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity; raises `EntityUnknown`."""

    @abstractmethod
    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects, deleted ones included, in any order."""

    async def states(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False
    ) -> list[Transition]:
        """The entities of a kind, below an id and in a state, ids in natural order.

        below: this entity and those below it. deleted: include deleted entities.
        """
        return in_order(await self.matching(patterns(self.installation, kind, below)), state, deleted=deleted)

    async def tree(self, root: str, *, deleted: bool = False) -> list[Transition]:
        """`root` and what is shown below it, ids in natural order; raises `TreeUnknown`. deleted: everything."""
        found = await self.states(below=root, deleted=True)
        if not found:
            raise self.unknown_tree(root)
        return found if deleted else in_tree(self.installation.kinds, found)

    async def found(self, kind: str, entity_id: str) -> Transition | None:
        """The last transition of an entity; None if it is unknown."""
        try:
            return await self.last(kind, entity_id)
        except EntityUnknown:
            return None

    async def exists(self, kind: str, entity_id: str) -> bool:
        """Whether the entity is known."""
        return await self.found(kind, entity_id) is not None

    async def history(self, kind: str, entity_id: str) -> list[Transition]:
        """The transitions of one entity that the log holds, up to the moment, oldest first."""
        return await log_records.history(
            self.installation, kind, entity_id, END if self.moment is None else self.moment.place
        )

    def unknown(self, kinds: Sequence[str], entity_id: str) -> EntityUnknown:
        """The error for an id that names no entity of these kinds."""
        return EntityUnknown(id=entity_id, kind=one_of(kinds))

    def unknown_tree(self, root: str) -> TreeUnknown:
        """The error for a tree without entities."""
        return TreeUnknown(root=root)


def one_of(kinds: Sequence[str]) -> str:
    """What an id would name that fits these kinds: the kind, or `entity` if it fits several."""
    return kinds[0] if len(kinds) == 1 else "entity"


def in_order(found: Sequence[Transition], state: str | None, *, deleted: bool) -> list[Transition]:
    """The entities that match, ids in natural order."""
    matching = [record for record in found if matches(record.entity, state, deleted=deleted)]
    return sorted(matching, key=lambda record: (natural(record.entity.id), record.entity.kind))


def in_tree(kinds: Kinds, found: Sequence[Transition]) -> list[Transition]:
    """What is shown of a tree, in the same order: what lives, what is left behind, and what that was below."""
    left = [one.entity for one in found if is_left_behind(one.entity)]
    kept = {name for one in left for name in with_all_above(kinds, one.kind, one.id)}
    return [
        one for one in found if matches(one.entity, None, deleted=False) or (one.entity.kind, one.entity.id) in kept
    ]


def is_left_behind(entity: Entity) -> bool:
    """Whether an entity is Deleted and was reported to be there still."""
    return endings.is_left_behind(entity.facets[0].state.phase, entity.attributes)


def matches(entity: Entity, state: str | None, *, deleted: bool) -> bool:
    """Whether a facet of the entity is in `state`. Without a state: whether it exists, or `deleted` is true."""
    if state is not None:
        return any(facet.state.phase == state for facet in entity.facets)
    if deleted or entity.facets[0].state.phase != DELETED:
        return True
    return any(facet.state.phase != DELETED for facet in own_facets(entity))


def patterns(installation: Installation, kind: str | None, below: str | None) -> list[Pattern]:
    """The patterns of a kind's entities, below an id; None means all. Raises `InvalidInput` if none can exist."""
    if below is None:
        return [Pattern("*", kind or "*", ">")]
    partition, tokens = installation.partition_of(below), quoted_id(below)
    return [Pattern(partition, kind or "*", f"{tokens}{end}") for end in ends(installation.kinds, kind, below)]


def ends(kinds: Kinds, kind: str | None, below: str) -> list[str]:
    """The endings with which `below` selects itself and all below it; raises `InvalidInput` if none can exist."""
    parts = below.count("/") + 1
    arities = {one.arity for one in kinds.values() if kind in (None, one.name)}
    found = [*([""] if parts in arities else []), *([".>"] if any(arity > parts for arity in arities) else [])]
    if not found:
        raise InvalidInput.invalid_id(problem=f"no {kind or 'kind'} can be under {below!r}: its ids are shorter")
    return found
