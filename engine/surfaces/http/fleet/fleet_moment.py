"""One moment of the fleet, for reads that take a while: the fleet may go on meanwhile.

Belongs here: `FleetMoment`, a view of states beside those of STATE and of the log. Does not: the entities (`fleet`).

The view keeps what an entity was before it changed, from the moment on at which the view was made. So it costs what
changes meanwhile, and nothing at first.
"""

from collections.abc import Iterable, Iterator, Sequence

from phaseline.engine.log import state_view
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.state_view import Pattern, StateView
from phaseline.engine.log.when import Moment
from phaseline.engine.surfaces.http.fleet.fleet import GONE, LiveFleet
from phaseline.schemas.records import SIGNALS, Transition
from phaseline.schemas.state_choice import StateChoice
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

    async def states(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False
    ) -> list[Transition]:
        """The entities of a kind, below an id and in a state, ids in natural order."""
        return self.select(kind, below, state, deleted=deleted)

    def select(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False,
        choice: StateChoice | None = None,
    ) -> list[Transition]:  # fmt: skip
        """As `states`; with `choice`, those that it selects. Raises `InvalidInput`."""
        state_view.patterns(self.installation, kind, below)
        found = map(self._record, self._candidates(below, state, choice, deleted=deleted))
        return [
            record
            for record in found
            if kind in (None, record.entity.kind)
            and state_view.matches(record.entity, state, deleted=deleted)
            and (choice is None or choice.selects_in(record.entity))
        ]

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects, deleted ones included, in any order."""
        found: dict[int, Transition] = {}
        for pattern in patterns:
            for number in self._of_pattern(pattern):
                found.setdefault(number, self._record(number))
        return list(found.values())

    def _number(self, kind: str, entity_id: str) -> int | None:
        number = self._fleet.number(kind, entity_id)
        return None if number is None or number >= self._size else number

    def _record(self, number: int) -> Transition:
        return self._kept.get(number) or self._fleet.last[number]

    def _candidates(
        self, below: str | None, state: str | None, choice: StateChoice | None, *, deleted: bool
    ) -> Iterable[int]:
        """The numbers of all that may be selected, in order. Few, where the columns tell."""
        fleet = self._fleet
        numbers: Iterable[int] = fleet.order() if below is None else fleet.below(below)
        if self._size < len(fleet):
            numbers = [number for number in numbers if number < self._size]
        if self._kept:  # the columns show what came later
            return numbers
        if state is not None or choice is not None:
            wanted = {
                number
                for number, known in enumerate(fleet.index.known)
                if (state in (None, known.state.phase) and (choice is None or choice.selects(known.state)))
                or (choice is not None and known.facet == SIGNALS)
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
