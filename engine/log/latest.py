"""The latest states of an installation, read from STATE, and checks of the names that a read asks for.

Belongs here: `Latest`, the subjects that select entities, checks of kinds and ids. Does not: states at an earlier moment
(`past`), records to come (`watching`).
STATE copies the log a moment after each commit. So a state may be some milliseconds old, and of a large cascade that is
being copied the first part may show.
"""

from collections.abc import Sequence

from phaseline.engine.core.intake import check_arity
from phaseline.engine.errors import EntityUnknown, InvalidId, NameUnknown, TreeUnknown
from phaseline.engine.jetstream.reader import Stored, read_all
from phaseline.engine.jetstream.streams import Layout
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import direct, history, read_record
from phaseline.engine.log.state_view import Pattern, StateView
from phaseline.engine.log.when import END
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.table import DELETED
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import Entity, Transition
from phaseline.schemas.subjects import BadSubject, check_id, natural, partition_of_id, quoted_id


class Latest(StateView):
    """The states as STATE has them at each read."""

    def __init__(self, installation: Installation) -> None:
        """Nothing is read yet."""
        self.installation, self.moment = installation, None

    async def last(self, kind: str, entity_id: str) -> Transition:
        """One entity; raises `EntityUnknown`."""
        found, layout = self.installation, self.installation.layout
        subject = found.subjects.state(found.partition_of(entity_id), kind, entity_id)
        reply = await direct(found.wire, f"{layout.state}.{subject}")
        record = None if reply is None else read_record(codec.decode(reply.data))
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
        """The entities that fit, ids in natural order."""
        wanted = patterns(self.installation.layout, self.installation.kinds, kind, below)
        return in_order(await self.matching(wanted), state, deleted=deleted)

    async def tree(self, root: str, *, deleted: bool = False) -> list[Transition]:
        """`root` and all entities under it; raises `TreeUnknown`."""
        found = await self.states(below=root, deleted=True)
        if not found:
            raise TreeUnknown(root=root)
        return in_order(found, None, deleted=deleted)

    async def matching(self, patterns: Sequence[Pattern]) -> list[Transition]:
        """The entities that at least one pattern selects."""
        wire, layout = self.installation.wire, self.installation.layout
        found: dict[tuple[str, str], Transition] = {}
        for pattern in patterns:
            async for slice_ in read_all(wire, layout.state, [_state_filter(layout, pattern)]):
                for record in filter(None, map(_transition_in, slice_)):
                    found[record.entity.kind, record.entity.id] = record
        return list(found.values())

    async def history(self, kind: str, entity_id: str) -> list[Transition]:
        """The transitions of one entity, oldest first."""
        return await history(self.installation, kind, entity_id, END)

    def unknown(self, kinds: Sequence[str], entity_id: str) -> EntityUnknown:
        """The error for an id that names no entity of these kinds."""
        return EntityUnknown(id=entity_id, kind=" or ".join(kinds))


def in_order(found: Sequence[Transition], state: str | None, *, deleted: bool) -> list[Transition]:
    """The entities that fit, ids in natural order."""
    wanted = [record for record in found if fits(record.entity, state, deleted=deleted)]
    return sorted(wanted, key=lambda record: (natural(record.entity.id), record.entity.kind))


def fits(entity: Entity, state: str | None, *, deleted: bool) -> bool:
    """Whether a facet of the entity is in `state`; without a state, whether it exists or `deleted` ones are wanted."""
    phases = {facet.state.phase for facet in entity.facets}
    if state is not None:
        return state in phases
    return deleted or phases != {DELETED}


def patterns(layout: Layout, kinds: Kinds, kind: str | None, below: str | None) -> list[Pattern]:
    """What selects the entities of a kind, those under an id, both, or all; raises `InvalidId` where none can be."""
    if below is None:
        return [Pattern("*", kind or "*", ">")]
    partition, tokens = partition_of_id(below, layout.partitions), quoted_id(below)
    return [Pattern(partition, kind or "*", f"{tokens}{end}") for end in ends(kinds, kind, below)]


def state_filters(layout: Layout, kinds: Kinds, kind: str | None, below: str | None) -> Sequence[str]:
    """The subjects of STATE for `patterns`. Read them one after another: consumers with several filters are slow."""
    return [_state_filter(layout, pattern) for pattern in patterns(layout, kinds, kind, below)]


def _state_filter(layout: Layout, pattern: Pattern) -> str:
    return f"{layout.prefix}.state.{pattern.partition}.{pattern.kind}.{pattern.id}"


def ends(kinds: Kinds, kind: str | None, below: str) -> list[str]:
    """What follows `below` in the subjects of entities that are it or under it; raises `InvalidId` where none can be."""
    parts = below.count("/") + 1
    arities = {found.arity for found in kinds.values() if kind in (None, found.name)}
    found = [*([""] if parts in arities else []), *([".>"] if any(arity > parts for arity in arities) else [])]
    if not found:
        raise InvalidId(problem=f"no {kind or 'kind'} can be under {below!r}: its ids are shorter")
    return found


def check_kind(kinds: Kinds, kind: str) -> Kind:
    """The kind of that name; raises `NameUnknown`."""
    if kind not in kinds:
        raise NameUnknown(what="kind", name=kind, known=", ".join(kinds))
    return kinds[kind]


def check_name(kinds: Kinds, kind: str, entity_id: str) -> None:
    """Raise `NameUnknown` or `InvalidId` unless `kind/entity_id` may name an entity."""
    try:
        check_arity(check_kind(kinds, kind), entity_id)
        check_id(entity_id)
    except (Invalid, BadSubject) as error:
        raise InvalidId(problem=str(error)) from None


def check_tree(below: str) -> None:
    """Raise `InvalidId` unless `below` may be an id."""
    try:
        check_id(below)
    except BadSubject as error:
        raise InvalidId(problem=f"{below!r} can be no id: {error}") from None


def _transition_in(stored: Stored) -> Transition | None:
    """The transition in a message of STATE; None for checkpoints and marks."""
    if not stored.data:
        return None
    body = codec.decode(stored.data)
    if not str(body.get("type", "")).endswith(".transitioned"):
        return None
    record = wire_codec.from_wire(body)
    return record if isinstance(record, Transition) else None
