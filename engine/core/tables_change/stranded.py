"""Which entities are in states that the tables do not have, and what becomes of them. Pure.

Belongs here: judging one entity, counting. Does not: moving them (`moving`), reading them.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import Literal, NamedTuple

from phaseline.engine.core.tables_change.moving import Reading
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.retiring.state_map import facet_states
from phaseline.schemas.records import Entity, State

Fate = Literal["moves", "shown anew", "stranded"]
"""What becomes of a state that the table does not have. moves: a line of the map says where its base goes. shown anew:
the table has the base, and its views say what it shows. stranded: nothing is said of it."""


class StrandedGroup(NamedTuple):
    """The entities of a kind that share a state which the tables do not have.

    facet: empty if the kind is not here, or if the entities have not the facets of its table. state: the base; for
    those that are shown anew, what is shown. to: where the base goes; None if it goes nowhere.
    """

    kind: str
    facet: str
    state: State
    to: State | None
    fate: Fate


GroupCounts = Counter[StrandedGroup]
"""How many entities share each fate."""


def stranded_groups(kinds: Kinds, entity: Entity) -> Iterator[StrandedGroup]:
    """The groups of one entity: one for each facet whose state the tables do not have."""
    kind = kinds.get(entity.kind)
    whole = entity if kind is None or kind.contact is None else kind.whole(entity)
    if kind is None or whole.names != kind.names:
        yield StrandedGroup(entity.kind, "", entity.facets[0].state, None, "stranded")
        return
    for name, facet, states in zip(whole.names, whole.facets, facet_states(kind), strict=True):
        if not states.has(facet.base):
            to = states.target(facet.base)
            yield StrandedGroup(kind.name, name, facet.base, to, "stranded" if to is None else "moves")
        elif not states.shows(facet.state):
            yield StrandedGroup(kind.name, name, facet.state, None, "shown anew")


def count(kinds: Kinds, entities: Iterable[Entity]) -> GroupCounts:
    """How many of these entities share each fate. An entity counts once for each such facet."""
    return Counter(group for entity in entities for group in stranded_groups(kinds, entity))


def in_tree(tree: Tree, changed: Container[str], reading: Reading = iter) -> GroupCounts:
    """The same for the entities of a tree that are of these kinds."""
    found = (e for name, entities in tree.entities.items() if name in changed for e in entities.values())
    return count(tree.kinds, reading(found))
