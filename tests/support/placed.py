"""A tree with one entity in a base that a law is about.

Belongs here: making it. Does not: the laws.
"""

from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import DELETED
from phaseline.schemas.records import Entity, FacetState, State, state
from tests.support.built_in_kinds import BUILT_IN_KINDS


def placed(kind: Kind, base: State) -> Tree:
    """A tree with one entity in a base, all its ancestors alive, and a request that event 5 brought."""
    tree = Tree(BUILT_IN_KINDS, NoScripts())
    entity_id = "/".join("abcdefgh"[: kind.arity])
    chain = [kind]
    while chain[-1].parent is not None:
        chain.append(BUILT_IN_KINDS[chain[-1].parent])
    for one in reversed(chain):
        bases = [base, *one.adopted[1:]] if one is kind else list(one.adopted)
        if one is kind and base.phase == DELETED:
            bases = [state(DELETED) if DELETED in m.phases else b for b, m in zip(bases, one.machines, strict=True)]
        here = "/".join(entity_id.split("/")[: one.arity])
        facets = tuple(FacetState(found, found, 0) for found in bases)
        tree.put(Entity(one.name, here, 1, one.names, facets, one.attributes, {}, asked=5))
        shown = tuple(FacetState(b, m.shown(b, tree, here), 0) for b, m in zip(bases, one.machines, strict=True))
        tree.put(Entity(one.name, here, 1, one.names, shown, one.attributes, {}, asked=5))
    return tree
