"""The law that no entity is in a state which the tables that decided it do not have.

Belongs here: that law. Does not: changes of tables (`tests/laws/test_state_map_laws.py`).
"""

from phaseline.engine.core.tables_change import moving, stranded
from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.surfaces.testing.histories import History
from phaseline.engine.surfaces.testing.laws import same
from phaseline.schemas.records import Mark


def every_state_is_one_of_the_tables(history: History) -> None:
    """Or else the same tables would refuse it, or move it, when they are noted anew. A deadline may start anew."""
    for entities in history.tree.entities.values():
        for entity in entities.values():
            same(f"{entity.kind} {entity.id}", [*stranded.stranded_groups(history.kinds, entity)], [])
    told = TablesChange(1, 1, history.kinds.digest, history.kinds.versions)
    pieces = moving.pieces(history.tree, told)
    made = [record for one in pieces for record in moving.move(history.tree, told, one, "phaseline/pl").records]
    same("what would move", [one for one in made if not isinstance(one, Mark)], [])
