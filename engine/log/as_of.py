"""The states at a moment, and the place in the log that belongs to a moment.

Belongs here: `resolve`, `AsOf`. Does not: the latest states (`latest`), future records (`watch`).
Everything up to a place is committed, so a read as of a place always has the same result.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Self

from phaseline.engine.core.message import BATCH_LIMIT
from phaseline.engine.log import foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import Logged, logged, record_in_log, records_kept
from phaseline.engine.log.state_view import Pattern, StateView, one_of
from phaseline.engine.log.when import END, Moment, PlaceOf, Time, When, check_reached, parse
from phaseline.engine.nats import frames
from phaseline.engine.nats.api_reply import Reply
from phaseline.engine.nats.direct_get import LastMessage, direct, gather, last_sequence, stored_ns
from phaseline.engine.nats.stream_reader import first_since
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import ApiFailed, EntityUnknown, InvalidInput, TreeUnknown
from phaseline.schemas.records import Transition, timestamp
from phaseline.schemas.subjects import covers, quoted_id

TOO_MANY_SUBJECTS = 413
"""The server's status for a request that selects more than 1,024 subjects."""
BATCH_SEQUENCE = "Nats-Batch-Sequence"
LOOKS, PAUSE = 4, 0.25
"""How often to look for the end of the log, and seconds between: a new leader may know less for a moment."""
LOOK_BACK = 100
"""Places to search backwards for a message. Places can be empty, because a new checkpoint deletes the old one."""


async def resolve(installation: Installation, when: When) -> Moment:
    """The moment that `when` names; returns a `Moment` unchanged. Raises `NameUnknown`, and as `check_place`.

    A time means the last message stored at or before it. The place is moved back so that it never falls between the
    records of one event. Only an event with more than 999 records can be cut, because it takes several batches. Place 0
    is before the first record. A time to come is the present: a range may end there, states are refused by
    `check_reached`.
    """
    if isinstance(when, Moment):
        return when
    named = parse(when)
    if isinstance(named, int):
        await check_place(installation, named)
    return await Log(installation).shown(
        named, lambda: _in_stream(installation, named), lambda archive: archive.moment(named)
    )


async def check_place(installation: Installation, place: int, *, beyond: int = 0) -> None:
    """Raise `InvalidInput.place_of_other_log`, or `place_beyond` if the log does not reach a place.

    beyond: by so much a place may lie behind the end. `END` may always.
    """
    if isinstance(place, PlaceOf):
        from phaseline.engine.log.restored import identity  # noqa: PLC0415  # few places name their log

        await identity.check_place(installation, place, place.log)
    for look in range(LOOKS if place < END else 0):
        last = await last_sequence(installation.wire, installation.layout.log)
        if place <= last + beyond:
            return
        if look + 1 == LOOKS:
            raise InvalidInput.place_beyond(place=int(place), last=last)
        await asyncio.sleep(PAUSE)


async def check_begin(installation: Installation, start: int | Time) -> None:
    """Raise `InvalidInput` where no record can begin yet: at a place beyond the next one, at a time to come."""
    if isinstance(start, int):
        await check_place(installation, start, beyond=1)
    elif start.ns > time.time_ns():
        when = timestamp(start.ns)
        check_reached(when, await resolve(installation, when))


async def _in_stream(installation: Installation, named: int | Time) -> Moment:
    """The moment, from the stream."""
    end = await last_sequence(installation.wire, installation.layout.log)
    place = max(0, min(named, end)) if isinstance(named, int) else await _place_at(installation, named, end)
    message = await _message(installation, place)
    cut = 0 if message is None else _records_to_cut(installation, message)
    if isinstance(named, Time) and (place < end or named.ns <= time.time_ns()):
        return Moment(place - cut, named.ns)
    if named == END or isinstance(named, Time):  # the end, or a time to come: known is what there is now
        last = 0 if message is None else stored_ns(message)
        return Moment(place - cut, max(last, time.time_ns()))  # the server's clock may be ahead of this one
    if message is not None and not cut:
        return Moment(place, stored_ns(message))
    return Moment(place - cut, await _time_of(installation, place - cut))


async def _place_at(installation: Installation, named: Time, end: int) -> int:
    """The last place whose message was stored at or before that time."""
    first = await first_since(installation.wire, installation.layout.log, timestamp(named.ns + named.width))
    return end if first is None else first - 1


async def _message(installation: Installation, place: int) -> Reply | None:
    """The message at a place; None if there is none."""
    if place < 1:
        return None
    return await direct(installation.wire, installation.layout.log, {"seq": place})


def _records_to_cut(installation: Installation, message: Reply) -> int:
    """How many records of this message's event end here, if further records of the event follow; else 0."""
    stored = foreign.message_in(message)
    if not stored.subject.startswith(f"{installation.prefix}.log."):
        return 0
    if record_in_log(installation.layout.log, stored) is None:
        return 0
    _, index, total = wire_codec.numbered(message.data)
    # The records of one batch stand in it side by side. Where the log has copies in JSON, a batch holds fewer records.
    begins_here = int(frames.read_headers(stored.block or b"").get(BATCH_SEQUENCE, total)) > index
    return index + 1 if index + 1 < total <= BATCH_LIMIT and begins_here else 0


async def _last_message(installation: Installation, place: int) -> Reply | None:
    """The last message at or before a place; None if the log holds none there."""
    for earlier in range(place, max(0, place - LOOK_BACK), -1):
        if (message := await _message(installation, earlier)) is not None:
            return message
    return None


async def _time_of(installation: Installation, place: int) -> int:
    """When the last message at or before a place was stored, ns; 0 if the log holds none there."""
    message = await _last_message(installation, place)
    return 0 if message is None else stored_ns(message)


class AsOf(StateView):
    """The states at a moment, read from the log."""

    moment: Moment

    def __init__(self, installation: Installation, moment: Moment) -> None:
        self.installation, self.moment = installation, moment

    @classmethod
    async def at(cls, installation: Installation, when: When) -> Self:
        """The view of the moment that `when` names; raises as `resolve` and `check_reached`."""
        moment = await resolve(installation, when)
        check_reached(when, moment)
        return cls(installation, moment)

    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity; raises `EntityUnknown.entity_not_yet_known`."""
        pattern = Pattern(self.installation.partition_of(entity_id), kind, quoted_id(entity_id))
        found = await self.matching([pattern])
        if not found:
            raise self.unknown([kind], entity_id)
        return found[0]

    def unknown_tree(self, root: str) -> TreeUnknown:
        """The error for a tree without entities then."""
        return TreeUnknown.tree_not_yet_known(root=root, place=self.moment.place)

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects. Few take one request; for many the log is read."""
        place, named = self.moment.place, [(pattern.kind, pattern.id) for pattern in patterns]
        if place < 1:
            return []
        return await Log(self.installation).shown(
            place, lambda: self._in_log(patterns), lambda archive: archive.transitions(named, place)
        )

    async def _in_log(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects, from the stream."""
        subjects = [transition_filter(self.installation, pattern) for pattern in patterns]
        place, log = self.moment.place, self.installation.layout.log
        found: dict[tuple[str, str], Logged] = {}
        messages = await self._last_messages(subjects)
        for subject in subjects if messages is None else ():
            async for one in records_kept(self.installation, subject, place):
                _keep_last(found, one)
        for message in messages or ():
            if (last := logged(log, message)) is not None:
                _keep_last(found, last)
                continue
            async for one in records_kept(self.installation, message.subject, place):
                _keep_last(found, one)
        return [one.record for one in found.values() if isinstance(one.record, Transition)]

    async def _last_messages(self, subjects: Sequence[str]) -> list[LastMessage] | None:
        """The last message on each subject; None if these are too many, or if it is not known that they are the last.

        In a cluster any replica answers. One that has the last message of all up to the moment does not lag behind it.
        """
        wire, place, witness = self.installation.wire, self.moment.place, list[LastMessage]()
        if wire.clustered:
            if (last := await _last_message(self.installation, place)) is None:
                return None
            witness.append(foreign.message_in(last))
        beside = [one.subject for one in witness if not any(covers(asked, one.subject) for asked in subjects)]
        where = wire.api_subject(f"DIRECT.GET.{self.installation.layout.log}")
        try:
            replies = await gather(wire, where, {"multi_last": [*subjects, *beside], "up_to_seq": place})
        except ApiFailed as error:
            if error.nats_code != TOO_MANY_SUBJECTS:
                raise
            return None
        found = [*map(foreign.message_in, replies)]
        if not {one.sequence for one in witness}.issubset(one.sequence for one in found):
            return None
        return [one for one in found if one.subject not in beside]

    def unknown(self, kinds: Sequence[str], entity_id: str) -> EntityUnknown:
        """The error for an id that names no entity of these kinds."""
        return EntityUnknown.entity_not_yet_known(id=entity_id, kind=one_of(kinds), place=self.moment.place)


def transition_filter(installation: Installation, pattern: Pattern) -> str:
    """The filter subject of LOG for the transitions that a pattern selects."""
    return f"{installation.prefix}.log.{pattern.partition}.transition.{pattern.kind}.*.*.{pattern.id}"


def _keep_last(found: dict[tuple[str, str], Logged], one: Logged) -> None:
    """Keep the last record of each entity. An entity has one subject for each state that it was in."""
    if isinstance(one.record, Transition):
        key = (one.record.entity.kind, one.record.entity.id)
        if key not in found or found[key].sequence < one.sequence:
            found[key] = one
