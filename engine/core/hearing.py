"""Hearing: each observation at or below a place shows that its reporter is alive. Pure.

A hearing is recorded at most four times within the time after which the place falls silent, so that heartbeats cost
little. The clock is that of the server: what publishers say about time has no influence.
Belongs here: which places an event makes heard, and which are no longer waited for. Does not: the facet and its rows
(`language.contact`), the records (`core.transitions`), the timer (`core.timers`).
"""

from msgspec.structs import replace

from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.timers import restart, silence_of, timers_after
from phaseline.engine.core.transitions import Decision, cause_of
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.contact import (
    FALLS_SILENT,
    FRESH,
    HEARD,
    HEARD_AT,
    RECORDED,
    SILENCE_AFTER,
    UNHEARD,
    UNWATCHED,
)
from phaseline.machines.language.predicates import SceneEntity
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import SECOND, Entity, Mark


def is_heard(tree: Tree, kind: Kind, arrival: Arrival) -> bool:
    """Whether a place at or above an event's entity has to record that it was heard. Nearly always it has not.

    It is asked only if a place has `silence_after`, or the installation or a kind does.
    """
    if kind.roles[arrival.trigger] != "observation":
        return False
    for name, place_id in kind.places_above(arrival.id):
        place = tree.entities[name].get(place_id)
        if place is None:
            if tree.silence_after or tree.kinds[name].table.silence_after:
                return True
        elif _is_due(tree, tree.kinds[name], place, arrival.time):
            return True
    return False


def says_nothing(tree: Tree, kind: Kind, place: Entity | None, arrival: Arrival) -> bool:
    """Whether a heartbeat that need not be recorded has no other effect either. Most heartbeats end here."""
    if kind.contact is None or place is None or arrival.sequence is not None:
        return False
    if place.facets[0].base.phase in (ABSENT, DELETED):
        return False
    return (place.facets[kind.contact].base.phase == UNHEARD) == (
        not silence_of(kind, place.attributes, tree.silence_after) > 0
    )


def heard_again(tree: Tree, kind: Kind, place: Entity, arrival: Arrival) -> Decision | None:
    """The mark of a heartbeat that changes nothing but when its place was heard; None if more may follow.

    It is the mark that the long way makes (`hear`).
    """
    if not kind.hears_alone or kind.contact is None or arrival.sequence is not None:
        return None
    facet = place.facets[kind.contact]
    if facet.base.phase != FRESH or place.facets[0].base.phase in (ABSENT, DELETED):
        return None
    for name, place_id in kind.places_above(arrival.id):
        found = tree.entities[name].get(place_id)
        if found is not None and _is_due(tree, tree.kinds[name], found, arrival.time) != (found is place):
            return None
    attributes = {**place.attributes, HEARD_AT: arrival.time}
    timer = restart(
        kind, kind.contact, facet, attributes, arrival.time, 0, fired=False, silence_after=tree.silence_after
    )
    cause = cause_of(arrival.cause, Origin(HEARD, "cascade", f"{kind.name}/{arrival.id}"))
    after = Entity(
        kind.name, place.id, place.version, kind.names, place.facets, attributes, place.sequences,
        timers_after(place.timers_ns, timer), place.asked,
    )  # fmt: skip
    return Decision([Mark(after, cause, arrival.time)], (timer,))


def timed_out(tree: Tree, place: Entity | None, arrival: Arrival) -> Arrival:
    """The event of a timer; `unwatched` in place of `falls_silent` if nobody waits for the place any more."""
    if arrival.trigger != FALLS_SILENT or place is None:
        return arrival
    if silence_of(tree.kinds[arrival.kind], place.attributes, tree.silence_after) > 0:
        return arrival
    return replace(arrival, trigger=UNWATCHED)


def hear(changeset: Changeset, kind: Kind, arrival: Arrival) -> None:
    """Queue the trigger `heard` at each place that has to record that it was heard.

    An observation that goes on to other places, such as the report of a cluster to EMCO's later contexts, counts there
    too.
    """
    tree = changeset.tree
    watched = tree.watched or tree.silence_after or kind.is_waited_for or SILENCE_AFTER in arrival.data
    if not watched or kind.roles[arrival.trigger] != "observation":
        return
    origin = Origin(HEARD, "cascade", f"{arrival.kind}/{arrival.id}")
    passed_on = [(name, entity_id) for name, entity_id, sent in changeset.cascades if _reports(tree, name, sent)]
    reached = [(kind.name, arrival.id), *passed_on]
    places = dict.fromkeys(place for name, at in reached for place in tree.kinds[name].places_above(at))
    changeset.cascades += [(*place, origin) for place in places if _hears(changeset, *place, arrival.time)]


def _reports(tree: Tree, name: str, sent: Origin) -> bool:
    return tree.kinds[name].contact is not None and tree.kinds[name].roles[sent.trigger] == "observation"


def _hears(changeset: Changeset, name: str, place_id: str, time: int) -> bool:
    """Whether a place exists and has to record that it was heard at `time`, ns."""
    place = changeset.above(place_id, name)
    if place is None or place.facets[0].base.phase in (ABSENT, DELETED):
        return False
    return _is_due(changeset.tree, changeset.kinds[name], place, time)


def _is_due(tree: Tree, kind: Kind, place: SceneEntity, time: int) -> bool:
    """Whether a hearing at `time` (ns) has to be recorded: the place is not Fresh, or the last record is old enough."""
    after = silence_of(kind, place.attributes, tree.silence_after)
    if not after > 0 or kind.contact is None:
        return False
    if place.facets[kind.contact].base.phase != FRESH:
        return True
    heard_at: int = place.attributes.get(HEARD_AT, 0)
    return (time - heard_at) * RECORDED >= after * SECOND
