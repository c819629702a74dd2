"""Hearing: each observation at or below a place shows that its reporter is alive. Pure.

A place is here whatever somebody waits for: a cluster, or a node that has `SILENCE_AFTER` of its own or from above.
A hearing is recorded at most four times within the time after which the place falls silent, so that heartbeats cost
little. The clock is that of the server: what publishers say about time has no influence. A timer that the server stored
late says that the server was away, and that nobody could have been heard: it starts anew.
Belongs here: which places an event makes heard, and which are no longer waited for. Does not: the facet and its rows
(`language.contact`), the records (`core.transitions`), the timer (`core.timers`).
"""

from collections.abc import Mapping
from typing import Any

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
    LATE,
    RECORDED,
    SILENCE_AFTER,
    UNHEARD,
    UNWATCHED,
)
from phaseline.machines.language.predicates import SceneEntity
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import SECOND, Cause, Entity, Mark
from phaseline.schemas.subjects import ancestor_id

BUSY = SECOND
"""By how many ns, at most, a busy server stores a timer late."""


def is_heard(tree: Tree, kind: Kind, arrival: Arrival) -> bool:
    """Whether a place at or above an event's entity has to record that it was heard. Nearly always it has not.

    It is asked only if a place has `silence_after`, or the installation or a kind does.
    """
    if kind.roles[arrival.trigger] != "observation":
        return False
    for name, arity in tree.listening(kind):
        place_id = ancestor_id(arrival.id, arity)
        place = tree.entities[name].get(place_id)
        if place is None:
            if name in tree.watched or tree.silence_after or tree.kinds[name].table.silence_after:
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
    is_waited_for = silence_of(tree, kind, place.id, place.attributes) > 0
    return is_waited_for != (place.facets[kind.contact].base.phase == UNHEARD)


def heard_again(tree: Tree, kind: Kind, place: Entity, arrival: Arrival) -> Decision | None:
    """The mark of a heartbeat that changes nothing but when its place was heard; None if more may follow.

    It is the mark that the long way makes (`hear`).
    """
    if not kind.hears_alone or kind.contact is None or arrival.sequence is not None:
        return None
    facet = place.facets[kind.contact]
    if facet.base.phase != FRESH or place.facets[0].base.phase in (ABSENT, DELETED):
        return None
    for name, arity in tree.listening(kind):
        found = tree.entities[name].get(ancestor_id(arrival.id, arity))
        if found is not None and _is_due(tree, tree.kinds[name], found, arrival.time) != (found is place):
            return None
    cause = cause_of(arrival.cause, Origin(HEARD, "cascade", f"{kind.name}/{arrival.id}"))
    return _waits(tree, kind, place, {**place.attributes, HEARD_AT: arrival.time}, cause, arrival.time)


def _waits(tree: Tree, kind: Kind, place: Entity, attributes: Mapping[str, Any], cause: Cause, time: int) -> Decision:
    """The mark of a place that is Fresh, and whose timer starts anew."""
    index = kind.contact or 0
    timer = restart(tree, kind, place.id, index, place.facets[index], attributes, time, 0, fired=False)
    after = Entity(
        kind.name, place.id, place.version, kind.names, place.facets, attributes, place.sequences,
        timers_after(place.timers_ns, timer), place.asked, place.born, place.memory,
    )  # fmt: skip
    return Decision([Mark(after, cause, time)], (timer,))


def timed_out(tree: Tree, kind: Kind, place: Entity | None, arrival: Arrival) -> Arrival | Decision:
    """The event of a timer, which stands.

    `unwatched` in place of `falls_silent` if nobody waits for the place any more; the mark of a timer that starts anew
    if nobody was there to notice a hearing.
    """
    if arrival.trigger != FALLS_SILENT or place is None or arrival.timer is None:
        return arrival
    after = silence_of(tree, kind, place.id, place.attributes)
    if not after > 0:
        return replace(arrival, trigger=UNWATCHED)
    if _nobody_was_there(place, after, arrival.timer[1], arrival.time):
        return _waits(tree, kind, place, place.attributes, arrival.cause, arrival.time)
    return arrival


def _nobody_was_there(place: Entity, after: float, due: int, stored: int) -> bool:
    """Whether a timer was stored so late that the server was away meanwhile.

    One that started anew before must be later than a busy server's: it would never end where `silence_after` is tiny.
    """
    late = stored - due
    waited = due - place.attributes.get(HEARD_AT, 0)
    is_second = waited > (1 + 1 / RECORDED) * after * SECOND + 1
    return late * LATE > after * SECOND and (not is_second or late > BUSY)


def hear(changeset: Changeset, kind: Kind, arrival: Arrival) -> None:
    """Queue the trigger `heard` at each place that has to record that it was heard.

    An observation that goes on to other places, such as the report of a cluster to EMCO's later contexts, counts there
    too.
    """
    tree = changeset.tree
    asked = SILENCE_AFTER in arrival.data
    is_waited_for = asked or tree.watched or tree.silence_after or kind.is_waited_for
    if not is_waited_for or kind.roles[arrival.trigger] != "observation":
        return
    origin = Origin(HEARD, "cascade", f"{arrival.kind}/{arrival.id}")
    passed_on = [(name, entity_id) for name, entity_id, sent in changeset.cascades if _reports(tree, name, sent)]
    reached = [(kind.name, arrival.id), *passed_on]
    places = dict.fromkeys(
        (above, ancestor_id(at, arity))
        for name, at in reached
        for above, arity in (tree.kinds[name].places if asked else tree.listening(tree.kinds[name]))
    )
    changeset.cascades += [(*place, origin) for place in places if _hears(changeset, *place, arrival.time)]


def _reports(tree: Tree, name: str, sent: Origin) -> bool:
    return tree.kinds[name].contact is not None and tree.kinds[name].roles[sent.trigger] == "observation"


def _hears(changeset: Changeset, name: str, place_id: str, time: int) -> bool:
    """Whether a place exists and has to record that it was heard at `time`, ns."""
    place = changeset.above(place_id, name)
    if place is None or place.facets[0].base.phase in (ABSENT, DELETED):
        return False
    kind = changeset.kinds[name]
    return _is_old(kind, place, silence_of(changeset, kind, place_id, place.attributes), time)


def _is_due(tree: Tree, kind: Kind, place: Entity, time: int) -> bool:
    """Whether a hearing at `time` (ns) has to be recorded."""
    return _is_old(kind, place, silence_of(tree, kind, place.id, place.attributes), time)


def _is_old(kind: Kind, place: SceneEntity, after: float, time: int) -> bool:
    """Whether the place is not Fresh, or its last record old enough, or from a time that the server's clock took back.

    after: the seconds after which it falls silent; 0 for never.
    """
    if not after > 0 or kind.contact is None:
        return False
    if place.facets[kind.contact].base.phase != FRESH:
        return True
    heard_at: int = place.attributes.get(HEARD_AT, 0)
    return (time - heard_at) * RECORDED >= after * SECOND or time < heard_at
