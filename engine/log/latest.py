"""The latest states of an installation, read from STATE, and checks of the names in a request.

Belongs here: `Latest`, the subjects that select entities, checks of kinds and ids, the kind of an id. Does not: states
at an earlier moment (`as_of`), future records (`watch`).
STATE copies the log a moment after each commit. So a state can be some milliseconds old, and for that time a part of a
large cascade can be visible.
"""

from array import array
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from phaseline.engine.log import foreign
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import entities_in_state, last_transition, record_in_state
from phaseline.engine.log.questions.sorted_messages import SortedMessage, SortedMessages
from phaseline.engine.log.state_view import Pattern, StateView, patterns
from phaseline.engine.nats.direct_get import direct, last_sequence, origin
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.schemas.errors import AmbiguousId, EntityUnknown, InvalidInput, NameUnknown
from phaseline.schemas.records import Entity, Mark, Record, Transition
from phaseline.schemas.subjects import BadSubject, check_id, quoted_id, unquoted_id
from phaseline.schemas.wire_codec import looks_like_transition

MANY, PASSES = 1_000, 10
"""From how many messages on it is read on behind the end that STATE had; and how often. Each time takes less."""
NO_KINDS = ("checkpoint", "mark")
"""Words in the place of the kind in subjects of STATE that name no kind."""


class EntityFilter(NamedTuple):
    """Which entities are wanted.

    may: a quick look at the body of a record; False only if `selects` would say so. is_narrow: whether it leaves so
    many out that it pays to look before they are kept.
    """

    selects: Callable[[Entity], bool]
    may: Callable[[bytes], bool]
    is_narrow: bool


Progress = Callable[[int], None]
"""Called with how many messages were read, at first with 0."""


def unseen(_: int) -> None:
    """Nobody looks at the progress."""


class Latest(StateView):
    """The latest states. Each read asks STATE anew."""

    def __init__(self, installation: Installation) -> None:
        self.installation, self.moment = installation, None

    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity; raises `EntityUnknown`."""
        installation = self.installation
        subject = installation.subjects.state(installation.partition_of(entity_id), kind, entity_id)
        reply = await direct(installation.wire, f"{installation.layout.state}.{subject}")
        record = None
        if reply is not None:
            record = record_in_state(installation.layout.state, foreign.message_in(reply))
            record = record or await last_transition(installation, subject)
        if not isinstance(record, Transition):
            raise EntityUnknown(kind=kind, id=entity_id)
        return record

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects."""
        found: dict[tuple[str, str], Transition] = {}
        async for records in self.each(patterns):
            for record in records:
                found[record.entity.kind, record.entity.id] = record
        return list(found.values())

    async def each(self, patterns: Sequence[Pattern]) -> AsyncIterator[list[Transition]]:
        """The same as they are read, some at a time. An entity that changes meanwhile can come twice."""
        for pattern in patterns:
            async for _, messages in self._read(pattern):
                yield await self._transitions(messages)

    async def each_once(
        self, patterns: Sequence[Pattern], wanted: EntityFilter | None = None, progress: Progress = unseen
    ) -> AsyncIterator[list[Transition]]:
        """The same, each entity once: as it was first read. Those that changed meanwhile come last.

        wanted: which ones; of the others nothing is kept, and as little as possible is decoded. Of each that is given
        only 8 bytes are remembered. Two ids that share them, one of which changes meanwhile, are one in 10^12.
        progress: called with how many were read.
        """
        wire, stream = self.installation.wire, self.installation.layout.state
        end = await last_sequence(wire, stream)
        seen, late, number = array("q"), dict[tuple[str, str], Transition](), 0
        progress(number)
        for pattern in patterns:
            async for last, messages in self._read(pattern):
                number += len(messages)
                progress(number)
                records = await self._wanted(messages, wanted)
                if last <= end:
                    seen.extend([hash((one.entity.kind, one.entity.id)) for one in records])
                    yield records
                else:
                    late |= {(one.entity.kind, one.entity.id): one for one in records}
        if late:
            known = set(filter({*map(hash, late)}.__contains__, seen))
            yield [one for key, one in late.items() if hash(key) not in known]

    async def each_in_order(
        self, patterns: Sequence[Pattern], numbers: Collection[int] | None, wanted: EntityFilter,
        progress: Progress = unseen,
    ) -> AsyncIterator[list[Transition]]:  # fmt: skip
        """The same in the order of their ids, the newest of each entity; after all of them were read.

        numbers: only those of these partitions. What is wanted is held compressed until then.
        """
        found, number = SortedMessages(), 0
        progress(number)
        for pattern in patterns:
            async for _, messages in self._read(pattern):
                number += len(messages)
                progress(number)
                found.add(self._sortable(self._chosen(messages, wanted), numbers))
        for some in found.merged():
            yield [one for one in await self._transitions(some) if wanted.selects(one.entity)]

    def _sortable(self, messages: Sequence[Stored], numbers: Collection[int] | None) -> Iterator[SortedMessage]:
        wanted = None if numbers is None else {*map(str, numbers)}
        for stored in messages:
            partition, kind, tokens = stored.subject[self._start :].split(".", 2)
            if wanted is None or partition in wanted:
                block = stored.block if foreign.is_copy(stored.block) else None
                yield SortedMessage.of(kind, unquoted_id(tokens), stored, block)

    async def _read(self, pattern: Pattern) -> AsyncIterator[tuple[int, list[Stored]]]:
        """The messages of what a pattern selects, some at a time, with the last sequence in STATE of each list.

        An entity that changes before it is read has another place then, behind the end that STATE had. So after many
        messages it is read on behind that end.
        """
        installation, stream = self.installation, self.installation.layout.state
        filters: list[str] = [_state_filter(installation, pattern)]
        begins: int | str = "start"
        for _ in range(PASSES):
            number, last = 0, 0
            async for messages in read_all(installation.wire, stream, filters, begins):
                number, last = number + len(messages), messages[-1].sequence
                yield last, [one for one in messages if self._is_of_entity(one)]
            if not number or (begins == "start" and number < MANY):
                break
            begins = last + 1

    @property
    def _start(self) -> int:
        """Where the partition stands in subjects of STATE."""
        return len(self.installation.prefix) + len(".state.")

    def _is_of_entity(self, stored: Stored) -> bool:
        return bool(stored.data) and stored.subject[self._start :].split(".", 2)[1] not in NO_KINDS

    async def _wanted(self, messages: Sequence[Stored], wanted: EntityFilter | None) -> list[Transition]:
        """The transitions among messages of entities that are wanted."""
        if wanted is None:
            return await self._transitions(messages)
        found = await self._transitions(self._chosen(messages, wanted))
        return [one for one in found if wanted.selects(one.entity)]

    def _chosen(self, messages: Sequence[Stored], wanted: EntityFilter) -> list[Stored]:
        """The messages of entities that may be wanted. Of the others as little is decoded as says so."""
        if not wanted.is_narrow:
            return [*messages]
        likely = [one for one in messages if wanted.may(one.data) or not self._is_genuine(one)]
        entities = entities_in_state(self.installation.layout.state, likely)
        read = zip(likely, entities, strict=True)
        return [one for one, found in read if found is None or found.entity is None or wanted.selects(found.entity)]

    def _is_genuine(self, stored: Stored) -> bool:
        """Whether a message is a transition of the entity of its subject, at a quick look."""
        kind, tokens = stored.subject[self._start :].split(".", 2)[1:]
        named = f"{kind}/{unquoted_id(tokens)}".encode()
        return not foreign.is_copy(stored.block) and looks_like_transition(stored.data) and named in stored.data

    async def _transitions(self, messages: Sequence[Stored]) -> list[Transition]:
        """The transitions among messages of entities."""
        installation, stream = self.installation, self.installation.layout.state
        found = list[Transition]()
        for stored in messages:
            record: Record | None = record_in_state(stream, stored)
            if record is None:  # a foreign message
                record = await last_transition(installation, stored.subject)
            if isinstance(record, Transition):
                found.append(record)
        return found


async def copied(installation: Installation) -> int:
    """The place in LOG up to which STATE has copied all, at least. A watch that starts after it misses nothing."""
    wire, stream = installation.wire, installation.layout.state
    last = await last_sequence(wire, stream)
    reply = await direct(wire, stream, {"seq": last}) if last else None
    return 0 if reply is None else origin(foreign.message_in(reply).block or reply.block)


def state_filters(installation: Installation, kind: str | None, below: str | None) -> Sequence[str]:
    """The filter subjects of STATE for `patterns`. Read one after another: a consumer with several filters is slow."""
    return [_state_filter(installation, pattern) for pattern in patterns(installation, kind, below)]


def _state_filter(installation: Installation, pattern: Pattern) -> str:
    return f"{installation.prefix}.state.{pattern.partition}.{pattern.kind}.{pattern.id}"


def mark_filters(installation: Installation, below: str | None) -> Sequence[str]:
    """The filter subjects of the marks in STATE, of everything or below an id."""
    start = f"{installation.prefix}.state"
    found = patterns(installation, None, below)
    return [f"{start}.{one.partition}.mark.{one.kind}.{one.id}" for one in found]


async def mark_of(installation: Installation, kind: str, entity_id: str) -> Mark | None:
    """The last mark of an entity that STATE has; None if there is none."""
    layout, place = installation.layout, f"mark.{kind}.{quoted_id(entity_id)}"
    subject = f"{installation.prefix}.state.{installation.partition_of(entity_id)}.{place}"
    reply = await direct(installation.wire, f"{layout.state}.{subject}")
    record = None if reply is None else record_in_state(layout.state, foreign.message_in(reply))
    return record if isinstance(record, Mark) else None


async def marks(installation: Installation, below: str | None) -> list[Mark]:
    """The last marks that STATE has, of everything or below an id."""
    found, stream = list[Record | None](), installation.layout.state
    for filter_ in mark_filters(installation, below):
        async for messages in read_all(installation.wire, stream, [filter_]):
            found += [record_in_state(stream, stored) for stored in messages]
    return [one for one in found if isinstance(one, Mark)]


def check_kind(kinds: Kinds, kind: str) -> Kind:
    """The kind of that name; raises `NameUnknown`."""
    if kind not in kinds:
        raise NameUnknown.among("kind", kind, kinds)
    return kinds[kind]


def check_name(kinds: Kinds, kind: str, entity_id: str) -> None:
    """Raise `NameUnknown` or `InvalidInput.invalid_id` unless an entity of `kind` can have this id."""
    if misfit := check_kind(kinds, kind).misfit(entity_id):
        raise InvalidInput.wrong_id_length(problem=misfit, kind=kind, id=entity_id)
    try:
        check_id(entity_id)
    except BadSubject as error:
        raise InvalidInput.invalid_id(problem=str(error)) from None


def check_tree(below: str) -> None:
    """Raise `InvalidInput.invalid_id` unless `below` can be an id."""
    try:
        check_id(below)
    except BadSubject as error:
        raise InvalidInput.invalid_id(problem=f"{below!r} can be no id: {error}") from None


async def find_kind(view: StateView, entity_id: str, kind: str | None = None) -> str:
    """The kind of the entity `entity_id` in this view: `kind` if given, else the kind of the only entity with this id.

    Raises `NameUnknown` and `InvalidInput` for an id that no entity can have, `EntityUnknown` if no entity has it,
    `AmbiguousId` if several have it.
    """
    kinds = view.installation.kinds
    candidates = [kind] if kind is not None else kinds_of_length(kinds, entity_id)
    for name in candidates:
        check_name(kinds, name, entity_id)
    existing = [name for name in candidates if await view.exists(name, entity_id)]
    if len(existing) > 1:
        raise AmbiguousId(id=entity_id, kinds=" and a ".join(existing), kind=existing[0])
    if not existing:
        raise view.unknown(candidates, entity_id)
    return existing[0]


def kinds_of_length(kinds: Kinds, entity_id: str) -> list[str]:
    """The kinds whose ids have as many parts as this id; raises `InvalidInput.invalid_id` if there is none."""
    parts = entity_id.count("/") + 1
    names = [kind.name for kind in kinds.values() if kind.arity == parts]
    if not names:
        shapes = ", ".join(dict.fromkeys("/".join(f"<{name}>" for name in kind.table.id) for kind in kinds.values()))
        raise InvalidInput.invalid_id(problem=f"{entity_id!r} is no id of any kind: they look like {shapes}")
    return names
