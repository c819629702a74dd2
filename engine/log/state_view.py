"""The protocol for reading an installation's entities at one moment.

Belongs here: `StateView`. Does not: its two implementations (`latest`, `as_of`).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Moment
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Transition


class Pattern(NamedTuple):
    """Selects entities by subject. `partition` and `kind` can be `*`; `id` holds quoted tokens, with wildcards."""

    partition: int | str
    kind: str
    id: str


class StateView(Protocol):
    """The entities of an installation at one moment.

    For each entity a read returns its last transition at that moment. The transition holds the whole entity.
    """

    installation: Installation
    moment: Moment | None
    """The moment that the view shows; None for the latest states at each read."""

    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity; raises `EntityUnknown`."""

    async def exists(self, kind: str, entity_id: str) -> bool:
        """Whether the entity is known."""

    async def states(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False
    ) -> list[Transition]:
        """The entities of a kind, below an id and in a state, ids in natural order.

        below: this entity and those below it. deleted: include deleted entities.
        """

    async def tree(self, root: str, *, deleted: bool = False) -> list[Transition]:
        """`root` and all entities below it, ids in natural order; raises `TreeUnknown`."""

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects, deleted ones included, in any order."""

    async def history(self, kind: str, entity_id: str) -> list[Transition]:
        """The transitions of one entity that the log holds, oldest first."""

    def unknown(self, kinds: Sequence[str], entity_id: str) -> EntityUnknown:
        """The error for an id that names no entity of these kinds."""
