"""Finding the kind of an entity from its id: by the length of the id, and by which entities exist.

Belongs here: `find`. Does not: reading the entity (`latest`, `as_of`).
"""

from phaseline.engine.log import latest
from phaseline.engine.log.state_view import StateView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import AmbiguousId, InvalidInput


async def find(view: StateView, entity_id: str, kind: str | None = None) -> str:
    """The kind of the entity `entity_id` in this view: `kind` if given, else the kind of the only entity with this id.

    Raises `NameUnknown` and `InvalidInput` for an id that no entity can have, `EntityUnknown` if no entity has it,
    `AmbiguousId` if several have it.
    """
    kinds = view.installation.kinds
    candidates = [kind] if kind is not None else kinds_of_length(kinds, entity_id)
    for name in candidates:
        latest.check_name(kinds, name, entity_id)
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
