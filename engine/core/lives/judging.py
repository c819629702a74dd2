"""Whether an event is about the present life of its entity, and meant for its present version. Pure.

The rules are in docs/lives.md.
Belongs here: what an identity, what was seen and a version prove, and the answers to an event that is not taken. Does
not: taking it (`core.decide`, `renewal`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.lives.memory import is_known, of_scheme, version_of, which, with_identity, with_version
from phaseline.engine.core.lives.of_log import of_this_log
from phaseline.engine.core.lives.renewal import blank
from phaseline.engine.core.rejections import here, reject, states_in_words
from phaseline.engine.core.reports import RefusedReport, outdated
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reports import ANSWERS, PHASE, SEEN
from phaseline.machines.language.endings import is_seen_gone
from phaseline.machines.language.fields import ANOTHER, IF_VERSION, LOG, UID, UID_VERSION
from phaseline.machines.language.table import ABSENT, DELETED, REPORTED
from phaseline.schemas.records import Cause, Entity, Mark, Record, Rejection

JUDGED = frozenset({ANSWERS, SEEN, UID, UID_VERSION, IF_VERSION, LOG})
"""The fields of data by which an event may turn out to be meant for something else than what is there now."""


class Thing(NamedTuple):
    """The thing that an event is about. uid: its identity.

    is_news: whether the entity does not keep it, or will not in the life that begins when the thing is there again.
    takes_over: whether it takes the place of another thing, which may be gone or still be there. is_new: whether no
    life of the entity is known to have been this thing, so that it is none that has ended. version: which version of it
    the event tells of; None if it does not say so.
    """

    uid: str
    is_news: bool
    takes_over: bool = False
    is_new: bool = False
    version: int | None = None


NOBODY = Thing("", is_news=False)
"""What an event is about that names no identity: whatever is there."""


class MeantEvent(NamedTuple):
    """An event that may be taken. about: which thing it is about. arrival: the event without what was judged of it.

    entity: what it finds, None for nothing: where another thing takes over, that begins from nothing.
    """

    about: Thing
    arrival: Arrival
    entity: Entity | None


def judged(tree: Tree, kind: Kind, entity: Entity | None, arrival: Arrival) -> MeantEvent | Decision:
    """The event as far as it may be taken; or the answer to one that is meant for something else."""
    if LOG in arrival.data:
        found = of_this_log(tree, kind, arrival)
        if isinstance(found, Decision):
            return found
        arrival = found
    data, trigger = arrival.data, arrival.trigger
    if entity is not None and ANSWERS in data and (answer := outdated(tree, kind, entity, arrival)) is not None:
        return answer
    own = kind.common[trigger][-1].name
    if own == IF_VERSION and data.get(IF_VERSION) is not None and not _is_meant(entity, data[IF_VERSION]):
        return Decision([_changed(tree, entity, arrival)])
    uid = data.get(UID) if own == UID else None
    says_gone = trigger in kind.ending or (trigger == REPORTED and data.get(PHASE) == DELETED)
    about = of_report(kind, entity, trigger, data, uid, says_gone=says_gone)
    if isinstance(about, RefusedReport):
        return Decision([reject(tree, arrival, about.reason, about.message)])
    if own == UID and (version := data.get(UID_VERSION)) is not None:
        if uid is None:
            problem = f"data.{UID_VERSION} is the version of what data.{UID} names: name that too"
            return Decision([reject(tree, arrival, "invalid", problem)])
        last = None if entity is None or not is_there(entity) else version_of(entity.memory, uid)
        if last is not None and version < last:
            message = f"{here(tree, arrival)}: version {version} of {uid} is late, because version {last} was told of"
            return Decision([reject(tree, arrival, "stale", f"{message} before: report what is there now")])
        about = about._replace(version=version)
    if own in data and own in (UID, IF_VERSION):
        arrival = replace(arrival, data={name: value for name, value in data.items() if name not in (own, UID_VERSION)})
    if about.is_new and not about.takes_over and entity is not None and is_there(entity):
        arrival = replace(arrival, data={**arrival.data, ANOTHER: True})
    if about.takes_over and entity is not None:
        return MeantEvent(about, arrival, blank(kind, entity) if is_there(entity) else None)
    return MeantEvent(about, arrival, entity)


def of_report(
    kind: Kind, entity: Entity | None, trigger: str, data: Mapping[str, Any], uid: str | None, *, says_gone: bool
) -> Thing | RefusedReport:
    """Which thing an observation is about; or why it is not taken: it is about an earlier life."""
    if entity is None:
        return NOBODY if uid is None else Thing(uid, is_news=True, is_new=True)
    seen = data.get(SEEN) if trigger in kind.reports else None
    if says_gone and seen is not None and seen < entity.born and is_there(entity):
        return RefusedReport("stale", before_birth(kind, entity, seen))
    if uid is None:
        return NOBODY
    replaced_by, found = kind.table.replaced_by, which(entity.memory, uid)
    if not says_gone and trigger != REPORTED and _has_ended(entity, uid):
        message = f"{trigger} is about {uid}, which was seen to be gone at event {entity.asked}"
        return RefusedReport(
            "stale", f"{_is(kind, entity)}: {message}: report it with seen at or above that, if it is there"
        )
    comes_back = found == "known" and not says_gone and not is_there(entity)
    if replaced_by is None:
        if says_gone and found == "other" and is_there(entity):
            return RefusedReport("stale", _another(kind, entity, trigger, uid, None, says_gone=True))
        return Thing(uid, is_news=found != "known" or comes_back, is_new=found == "other")
    if found == "former":
        return RefusedReport(
            "stale", f"{_is(kind, entity)}: {trigger} is about {uid}, an earlier life{_now(entity, uid)}"
        )
    if found == "other":
        begins = not says_gone and (trigger in kind.naming or trigger in replaced_by)
        if begins and not (seen is not None and seen < entity.born):
            return Thing(uid, is_news=True, takes_over=True, is_new=True)
        told_by = seen if begins else None
        return RefusedReport("stale", _another(kind, entity, trigger, uid, told_by, says_gone=says_gone))
    return Thing(uid, is_news=found == "first" or comes_back)


def is_there(entity: Entity) -> bool:
    """Whether an entity lives."""
    return entity.facets[0].base.phase not in (ABSENT, DELETED)


def before_birth(kind: Kind, entity: Entity, seen: int) -> str:
    """Why a report that something is gone is about an earlier life."""
    awaited = entity.memory is not None and entity.memory.awaited
    since = f"event {entity.born} asked for it" if awaited else f"event {entity.born} showed that it is there"
    return (
        f"{_is(kind, entity)}: {since}, and this report has seen records up to {seen}: "
        f"report again with seen at or above {entity.born}, if it is gone"
    )


def _is(kind: Kind, entity: Entity) -> str:
    return f"{kind.name} {entity.id} is {states_in_words(kind, entity.facets)}"


def _has_ended(entity: Entity, uid: str) -> bool:
    """Whether a thing is that of the last life of an entity, and was seen to be gone."""
    memory = entity.memory
    return (
        memory is not None and uid in memory.identities and is_seen_gone(entity.facets[0].base.phase, entity.attributes)
    )


def _now(entity: Entity, uid: str) -> str:
    """Which thing is there in place of another one, as the end of a sentence."""
    there = of_scheme(entity.memory, uid)
    if there.endswith(":"):
        return ""
    if not is_there(entity):
        return f"; the last one there was {there}"
    return f"; {there} is there{f' since event {entity.born}' if entity.born else ''}"


def _another(kind: Kind, entity: Entity, trigger: str, uid: str, seen: int | None, *, says_gone: bool) -> str:
    """Why an event about another thing is not taken."""
    said = f"{_is(kind, entity)}: {trigger} is about {uid}{_now(entity, uid)}"
    if seen is not None:
        return f"{said}, and this report has seen records up to {seen}: report again with what it has read by then"
    if says_gone:
        return f"{said}: report it gone without {UID}, if nothing is there"
    return f"{said}: {REPORTED} with it and the state you see, if {uid} is there"


def _is_meant(entity: Entity | None, version: int) -> bool:
    """Whether a request is meant for the present version of an entity. Records of `contact` do not count."""
    if entity is None or not is_there(entity):
        return version in (0, 0 if entity is None else entity.version)
    settled = 0 if entity.memory is None else entity.memory.settled
    return (settled or entity.version) <= version <= entity.version


def _changed(tree: Tree, entity: Entity | None, arrival: Arrival) -> Rejection:
    """The rejection of a request that was meant for another version."""
    version = 0 if entity is None or not is_there(entity) else entity.version
    wanted = arrival.data[IF_VERSION]
    meant = f"version {wanted}" if wanted else "something that is not there"
    message = f"{here(tree, arrival)}, version {version}: {arrival.trigger} was meant for {meant}"
    again = "look at what is there now"
    if version or arrival.trigger in tree.kinds[arrival.kind].births:
        again = f"{again}, then {arrival.trigger} with {IF_VERSION} {version}"
    return reject(tree, arrival, "changed", f"{message}: {again}")


def learnt(
    kind: Kind, abouts: Mapping[str, Thing], known: Mapping[str, Entity], records: Iterable[Record], cause: Cause,
    time: int,
) -> list[Record]:  # fmt: skip
    """The records of an event that was taken, with the identities that it brings.

    abouts: by id, the things that it is about. known: the entities as they were. Where no record is about an entity, a
    mark is, with this cause.
    """
    is_place, missing, found = kind.table.replaced_by is None, {**abouts}, list[Record]()
    for record in records:
        if not isinstance(record, Rejection) and record.entity.kind == kind.name and record.entity.id in abouts:
            uid = abouts[record.entity.id].uid
            missing.pop(record.entity.id, None)
            first, *others = _of_same(known.get(record.entity.id), uid) or (uid,)
            memory = with_identity(record.entity.memory, first, is_place=is_place)
            for one in others:
                memory = with_identity(memory, one, is_place=is_place)
            memory = with_version(memory, uid, abouts[record.entity.id].version)
            record = replace(record, entity=replace(record.entity, memory=memory))  # noqa: PLW2901  # the same record
        found.append(record)
    for entity_id, about in missing.items():
        if (entity := known.get(entity_id)) is not None:
            memory = with_version(with_identity(entity.memory, about.uid, is_place=is_place), about.uid, about.version)
            if memory != entity.memory:
                found.append(Mark(replace(entity, memory=memory), cause, time))
    return found


def _of_same(before: Entity | None, uid: str) -> tuple[str, ...]:
    """The identities of a thing that is there again: what others say of it is about its new life too.

    One of a further scheme, which is not kept, is of that thing.
    """
    if before is None or before.memory is None or is_there(before) or not is_known(before.memory, uid):
        return ()
    return before.memory.identities


def with_learnt(tree: Tree, kind: Kind, arrival: Arrival, decision: Decision, about: Thing) -> Decision:
    """The decision on an event, with the identity that it brings, unless it was rejected."""
    known = tree.entities[kind.name]
    entity = known.get(arrival.id)
    forgets = about.version is None and entity is not None and version_of(entity.memory, about.uid) is not None
    counts = about.version is not None and bool(decision.records)
    if not (about.is_news or forgets or counts) or any(isinstance(record, Rejection) for record in decision.records):
        return decision
    records = learnt(kind, {arrival.id: about}, known, decision.records, arrival.cause, arrival.time)
    return replace(decision, records=records)
