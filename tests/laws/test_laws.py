"""The laws of the core over random histories with legal, illegal, repeated and senseless events.

Belongs here: the choice of laws and kinds. Does not: the laws of all kinds and the histories, which are in the test kit
(`surfaces.testing`).
"""

from collections.abc import Callable

import pytest

from phaseline.engine.surfaces.testing.laws import LAWS
from phaseline.machines.compiler.kinds import Kinds
from tests.support import edge_worlds, own_below, sample_kinds
from tests.support.retired_states import every_state_is_one_of_the_tables
from tests.support.strategies import History, histories, hold, law_by_law

FAMILIES = {"edge hosting": edge_worlds.KINDS, "orchard": sample_kinds.KINDS, "own kinds": own_below.KINDS}
family = pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))


def nothing_lives_below_what_is_unknown_or_gone(history: History) -> None:
    """The engine deletes what lives below an entity that becomes Deleted, whatever the tables say."""
    for kind in history.kinds.values():
        for entity_id, entity in history.tree.entities[kind.name].items():
            if kind.parent is not None and entity.facets[0].base.phase not in ("Absent", "Deleted"):
                parent = history.tree.get(kind.parent, "/".join(entity_id.split("/")[: kind.parent_arity]))
                assert parent is not None
                assert parent.facets[0].base.phase != "Deleted"


@family
@law_by_law(*LAWS, nothing_lives_below_what_is_unknown_or_gone, every_state_is_one_of_the_tables)
def test_law(law: Callable[[History], None], kinds: Kinds, effort: str) -> None:
    hold(law, histories(kinds), effort)
