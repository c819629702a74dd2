"""The latest states of an installation, read from STATE, and checks of the names in a request.

Belongs here: `Latest`, the subjects that select entities, checks of kinds and ids. Does not: states at an earlier
moment (`as_of`), future records (`watch`).
STATE copies the log a moment after each commit. So a state can be some milliseconds old, and for that time a part of a
large cascade can be visible.
"""

import json
from collections.abc import AsyncIterator, Iterator, Sequence

from phaseline.engine.core.intake import check_arity
from phaseline.engine.jetstream.direct_get import origin
from phaseline.engine.jetstream.stream_reader import read_all
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import direct, history, last_transition, message_in, record_in_state
from phaseline.engine.log.state_view import Pattern, StateView
from phaseline.engine.log.when import END
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language import endings
from phaseline.machines.language.table import DELETED
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.errors import EntityUnknown, InvalidInput, NameUnknown, TreeUnknown
from phaseline.schemas.records import Entity, Record, Transition, own_facets
from phaseline.schemas.subjects import BadSubject, ancestor_id, check_id, natural, quoted_id

NO_KINDS = ("checkpoint", "mark")
"""Words in the place of the kind in subjects of STATE that name no kind."""


class Latest(StateView):
    """The latest states. Each read asks STATE anew."""

    def __init__(self, installation: Installation) -> None:
        """Make the view without reading anything yet."""
        self.installation, self.moment = installation, None

    async def last(self, kind: str, entity_id: str) -> Transition:
        """The last transition of an entity; raises `EntityUnknown`."""
        installation = self.installation
        subject = installation.subjects.state(installation.partition_of(entity_id), kind, entity_id)
        reply = await direct(installation.wire, f"{installation.layout.state}.{subject}")
        record = None
        if reply is not None:
            record = record_in_state(installation.layout.state, message_in(reply))
            record = record or await last_transition(installation, subject)
        if not isinstance(record, Transition):
            raise EntityUnknown(kind=kind, id=entity_id)
        return record

    async def exists(self, kind: str, entity_id: str) -> bool:
        """Whether the entity is known."""
        try:
            await self.last(kind, entity_id)
        except EntityUnknown:
            return False
        return True

    async def states(
        self, kind: str | None = None, below: str | None = None, state: str | None = None, *, deleted: bool = False
    ) -> list[Transition]:
        """The entities of a kind, below an id and in a state, ids in natural order."""
        return in_order(await self.matching(patterns(self.installation, kind, below)), state, deleted=deleted)

    async def tree(self, root: str, *, deleted: bool = False) -> list[Transition]:
        """`root` and all entities under it; raises `TreeUnknown`."""
        found = await self.states(below=root, deleted=True)
        if not found:
            raise TreeUnknown(root=root)
        return in_tree(self.installation.kinds, found, deleted=deleted)

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects."""
        found: dict[tuple[str, str], Transition] = {}
        async for records in self.each(patterns):
            for record in records:
                found[record.entity.kind, record.entity.id] = record
        return list(found.values())

    async def each(self, patterns: Sequence[Pattern]) -> AsyncIterator[list[Transition]]:
        """The same as they are read, some at a time. An entity that changes meanwhile can come twice."""
        installation, stream = self.installation, self.installation.layout.state
        start = len(installation.prefix) + len(".state.")
        for pattern in patterns:
            async for messages in read_all(installation.wire, stream, [_state_filter(installation, pattern)]):
                found: list[Transition] = []
                for stored in messages:
                    if not stored.data or stored.subject[start:].split(".", 2)[1] in NO_KINDS:
                        continue
                    record: Record | None = record_in_state(stream, stored)
                    if record is None:  # a foreign message
                        record = await last_transition(installation, stored.subject)
                    if isinstance(record, Transition):
                        found.append(record)
                yield found

    async def history(self, kind: str, entity_id: str) -> list[Transition]:
        """The transitions of one entity, oldest first."""
        return await history(self.installation, kind, entity_id, END)

    def unknown(self, kinds: Sequence[str], entity_id: str) -> EntityUnknown:
        """The error for an id that names no entity of these kinds."""
        return EntityUnknown(id=entity_id, kind=" or ".join(kinds))


async def copied(installation: Installation) -> int:
    """The place in LOG up to which STATE has copied all, at least. A watch that starts after it misses nothing."""
    wire, stream = installation.wire, installation.layout.state
    last = int((await wire.api(f"STREAM.INFO.{stream}"))["state"]["last_seq"])
    reply = await direct(wire, stream, json.dumps({"seq": last}).encode()) if last else None
    return 0 if reply is None else origin(message_in(reply).block or reply.block)


def in_order(found: Sequence[Transition], state: str | None, *, deleted: bool) -> list[Transition]:
    """The entities that match, ids in natural order."""
    matching = [record for record in found if matches(record.entity, state, deleted=deleted)]
    return sorted(matching, key=lambda record: (natural(record.entity.id), record.entity.kind))


def in_tree(kinds: Kinds, found: Sequence[Transition], *, deleted: bool) -> list[Transition]:
    """What is shown of a tree, ids in natural order: what lives, what is left behind, and what that was below.

    deleted: everything.
    """
    if deleted:
        return in_order(found, None, deleted=True)
    kept = {key for one in found if is_left_behind(one.entity) for key in _with_all_above(kinds, one.entity)}
    shown = [
        one for one in found if matches(one.entity, None, deleted=False) or (one.entity.kind, one.entity.id) in kept
    ]
    return in_order(shown, None, deleted=True)


def is_left_behind(entity: Entity) -> bool:
    """Whether an entity is Deleted and was reported to be there still."""
    return endings.is_left_behind(entity.facets[0].state.phase, entity.attributes)


def _with_all_above(kinds: Kinds, entity: Entity) -> Iterator[tuple[str, str]]:
    """The kind and id of an entity, and of each one above it."""
    kind = kinds.get(entity.kind)
    yield entity.kind, entity.id
    while kind is not None and kind.parent is not None:
        kind = kinds[kind.parent]
        yield kind.name, ancestor_id(entity.id, kind.arity)


def matches(entity: Entity, state: str | None, *, deleted: bool) -> bool:
    """Whether a facet of the entity is in `state`. Without a state: whether it exists, or `deleted` is true."""
    if state is not None:
        return any(facet.state.phase == state for facet in entity.facets)
    if deleted or entity.facets[0].state.phase != DELETED:
        return True
    return any(facet.state.phase != DELETED for facet in own_facets(entity))


def patterns(installation: Installation, kind: str | None, below: str | None) -> list[Pattern]:
    """The patterns of a kind's entities, below an id; None means all. Raises `InvalidInput` if none can exist."""
    if below is None:
        return [Pattern("*", kind or "*", ">")]
    partition, tokens = installation.partition_of(below), quoted_id(below)
    return [Pattern(partition, kind or "*", f"{tokens}{end}") for end in ends(installation.kinds, kind, below)]


def state_filters(installation: Installation, kind: str | None, below: str | None) -> Sequence[str]:
    """The filter subjects of STATE for `patterns`. Read one after another: a consumer with several filters is slow."""
    return [_state_filter(installation, pattern) for pattern in patterns(installation, kind, below)]


def _state_filter(installation: Installation, pattern: Pattern) -> str:
    return f"{installation.prefix}.state.{pattern.partition}.{pattern.kind}.{pattern.id}"


def ends(kinds: Kinds, kind: str | None, below: str) -> list[str]:
    """The endings with which `below` selects itself and all below it; raises `InvalidInput` if none can exist."""
    parts = below.count("/") + 1
    arities = {one.arity for one in kinds.values() if kind in (None, one.name)}
    endings = [*([""] if parts in arities else []), *([".>"] if any(arity > parts for arity in arities) else [])]
    if not endings:
        raise InvalidInput.invalid_id(problem=f"no {kind or 'kind'} can be under {below!r}: its ids are shorter")
    return endings


def check_kind(kinds: Kinds, kind: str) -> Kind:
    """The kind of that name; raises `NameUnknown`."""
    if kind not in kinds:
        raise NameUnknown.among("kind", kind, kinds)
    return kinds[kind]


def check_name(kinds: Kinds, kind: str, entity_id: str) -> None:
    """Raise `NameUnknown` or `InvalidInput.invalid_id` unless an entity of `kind` can have this id."""
    try:
        check_arity(check_kind(kinds, kind), entity_id)
        check_id(entity_id)
    except Invalid as error:
        raise InvalidInput.wrong_id_length(problem=str(error), kind=kind, id=entity_id) from None
    except BadSubject as error:
        raise InvalidInput.invalid_id(problem=str(error)) from None


def check_tree(below: str) -> None:
    """Raise `InvalidInput.invalid_id` unless `below` can be an id."""
    try:
        check_id(below)
    except BadSubject as error:
        raise InvalidInput.invalid_id(problem=f"{below!r} can be no id: {error}") from None
