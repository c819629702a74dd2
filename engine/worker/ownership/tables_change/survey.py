"""Reads the present states of an installation and counts those that the tables at hand do not have.

Belongs here: reading STATE for this, and the check before a worker starts. Does not: what becomes of a state
(`core.tables_change.stranded`), moving entities (`carry_out`).
"""

from collections.abc import Callable, Iterable, Sequence

from phaseline.engine.core.tables_change import stranded
from phaseline.engine.core.tables_change.stranded import GroupCounts, StrandedGroup
from phaseline.engine.log import table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import NO_KINDS
from phaseline.engine.log.log_records import entities_in_state, last_transition
from phaseline.engine.log.table_eras import Era
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.retiring.state_map import facet_states
from phaseline.schemas.errors import SetupError
from phaseline.schemas.records import Entity

NAMED = 5
"""The most states that an error names."""


async def survey(
    installation: Installation, changed: Iterable[str], progress: Callable[[int], None] | None = None
) -> tuple[GroupCounts, int]:
    """How many entities of these kinds are in states that the tables do not have; and how many entities there are.

    progress: called with the number of entities since the last call.
    """
    found, entities = GroupCounts(), 0
    start = f"{installation.prefix}.state."
    for kind in sorted(changed):
        async for slice_ in read_all(installation.wire, installation.layout.state, [f"{start}*.{kind}.>"]):
            read = [one for stored in slice_ if (one := await _entity(installation, start, stored)) is not None]
            found.update(stranded.count(installation.kinds, read))
            entities += len(read)
            if progress is not None:
                progress(len(read))
    return found, entities


async def _entity(installation: Installation, start: str, stored: Stored) -> Entity | None:
    """The entity in a message of STATE. LOG is asked where the message is foreign."""
    if not stored.data or stored.subject.removeprefix(start).split(".", 2)[1] in NO_KINDS:
        return None
    (found,) = entities_in_state(installation.layout.state, [stored])
    if found is None:
        last = await last_transition(installation, stored.subject)
        return None if last is None else last.entity
    return found.entity


async def check(installation: Installation, eras: Sequence[Era | None], accepted: str) -> None:
    """Raise `SetupError.states_stranded` if the tables changed since these last notes and strand entities.

    accepted: the digest of the tables that may strand them.
    """
    kinds = installation.kinds
    changed = {name for era in eras for name in table_eras.changed(kinds, era)}
    if changed and accepted != kinds.digest:
        found, _ = await survey(installation, changed)
        refuse(kinds, found)


def refuse(kinds: Kinds, found: GroupCounts) -> None:
    """Raise `SetupError.states_stranded` if some of these are stranded."""
    left = GroupCounts({group: count for group, count in found.items() if group.fate == "stranded"})
    if left:
        groups = left.most_common(NAMED)
        more = f" and {len(left) - NAMED} more states" if len(left) > NAMED else ""
        what = ", ".join(f"{count:,} {group.kind} {group.state}" for group, count in groups)
        write = remedy(kinds, groups[0][0])
        raise SetupError.states_stranded(entities=left.total(), digest=kinds.digest, what=f"{what}{more}", write=write)


def remedy(kinds: Kinds, group: StrandedGroup) -> str:
    """What to do about stranded entities."""
    kind = kinds.get(group.kind)
    if kind is None:
        return f"install the kind {group.kind}"
    if not group.facet:
        return f"give {kind.name} the facets that it had, because a map of states adds and removes none"
    line = facet_states(kind)[kind.names.index(group.facet)].missing(group.state)
    return f"say where they go with {line} of {kind.name}"
