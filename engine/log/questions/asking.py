"""The latest states, found with the help of the workers that hold them.

Belongs here: asking the owners of all partitions, which answers count, reading what they name; reading STATE where
nobody answers; asking the owner of one entity (`ask_owner`). Does not: answering (`answering`), which entities are
selected (`selection`).
Before it asks, a reader reads who owns each partition in the log. An answer counts if that owner gave it, or a later
one: then it shows all that was committed when the reader asked, even if its worker was paused and has lost the
partition without knowing. So each partition is answered by exactly one owner, or read from STATE, or named.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from phaseline.engine.log import checkpoint, foreign
from phaseline.engine.log.checkpoint import Checkpoint
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import EntityFilter, Latest, Progress, unseen
from phaseline.engine.log.log_records import last_transition, record_in_state
from phaseline.engine.log.questions.question import (
    PATIENCE,
    After,
    Counts,
    Name,
    OwnerAnswer,
    Question,
    decode,
    encode,
    meaning_of,
)
from phaseline.engine.log.questions.selection import Selection
from phaseline.engine.log.state_view import Key, Pattern, in_order, patterns
from phaseline.engine.nats.direct_get import gather
from phaseline.engine.nats.frames import CODE, ERROR
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import ApiFailed, EntityUnknown, InvalidInput, NoAnswer, NotPermitted, ServiceRefused
from phaseline.schemas.records import Transition
from phaseline.schemas.state_choice import StateChoice
from phaseline.schemas.subjects import natural, quoted_id

FEW = 5_000
"""Entities that are read from STATE as fast as workers are asked about them."""
MOST = 0.3
"""The part of a partition's entities from which on it takes less time to read them all."""
AT_ONCE = 500
"""Records that are read by name with one request."""
COPIED = 0.05
"""Seconds in which STATE copies what was just committed."""
T = TypeVar("T")


class SelectionResult(NamedTuple):
    """What the workers said.

    names: the entities that are selected, in natural order. counts: of the partitions whose owners answered, if they
    were asked for. rest: what STATE still has to be asked for, but for what lies in other partitions than these; None:
    in all.
    """

    names: list[Name]
    counts: list[Counts]
    rest: Sequence[Pattern]
    numbers: frozenset[int] | None


class PartitionUnanswered(Exception):  # it is no error: STATE is read instead
    """Nobody answers for a partition whose answer counts."""


class TooMany(Exception):  # the same
    """So many entities are selected that reading them all takes less time."""


class WorkersView(Latest):
    """The latest states. Selections are put to the workers, all other reads ask STATE."""

    def __init__(self, installation: Installation, few: int = FEW) -> None:
        """few: entities that are read without asking."""
        super().__init__(installation)
        self._few = few
        self.meaning: Callable[[str | None], str] = cache(partial(meaning_of, installation.kinds))
        """What states of a kind, or of all, mean to this process."""
        self.unanswered: set[int] = set()
        """The partitions that were read from STATE because nobody answered for them."""

    async def states(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False
    ) -> list[Transition]:
        """The entities of a kind, below an id and in a state, ids in natural order."""
        if state is None:
            return await super().states(kind, below, state, deleted=deleted)
        wanted = Selection(kind=kind, below=below, choice=StateChoice(state), deleted=deleted)
        return in_order(await self.select(wanted, time.time_ns()), state, deleted=deleted)

    async def select(self, wanted: Selection, now_ns: int) -> list[Transition]:
        """The entities that are selected at a time, in any order."""
        return [one async for some in self.each_selected(wanted, now_ns) for one in some]

    async def each_selected(
        self, wanted: Selection, now_ns: int, progress: Progress = unseen
    ) -> AsyncIterator[list[Transition]]:
        """The same, some at a time, as soon as they are read. progress: is told what is read of STATE, if it is."""
        found = await self.find(wanted, now_ns)
        async for records in self.named(found.names, wanted, now_ns):
            yield records
        async for records in self.rest(found, self._filter(wanted, now_ns), progress):
            yield records

    async def each_selected_in_order(
        self, wanted: Selection, now_ns: int, progress: Progress = unseen
    ) -> AsyncIterator[list[Transition]]:
        """The same, ids in natural order. What workers name comes at once, all else when all of it was read."""
        found, chosen = await self.find(wanted, now_ns), self._filter(wanted, now_ns)
        rest = self.each_in_order(found.rest, found.numbers, chosen, progress) if found.rest else _nothing()
        async for records in merged(self.named(found.names, wanted, now_ns), rest, by_name):
            yield records

    def _filter(self, wanted: Selection, now_ns: int) -> EntityFilter:
        kinds = self.installation.kinds
        return EntityFilter(
            lambda entity: wanted.selects(kinds, entity, now_ns), wanted.quick_look(), is_narrow=wanted.is_narrow
        )

    async def rest(
        self, found: SelectionResult, wanted: EntityFilter | None = None, progress: Progress = unseen
    ) -> AsyncIterator[list[Transition]]:
        """What is not said yet: the entities of the partitions that are still to be read, each once. wanted: which."""
        numbers = found.numbers
        async for records in self.each_once(found.rest, wanted, progress) if found.rest else _nothing():
            yield (
                records
                if numbers is None
                else [one for one in records if self.installation.partition_of(one.entity.id) in numbers]
            )

    async def find(self, wanted: Selection, now_ns: int, *, counts: bool = False) -> SelectionResult:
        """Ask the owners of partitions which entities are selected at a time. counts: and how many there are at all."""
        asked = patterns(self.installation, wanted.kind, wanted.below)
        owners = await self._owners(asked) if wanted.is_narrow else {}
        if not owners:
            return SelectionResult([], [], asked, None)
        question = Question(wanted, now_ns, "", counts=counts)
        question = replace(question, meaning=self.meaning(question.about))
        said = await asyncio.gather(
            *(self._ask(number, last, question) for number, last in owners.items()), return_exceptions=True
        )
        names, told, unread = list[Name](), list[Counts](), set[int]()
        for number, one in zip(owners, said, strict=True):
            if isinstance(one, PartitionUnanswered | TooMany):
                unread.add(number)
                self.unanswered |= {number} if isinstance(one, PartitionUnanswered) else set()
            elif isinstance(one, BaseException):
                raise one
            else:
                names += one[0]
                told += one[1]
        names.sort(key=lambda one: (natural(one.id), one.kind))
        return SelectionResult(names, told, [*_within(asked, unread, len(owners))] if unread else [], frozenset(unread))

    async def named(self, names: Sequence[Name], wanted: Selection, now_ns: int) -> AsyncIterator[list[Transition]]:
        """The last transitions of these entities, as far as they are still selected, some at a time, in their order."""
        for start in range(0, len(names), AT_ONCE):
            yield sorted(await self._named(names[start : start + AT_ONCE], wanted, now_ns), key=by_name)

    async def last_of(self, names: Iterable[Key]) -> list[Transition]:
        """The last transitions of those of these entities that there are."""
        return [*(await self._in_state([Name(*one, 0) for one in names])).values()]

    async def _owners(self, asked: Sequence[Pattern]) -> Mapping[int, Checkpoint]:
        """The last checkpoint of each partition that is asked about; none where it is faster to read STATE.

        Of the partitions without one, none has an entity.
        """
        installation, log = self.installation, self.installation.layout.log
        wanted = {"multi_last": [*{installation.subjects.checkpoint(one.partition) for one in asked}]}
        where = installation.wire.api_subject(f"DIRECT.GET.{log}")
        try:
            replies = await gather(installation.wire, where, wanted)
        except ApiFailed:
            return {}
        found = dict[int, Checkpoint]()
        for reply in replies:
            message = foreign.message_in(reply)
            number = int(message.subject.removeprefix(f"{installation.prefix}.mark.").partition(".")[0])
            if (last := checkpoint.read(message)) is None:  # somebody else wrote over it
                last = await checkpoint.last(installation.wire, log, message.subject)
            if last is not None:
                found[number] = last
        numbers = {int(one.partition) for one in asked if one.partition != "*"} or {
            *range(installation.layout.partitions)
        }
        for number in numbers - found.keys() if installation.wire.clustered else ():  # a replica may not have it yet
            last = await checkpoint.last(installation.wire, log, installation.subjects.checkpoint(number))
            if last is not None:
                found[number] = last
        return found if sum(one.entities for one in found.values()) >= self._few else {}

    async def _ask(self, number: int, last: Checkpoint, question: Question) -> tuple[list[Name], list[Counts]]:
        """What the owner of a partition names; raises `PartitionUnanswered`, `TooMany`."""
        names, counts, after, epoch = list[Name](), list[Counts](), None, 0
        while True:
            page = await self._page(number, last, question, after, epoch)
            names += page.names
            if page.counts is not None:
                counts.append(page.counts)
            if page.after is None:
                return names, counts
            if len(names) > MOST * page.looked and not question.counts:
                raise TooMany
            after, epoch = page.after, page.epoch

    async def _page(
        self, number: int, last: Checkpoint, question: Question, after: After | None, epoch: int
    ) -> OwnerAnswer:
        asked = Question(
            question.wanted, question.now_ns, question.meaning, after, epoch, counts=question.counts and after is None
        )
        wire, subject = self.installation.wire, self.installation.subjects.entities(number)
        try:
            reply = await wire.ask(subject, encode(asked), timeout=min(PATIENCE, wire.settings.request_timeout))
            answer = decode(reply.data, OwnerAnswer)
        except (NoAnswer, NotPermitted, ServiceRefused, ValueError) as error:
            raise PartitionUnanswered from error
        if answer.partition != number or not counts_as(answer.epoch, answer.position, last):
            raise PartitionUnanswered
        if after is not None and answer.epoch != epoch:
            raise PartitionUnanswered
        return answer

    async def _named(self, names: Sequence[Name], wanted: Selection, now_ns: int) -> list[Transition]:
        """The last transitions of these entities, as far as they are still selected."""
        held, late = await self._in_state(names), [*names]
        for seconds in (0.0, COPIED):
            late = [one for one in late if (found := held.get((one.kind, one.id))) is None
                    or found.entity.version < one.version]  # fmt: skip
            if not late:
                break
            await asyncio.sleep(seconds)
            held |= await self._in_state(late)
        for one in late:
            known = held.get((one.kind, one.id))
            if known is None or known.entity.version < one.version:
                newer = await last_transition(self.installation, self._subject(one))
                if newer is not None:
                    held[one.kind, one.id] = newer
        kinds = self.installation.kinds
        return [one for one in held.values() if wanted.selects(kinds, one.entity, now_ns)]

    def _subject(self, name: Name) -> str:
        partition = self.installation.partition_of(name.id)
        return self.installation.subjects.state(partition, name.kind, name.id)

    async def _in_state(self, names: Sequence[Name]) -> dict[Key, Transition]:
        """The last transitions that STATE has of these entities."""
        installation, stream, found = self.installation, self.installation.layout.state, dict[Key, Transition]()
        where = installation.wire.api_subject(f"DIRECT.GET.{stream}")
        for start in range(0, len(names), AT_ONCE):
            subjects = [*map(self._subject, names[start : start + AT_ONCE])]
            for reply in await gather(installation.wire, where, {"multi_last": subjects}):
                message = foreign.message_in(reply)
                record = record_in_state(stream, message) or await last_transition(installation, message.subject)
                if isinstance(record, Transition):
                    found[record.entity.kind, record.entity.id] = record
        return found


def by_name(record: Transition) -> tuple[str, str]:
    """The key that sorts transitions by id, in natural order, then by kind."""
    return natural(record.entity.id), record.entity.kind


async def merged(
    one: AsyncIterator[list[T]], other: AsyncIterator[list[T]], key: Callable[[T], Any]
) -> AsyncIterator[list[T]]:
    """Two streams of lists, each in the order of this key, as one in that order."""
    first, second = await _next(one), await _next(other)
    while first and second:
        end = min(key(first[-1]), key(second[-1]))
        at, beside = bisect_right(first, end, key=key), bisect_right(second, end, key=key)
        yield sorted([*first[:at], *second[:beside]], key=key)
        first, second = first[at:] or await _next(one), second[beside:] or await _next(other)
    yield first or second
    async for some in one if first else other:
        yield some


async def _next(stream: AsyncIterator[list[T]]) -> list[T]:
    """The next list that is not empty; an empty one at the end."""
    async for some in stream:
        if some:
            return some
    return []


async def _nothing() -> AsyncIterator[list[Transition]]:
    for some in list[list[Transition]]():
        yield some


def counts_as(epoch: int, position: int, last: Checkpoint) -> bool:
    """Whether an answer shows all that the log held when this was the last checkpoint of the partition."""
    return epoch > last.epoch or (epoch == last.epoch and position >= last.position)


def _within(asked: Sequence[Pattern], numbers: set[int], of: int) -> Iterable[Pattern]:
    """What these patterns select in these partitions, and perhaps in others: many are read fastest together."""
    for one in asked:
        if one.partition == "*" and 2 * len(numbers) < of:
            yield from (one._replace(partition=number) for number in sorted(numbers))
        else:
            yield one


async def ask_owner(installation: Installation, kind: str, entity_id: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of the worker that owns the tree of an entity.

    Raises `EntityUnknown`, `InvalidInput`, `ServiceRefused`; `NoResponders` if no worker answers such questions.
    """
    subject = installation.subjects.status(kind, quoted_id(entity_id))
    reply = await installation.wire.request(subject, codec.encode_json(dict(data)), content_types.AS_JSON)
    code = reply.headers.get(CODE)
    if code is None:
        return codec.decode(reply.data)
    answer = codec.decode(reply.data) if reply.data else {}
    problem = str(answer.get("error") or reply.headers.get(ERROR, ""))
    if code == "404":
        raise EntityUnknown(kind=kind, id=entity_id)
    if code == "400":
        raise InvalidInput.bad_status_query(problem=problem)
    raise ServiceRefused(subject=subject, problem=problem, service_code=code)
