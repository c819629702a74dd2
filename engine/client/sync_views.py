"""The client without asyncio: views of a moment.

Made by `python -m phaseline.engine.generate` from `entity_view`.
Belongs here: what `generate_sync` writes. Does not: anything written by hand, what runs the calls (`portal`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic

from phaseline.engine.client import entity_view, product_views
from phaseline.engine.client.entity_view import M_co
from phaseline.engine.client.portal import Portal
from phaseline.engine.explain.model import Explanation
from phaseline.engine.unknown_parts import PartsOf
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Entity, Transition

if TYPE_CHECKING:
    from phaseline.engine.products.emco.plain_views import EmcoView
    from phaseline.engine.products.fleet.plain_views import FleetView


class EntityView(Generic[M_co]):
    """The entities at one moment: all reads of a view show the same moment. `client.at` makes it.

    The view of the latest states has no moment. Each read shows the newest copied state, a few milliseconds old.
    """

    def __init__(self, portal: Portal, source: entity_view.EntityView[M_co]) -> None:
        """Run the reads of `source` in the portal."""
        self._portal, self._source = portal, source

    @property
    def moment(self) -> M_co:
        """The moment of the view: a place in the log, and its time. None: the latest states."""
        return self._source.moment

    @property
    def kinds(self) -> Kinds:
        """The tables of the kinds."""
        return self._source.kinds

    if TYPE_CHECKING:  # of each product a name, which is looked up when it is asked for
        emco: EmcoView
        fleet: FleetView
    else:

        def __getattr__(self, name: str) -> Any:
            """The reads of a product."""
            return product_views.plain(self._portal, self._source, name)

    def __dir__(self) -> Iterable[str]:
        """The names of methods, and of the reads of products."""
        return [*super().__dir__(), *product_views.names(self.kinds, of_moments=True)]

    def get(self, kind: str, entity_id: str) -> Entity:
        """One entity; raises `EntityUnknown`."""
        return self._portal.run(self._source.get(kind, entity_id))

    def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity: its state, the reason, and the time. Raises `EntityUnknown`."""
        return self._portal.run(self._source.last(kind, entity_id))

    def list(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), deleted: bool = False,
    ) -> Iterator[Entity]:  # fmt: skip
        """The entities that fit, ids in natural order.

        tree: this id and those below it. state: a phase, or `{Failed,[Balance,*]}`. condition: one that stands, or
        several that stand together. deleted: deleted ones too. Raises `InvalidInput.no_state`, `NameUnknown`.
        """
        return self._portal.iterate(
            self._source.list(kind, tree=tree, state=state, condition=condition, deleted=deleted)
        )

    def last_of(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), deleted: bool = False,
    ) -> Sequence[Transition]:  # fmt: skip
        """The last transition of each entity that `list` gives, in the same order: it tells the reason too."""
        return self._portal.run(
            self._source.last_of(kind, tree=tree, state=state, condition=condition, deleted=deleted)
        )

    def unsorted(
        self, kind: str | None = None, *, tree: str | None = None, state: str | None = None,
        condition: str | Sequence[str] = (), deleted: bool = False,
    ) -> Iterator[Transition]:  # fmt: skip
        """What `last_of` gives, in no order: of the latest states each as soon as it is read."""
        return self._portal.iterate(
            self._source.unsorted(kind, tree=tree, state=state, condition=condition, deleted=deleted)
        )

    def tree(self, root: str, *, deleted: bool = False) -> Sequence[Entity]:
        """`root` and all entities below it, ids in natural order; raises `TreeUnknown`."""
        return self._portal.run(self._source.tree(root, deleted=deleted))

    def last_of_tree(self, root: str, *, deleted: bool = False) -> Sequence[Transition]:
        """The last transition of each entity that `tree` gives, in the same order; raises `TreeUnknown`."""
        return self._portal.run(self._source.last_of_tree(root, deleted=deleted))

    def next_place(self) -> int:
        """Where a watch must start to go on from this view without a gap. Ask for it before you read.

        Of the latest states it can return records that the reads have seen: leave out those whose version is not newer.
        """
        return self._portal.run(self._source.next_place())

    def stale_since(self, entities: Sequence[Entity]) -> Mapping[tuple[str, str], datetime]:
        """By kind and id, the entities whose states are stale, and since when: a place at or above fell silent."""
        return self._portal.run(self._source.stale_since(entities))

    def stale_since_ns(self, entities: Sequence[Entity]) -> Mapping[tuple[str, str], int]:
        """As `stale_since`, in ns since 1970."""
        return self._portal.run(self._source.stale_since_ns(entities))

    def unknown_parts(self, entities: Sequence[Entity]) -> PartsOf:
        """By kind and id, and by facet, of how many parts of these wholes nothing is known (`3 of 11 not assessed`)."""
        return self._portal.run(self._source.unknown_parts(entities))

    def kind_of(self, entity_id: str, kind: str | None = None) -> str:
        """The kind of the only entity with that id, or `kind` if it exists.

        Raises `EntityUnknown`, `AmbiguousId`, `InvalidInput.invalid_id`.
        """
        return self._portal.run(self._source.kind_of(entity_id, kind))

    def why(self, kind: str, entity_id: str) -> Explanation:
        """Why an entity is in its state: back to the events from outside. Raises `EntityUnknown`."""
        return self._portal.run(self._source.why(kind, entity_id))
