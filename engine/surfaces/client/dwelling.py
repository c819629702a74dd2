"""Watching by class: the work behind `client.watch(class_=...)`, and what is read for it at the beginning.

Belongs here: which entities, from when on. Does not: who has been in a class for how long (`overview.dwells`), going
through the log (`overview.dwell_watch`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from phaseline.engine.log import as_of
from phaseline.engine.log.log import Log
from phaseline.engine.log.questions.selection import ClassChoice
from phaseline.engine.log.watch import RecordFilter, Watch, chosen
from phaseline.engine.log.when import NOW, START, Moment, When, parse
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.reading_client import ReadingClient, session_of
from phaseline.engine.surfaces.client.session import Session
from phaseline.engine.surfaces.overview.dwell_watch import DwellSource, DwellWatch, FirstStates
from phaseline.engine.surfaces.overview.dwells import Dwells
from phaseline.engine.surfaces.overview.overview import Dwell
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.records import Entity, timestamp


class WantedClass(NamedTuple):
    """Which entities are watched, and for how long they have to be in which classes. more: chosen by whoever asks."""

    of_class: ClassChoice
    kind: str | None = None
    tree: str | None = None
    state: str | None = None
    condition: str | Sequence[str] = ()
    more: Callable[[Entity], bool] = lambda _: True

    def dwells(self, client: ReadingClient) -> Dwells:
        """Nothing is read yet. Raises `InvalidInput`, `NameUnknown`."""
        if not self.of_class.classes:
            raise InvalidInput.bad_parameter(name="lasting", problem="belongs to `class_`: say which class lasts")
        choice = chosen(client.kinds, self.kind, self.state, self.condition)
        RecordFilter(kind=self.kind, state=choice.phase, below=self.tree, choice=choice).check(client.kinds)

        def fits(entity: Entity) -> bool:
            if choice.phase is not None and all(facet.state.phase != choice.phase for facet in entity.facets):
                return False
            return (not choice.looks_at_conditions or choice.selects_in(entity)) and self.more(entity)

        return Dwells(client.kinds, self.of_class.classes, self.of_class.lasting_ns, fits)


def watched(
    client: ReadingClient, wanted: WantedClass, start: When, *, follow: bool, dwells: Dwells | None = None
) -> DwellWatch:  # fmt: skip
    """A watch of what is wanted. dwells: those of a watch that ended by an error; it goes on from there."""
    made = dwells or wanted.dwells(client)
    session = session_of(client)

    def after(place: int) -> Watch[Any]:
        return session.watch(RecordFilter(kind=wanted.kind, below=wanted.tree), place + 1, follow=follow)

    source = DwellSource(partial(_first, client, session, wanted, start), after, session.wire)
    return DwellWatch(source, made, follow=follow)


async def _first(client: ReadingClient, session: Session, wanted: WantedClass, start: When) -> FirstStates:
    """The states before the first record of a watch."""
    view = await client.at(await _before(session, start))
    place = await view.next_place() - 1

    async def until() -> int:
        return await view.next_place() - 1

    return FirstStates(view.unsorted(wanted.kind, tree=wanted.tree, deleted=True), place, view.now_ns, until)


def dwell_map(kinds: Kinds, found: Dwell, language: Language = "en") -> dict[str, Any]:
    """What is told of an entity that is in a class for long enough, or no longer is, as JSON shows it."""
    return {
        "what": "lasts" if found.until_ns is None else "ended",
        "class": found.state_class,
        "since": timestamp(found.since_ns),
        "until": None if found.until_ns is None else timestamp(found.until_ns),
        "place": found.place,
        "entity": maps.entity_map(kinds, found.record, language),
    }


async def _before(session: Session, start: When) -> Moment | int | None:
    """The moment before a watch; None for the latest states."""
    if start == NOW:
        return None
    if isinstance(start, Moment):
        return start
    if start == START:
        return (await Log(await session.installation()).begins()).place
    named = parse(start)
    if isinstance(named, int):
        return max(0, named - 1)
    await as_of.check_begin(await session.installation(), named)
    return await session.moment(start)
