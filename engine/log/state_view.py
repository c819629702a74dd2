"""What one can read of an installation's entities at one moment.

Belongs here: the protocol `StateView`. Does not: its two implementations, `Latest` (`queries`) and `AsOf` (`past`).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from phaseline.engine.errors import EntityUnknown
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import Moment
from phaseline.schemas.records import Transition


class Pattern(NamedTuple):
    """Entities that a subject can select. `partition` and `kind` may be `*`; `id`: the quoted tokens, with wildcards."""

    partition: int | str
    kind: str
    id: str


class StateView(Protocol):
    """The entities of an installation at one moment.

    Each entity is given by its last transition until then, which holds its whole state.
    """

    installation: Installation
    moment: Moment | None
    """What the view shows; None: the latest states, whenever they are read."""

    async def last(self, kind: str, entity_id: str) -> Transition:
        """One entity; raises `EntityUnknown`."""

    async def exists(self, kind: str, entity_id: str) -> bool:
        """Whether the entity is known."""

    async def states(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False
    ) -> list[Transition]:
        """The entities that fit, ids in natural order. below: this id and what is under it. deleted: gone ones too."""

    async def tree(self, root: str, *, deleted: bool = False) -> list[Transition]:
        """`root` and all entities under it, ids in natural order; raises `TreeUnknown`."""

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects, deleted ones too, in no particular order."""

    async def history(self, kind: str, entity_id: str) -> list[Transition]:
        """The transitions of one entity that the log still holds, oldest first."""

    def unknown(self, kinds: Sequence[str], entity_id: str) -> EntityUnknown:
        """The error for an id that names no entity of these kinds."""
