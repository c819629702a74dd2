"""Finds the kind of an entity from its id: by the id's length, and by what exists.

Belongs here: `find`. Does not: reading the entity (`queries`, `past`).
"""

from phaseline.engine.errors import AmbiguousId, InvalidId
from phaseline.engine.log import latest
from phaseline.engine.log.state_view import StateView
from phaseline.machines.compiler.kinds import Kinds


async def find(view: StateView, entity_id: str, kind: str | None = None) -> str:
    """The kind of the entity `entity_id` in this view: `kind` if given, else that of the only entity with this id.

    Raises `NameUnknown` and `InvalidId` for an id that no entity can have, `EntityUnknown` where there is none,
    `AmbiguousId` where there are several.
    """
    kinds = view.installation.kinds
    fitting = [kind] if kind is not None else fits(kinds, entity_id)
    for name in fitting:
        latest.check_name(kinds, name, entity_id)
    found = [name for name in fitting if await view.exists(name, entity_id)]
    if len(found) > 1:
        raise AmbiguousId(id=entity_id, kinds=" and a ".join(found), kind=found[0])
    if not found:
        raise view.unknown(fitting, entity_id)
    return found[0]


def fits(kinds: Kinds, entity_id: str) -> list[str]:
    """The kinds whose ids have as many parts as this one; raises `InvalidId` where there is none."""
    parts = entity_id.count("/") + 1
    found = [kind.name for kind in kinds.values() if kind.arity == parts]
    if not found:
        shapes = ", ".join(dict.fromkeys("/".join(f"<{name}>" for name in kind.table.id) for kind in kinds.values()))
        raise InvalidId(problem=f"{entity_id!r} is no id of any kind: they look like {shapes}")
    return found
