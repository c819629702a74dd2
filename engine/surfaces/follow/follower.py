"""Followers: consumers of LOG with a name, of which the server keeps the place.

Belongs here: their names and configuration, making one or taking up the one that is there, listing, deleting, whether
one can still go on. Does not: handing out what one reads (`follow`).

A follower also reads two notes of LOG. By that of archiving its place moves even if nothing else comes, so a place
before what was archived means that it was away. By that of the log's identity it sees that the log was put back.
Users of one account may each change every consumer, so a name belongs to the installation, not to a user.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from phaseline.engine import logs
from phaseline.engine.log import as_of
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.watch import RecordFilter, chosen, first
from phaseline.engine.log.when import NOW, START, When, parse
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import ApiFailed, InvalidInput, NameUnknown, NotFound, NotPermitted
from phaseline.schemas.records import SECOND, nanoseconds, timestamp, utc

if TYPE_CHECKING:
    from phaseline.engine.log.restored import identity

PREFIX = "follow-"
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
FOLLOWS, OF_LOG = "phaseline.follows", "phaseline.log"
"""In the metadata of the consumer: what it was asked to follow, and the identity of the log."""
CONSUMER_NOT_FOUND, CONSUMER_EXISTS = 10014, 10148
WHO_MAY = "; the role operator may (docs/client.md, Follow under a name)"
LONGEST = 24 * 3600.0
"""The longest patience, seconds."""

log = logs.get_logger(__name__)


class FollowChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a follower is asked to follow, as it is said: the words of a watch."""

    kind: str | None = None
    facet: str | None = None
    state: str | None = None
    tree: str | None = None
    condition: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ", ".join(f"{word}={value!r}" for word, value in msgspec.to_builtins(self).items()) or "all transitions"


class WantedFollower(NamedTuple):
    """A follower as it is asked for.

    start: where it begins if it is new. at_once: how many of its transitions all programs together may have in hand.
    patience: seconds after which one is handed to another program.
    """

    name: str
    words: FollowChoice
    records: RecordFilter
    start: When
    at_once: int
    patience: float


class FollowerState(msgspec.Struct, frozen=True):
    """A follower as the server knows it."""

    name: str
    follows: FollowChoice
    """What it was asked to follow."""
    log: int
    """The identity of the log in which its places count."""
    place: int
    """The place up to which everything was acknowledged."""
    behind: int
    """How many records it has still to be given."""
    in_hand: int
    """How many were given and not acknowledged yet."""
    again: int
    """How many of these were given more than once."""
    subjects: tuple[str, ...]
    """The subjects of LOG that it reads."""
    made_ns: int = 0
    """When it was made, ns: what came before, and after the place where it began, is not handed out."""

    @property
    def made(self) -> datetime:
        """When it was made."""
        return utc(self.made_ns)

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> "FollowerState":
        """As the answer to CONSUMER.INFO says."""
        metadata, floor = info["config"].get("metadata") or {}, info["ack_floor"]
        return cls(
            name=info["name"].removeprefix(PREFIX),
            follows=msgspec.json.decode(metadata.get(FOLLOWS, "{}"), type=FollowChoice),
            log=int(metadata.get(OF_LOG, 0)), place=int(floor["stream_seq"]), behind=int(info["num_pending"]),
            in_hand=int(info["num_ack_pending"]), again=int(info["num_redelivered"]),
            subjects=tuple(info["config"].get("filter_subjects") or ()), made_ns=nanoseconds(info["created"]),
        )  # fmt: skip


def wanted(kinds: Kinds, name: str, words: FollowChoice, start: When, at_once: int, patience: float) -> WantedFollower:
    """What is asked for; raises `InvalidInput`, `NameUnknown` if no follower can be so."""
    choice = chosen(kinds, words.kind, words.state, words.condition)
    records = RecordFilter(
        kind=words.kind, facet=words.facet, state=choice.phase, below=words.tree,
        choice=choice if choice.looks_at_conditions else None,
    )  # fmt: skip
    records.check(kinds)
    check_name(name)
    if at_once < 1:
        raise InvalidInput.bad_parameter(name="at_once", problem=f"{at_once} is too few: give 1 or more")
    if not 1 <= patience <= LONGEST:
        problem = f"{patience:g} s is not between 1 s and {LONGEST:g} s"
        raise InvalidInput.bad_parameter(name="patience", problem=problem)
    return WantedFollower(name, words, records, start, at_once, patience)


def check_name(name: str) -> None:
    """Raise `InvalidInput.bad_parameter` for a name that no follower can have."""
    if not NAME.fullmatch(name):
        problem = f"{name[:80]!r} cannot name a follower: 1 to 64 of A-Z, a-z, 0-9, - and _"
        raise InvalidInput.bad_parameter(name="name", problem=problem)


async def take_up(installation: Installation, wanted: WantedFollower) -> FollowerState:
    """The follower of that name, made if there is none.

    Raises `InvalidInput.follower_differs`, `NotFound.follower_lost`, and for the place where a new one begins
    `NameUnknown`, `NotInLog`, `InvalidInput`.
    """
    while True:
        info = await look(installation, wanted.name) or await _make(installation, wanted)
        if info is None:  # another program made it meanwhile
            continue
        found = FollowerState.of(info)
        if found.follows != wanted.words:
            raise InvalidInput.follower_differs(name=wanted.name, there=str(found.follows), asked=str(wanted.words))
        await check_goes_on(installation, found)
        if any(info["config"].get(name) != value for name, value in _changeable(installation, wanted).items()):
            await _create(installation, wanted.name, {**info["config"], **_changeable(installation, wanted)}, "update")
        return found


async def look(installation: Installation, name: str) -> dict[str, Any] | None:
    """What the server says of a follower; None if there is none of that name."""
    try:
        return await _api(installation, f"CONSUMER.INFO.{installation.layout.log}.{PREFIX}{name}")
    except ApiFailed as error:
        if error.err_code == CONSUMER_NOT_FOUND:
            return None
        raise


async def all_of(installation: Installation) -> Sequence[FollowerState]:
    """All followers, by name."""
    found, more = list[FollowerState](), True
    offset = 0
    while more:
        page = await _api(installation, f"CONSUMER.LIST.{installation.layout.log}", {"offset": offset})
        consumers = page["consumers"] or []
        offset += len(consumers)
        more = bool(consumers) and offset < page["total"]
        found += [FollowerState.of(info) for info in consumers if info["name"].startswith(PREFIX)]
    return sorted(found, key=lambda one: one.name)


async def one_of(installation: Installation, name: str) -> FollowerState:
    """The follower of that name; raises `NameUnknown`, `InvalidInput.bad_parameter`."""
    check_name(name)
    info = await look(installation, name)
    if info is None:
        known = [one.name for one in await all_of(installation)]
        raise NameUnknown.among("follower", name, known)
    return FollowerState.of(info)


async def delete(installation: Installation, name: str) -> FollowerState:
    """Delete a follower; returns what it was. Raises as `one_of`."""
    found = await one_of(installation, name)
    try:
        await _api(installation, f"CONSUMER.DELETE.{installation.layout.log}.{PREFIX}{name}")
    except ApiFailed as error:
        if error.err_code != CONSUMER_NOT_FOUND:  # somebody else deleted it meanwhile
            raise
    return found


async def check_goes_on(installation: Installation, found: FollowerState) -> None:
    """Raise `NotFound.follower_lost` if a follower cannot go on without a gap."""
    from phaseline.engine.log.restored import identity  # noqa: PLC0415  # few follow

    try:
        await as_of.check_place(installation, found.place)
    except InvalidInput as error:
        problem = f"it had read up to place {found.place}, and the log ends at {error.details['last']}: it was put back"
        raise NotFound.follower_lost(name=found.name, problem=problem) from None
    note = await identity.last(installation)
    if note is not None and note.number > found.log:
        for one in await identity.notes(installation).all_of():
            check_log(found, one)
    await check_held(installation, found)


def check_log(found: FollowerState, note: "identity.LogIdentity") -> None:
    """Raise `NotFound.follower_lost` if a note says that the log was put back since the follower was made."""
    from phaseline.engine.log.restored import identity  # noqa: PLC0415  # few follow

    if note.is_backup and note.number > found.log:
        problem = (
            f"the log was put back from a backup ({identity.restore_text(note)}), so its place is one of another log"
        )
        raise NotFound.follower_lost(name=found.name, problem=problem)


async def check_held(installation: Installation, found: FollowerState) -> None:
    """Raise `NotFound.follower_lost` if records may have been trimmed before they were handed out."""
    try:
        await Log(msgspec.structs.replace(installation, archive=None)).check_held(found.place + 1)
    except NotFound as error:
        problem = f"it was away, and records after place {found.place} may be gone from the log, which begins at"
        raise NotFound.follower_lost(name=found.name, problem=f"{problem} {error.details['first']}") from None


async def _make(installation: Installation, wanted: WantedFollower) -> dict[str, Any] | None:
    """What the server says of a new follower; None if there is one of that name already."""
    from phaseline.engine.log.restored import identity  # noqa: PLC0415  # few follow

    number = await identity.log_identity(installation)
    config = {
        "durable_name": f"{PREFIX}{wanted.name}",
        "ack_policy": "explicit",
        "replay_policy": "instant",
        "max_deliver": -1,
        "metadata": {FOLLOWS: msgspec.json.encode(wanted.words).decode(), OF_LOG: str(number)},
        **_changeable(installation, wanted),
        **await _deliver_policy(installation, wanted.start),
    }
    try:
        info = await _create(installation, wanted.name, config, "create")
    except ApiFailed as error:
        if error.err_code == CONSUMER_EXISTS:
            return None
        raise
    place = int(info["ack_floor"]["stream_seq"])
    # Whoever was deleted, or mistyped, would miss what came since its place without a word.
    say = log.warning if config["deliver_policy"] == "new" and place else log.info
    say("follower_made", follower=wanted.name, follows=str(wanted.words), after=place, log=number)
    return info


async def _deliver_policy(installation: Installation, start: When) -> dict[str, Any]:
    """The fields that say with which record a new follower begins; raises as a watch does."""
    begin = first(start)
    if begin == START:  # of what was archived, only the last states are still there
        told = await Log(installation).trimmed()
        return {"deliver_policy": "all"} if told is None else _from(told.place + 1)
    if begin == NOW:
        return {"deliver_policy": "new"}
    named = parse(begin)
    await as_of.check_begin(installation, named)
    await Log(msgspec.structs.replace(installation, archive=None)).past(named)
    if isinstance(named, int):
        return _from(max(1, int(named)))
    return {"deliver_policy": "by_start_time", "opt_start_time": timestamp(named.ns)}


def _from(place: int) -> dict[str, Any]:
    return {"deliver_policy": "by_start_sequence", "opt_start_seq": place}


def _changeable(installation: Installation, wanted: WantedFollower) -> dict[str, Any]:
    """The fields that may change while there is a follower. Its subjects change with the tables."""
    subjects = installation.subjects
    notes = [subjects.archived(), subjects.identity()]
    return {
        "filter_subjects": [*wanted.records.filters(installation), *notes],
        "ack_wait": round(wanted.patience * SECOND),
        "max_ack_pending": wanted.at_once,
    }


async def _create(installation: Installation, name: str, config: dict[str, Any], action: str) -> dict[str, Any]:
    stream = installation.layout.log
    body = {"stream_name": stream, "config": config, "action": action}
    return await _api(installation, f"CONSUMER.CREATE.{stream}.{PREFIX}{name}", body)


async def _api(installation: Installation, suffix: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Ask the server; raises `NotPermitted` with the role that may follow."""
    wire = installation.wire
    refused = NotPermitted(subject=wire.api_subject(suffix), violation="", who_may=WHO_MAY)
    if not wire.has_consumers:
        raise refused
    try:
        return await wire.api(suffix, body)
    except NotPermitted:
        raise refused from None
