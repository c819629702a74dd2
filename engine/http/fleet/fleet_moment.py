"""One moment of the fleet, for reads that take a while: the fleet may go on meanwhile.

Belongs here: `FleetMoment`, a view of states beside those of STATE and of the log. Does not: the entities (`fleet`).

The view keeps what an entity was before it changed, from the moment on at which the view was made. So it costs what
changes meanwhile, and nothing at first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from phaseline.engine.http.fleet.fleet import GONE, LiveFleet
from phaseline.engine.log import latest, log_records
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.state_view import Pattern, StateView
from phaseline.engine.log.when import Moment
from phaseline.schemas.errors import EntityUnknown, TreeUnknown
from phaseline.schemas.records import State, Transition
from phaseline.schemas.subjects import quoted_id, unquote


class FleetMoment(StateView):
    """The fleet as it is at the moment at which the view is made."""

    moment: Moment

    def __init__(self, installation: Installation, fleet: LiveFleet) -> None:
        """The fleet must stand at a place: not within the records of an event."""
        self.installation = installation
        self.moment = Moment(fleet.place, fleet.time_ns)
        self._fleet, self._size = fleet, len(fleet)
        self._kept: dict[int, Transition] = {}
        fleet.tell(self)

    @property
    def kept(self) -> int:
        """How many entities have changed since, which the view keeps as they were."""
        return len(self._kept)

    def changes(self, number: int, before: Transition) -> None:
        """Keep what the entity of that number was."""
        if number < self._size:
            self._kept.setdefault(number, before)

    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity; raises `EntityUnknown`."""
        number = self._number(kind, entity_id)
        if number is None:
            raise self.unknown([kind], entity_id)
        return self._record(number)

    async def exists(self, kind: str, entity_id: str) -> bool:
        """Whether the entity is known."""
        return self._number(kind, entity_id) is not None

    async def states(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False
    ) -> list[Transition]:
        """The entities of a kind, below an id and in a state, ids in natural order."""
        return self.select(kind, below, state, deleted=deleted)

    def select(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False,
        fits: Callable[[State], bool] | None = None,
    ) -> list[Transition]:  # fmt: skip
        """As `states`; with `fits`, those of which a facet's state fits. Raises `InvalidInput`."""
        latest.patterns(self.installation, kind, below)
        found = map(self._record, self._candidates(below, state, fits, deleted=deleted))
        return [
            record
            for record in found
            if kind in (None, record.entity.kind)
            and latest.matches(record.entity, state, deleted=deleted)
            and (fits is None or any(fits(facet.state) for facet in record.entity.facets))
        ]

    async def tree(self, root: str, *, deleted: bool = False) -> list[Transition]:
        """`root` and all entities below it, ids in natural order; raises `TreeUnknown`."""
        found = self.select(below=root, deleted=True)
        if not found:
            raise TreeUnknown(root=root)
        return found if deleted else latest.in_tree(self.installation.kinds, found, deleted=False)

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects, deleted ones included, in any order."""
        found: dict[int, Transition] = {}
        for pattern in patterns:
            for number in self._of_pattern(pattern):
                found.setdefault(number, self._record(number))
        return list(found.values())

    async def history(self, kind: str, entity_id: str) -> list[Transition]:
        """The transitions of one entity up to the moment, oldest first."""
        return await log_records.history(self.installation, kind, entity_id, self.moment.place)

    def unknown(self, kinds: Sequence[str], entity_id: str) -> EntityUnknown:
        """The error for an id that names no entity of these kinds."""
        return EntityUnknown(id=entity_id, kind=" or ".join(kinds))

    def _number(self, kind: str, entity_id: str) -> int | None:
        number = self._fleet.number(kind, entity_id)
        return None if number is None or number >= self._size else number

    def _record(self, number: int) -> Transition:
        return self._kept.get(number) or self._fleet.last[number]

    def _candidates(
        self, below: str | None, state: str | None, fits: Callable[[State], bool] | None, *, deleted: bool
    ) -> Iterable[int]:
        """The numbers of all that may be selected, in order. Few, where the columns tell."""
        fleet = self._fleet
        numbers: Iterable[int] = fleet.order() if below is None else fleet.below(below)
        if self._size < len(fleet):
            numbers = [number for number in numbers if number < self._size]
        if self._kept:  # the columns show what came later
            return numbers
        if state is not None or fits is not None:
            wanted = {
                number
                for number, known in enumerate(fleet.index.known)
                if state in (None, known.state.phase) and (fits is None or fits(known.state))
            }
            # Of the numbers of an entity's states, one must be wanted.
            return [one for one in numbers if any(column[one] in wanted for column in fleet.states)]
        return numbers if deleted else [one for one in numbers if not fleet.flags[one] & GONE]

    def _of_pattern(self, pattern: Pattern) -> Iterator[int]:
        wanted = pattern.id.split(".")
        numbers = range(self._size) if wanted[0] in ("*", ">") else self._of_root(wanted[0])
        for number in numbers:
            entity = self._record(number).entity
            if pattern.kind in ("*", entity.kind) and _selects(wanted, quoted_id(entity.id).split(".")):
                yield number

    def _of_root(self, token: str) -> list[int]:
        root = unquote(token)
        return [number for number in self._fleet.order(root) if number < self._size]


def _selects(wanted: Sequence[str], tokens: Sequence[str]) -> bool:
    """Whether tokens of a pattern, with wildcards, select the tokens of an id."""
    if wanted[-1] == ">":
        return len(tokens) >= len(wanted) and _selects(wanted[:-1], tokens[: len(wanted) - 1])
    return len(tokens) == len(wanted) and all(one in ("*", token) for one, token in zip(wanted, tokens, strict=True))
