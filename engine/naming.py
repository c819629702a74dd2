"""What an id names: the kind of the entity, found from the id's length and from what exists.

Belongs here: that one question. Does not: what is known of the entity (`queries`, `past`).
"""

import json
import math
from typing import Any

from phaseline.engine import frames, queries
from phaseline.engine.errors import ApiFailed, EntityUnknown, IdUnfit, KindUnsaid, NameUnknown, NotYetKnown
from phaseline.engine.streams import Layout
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kinds
from phaseline.schemas.subjects import partition_of_id, quoted_id

SEQUENCE = "Nats-Sequence"


async def find(
    wire: Wire, layout: Layout, kinds: Kinds, entity_id: str, kind: str | None = None, place: int | None = None
) -> str:
    """The kind of the entity `entity_id`: `kind` where it is said, else the only one there is under that id.

    place: only what the log knew then; what is known now where left out. Raises `WordUnknown` and `IdUnfit` for what
    can name nothing, `EntityUnknown` for what is not there, `KindUnsaid` where several are.
    """
    fitting = [kind] if kind is not None else fits(kinds, entity_id)
    for name in fitting:
        queries.check_name(kinds, name, entity_id)
    found = [name for name in fitting if await _exists(wire, layout, name, entity_id, place)]
    if len(found) > 1:
        raise KindUnsaid(id=entity_id, kinds=" and a ".join(found), kind=found[0])
    if found:
        return found[0]
    if place is not None:
        raise NotYetKnown(id=entity_id, kinds=" or ".join(fitting), place=place)
    if kind is not None:
        raise EntityUnknown(kind=kind, id=entity_id)
    raise NameUnknown(id=entity_id, kinds=" or ".join(fitting))


def fits(kinds: Kinds, entity_id: str) -> list[str]:
    """The kinds whose ids have as many parts; raises `IdUnfit` where none has."""
    parts = entity_id.count("/") + 1
    found = [kind.name for kind in kinds.values() if kind.arity == parts]
    if not found:
        shapes = ", ".join(dict.fromkeys("/".join(f"<{name}>" for name in kind.table.id) for kind in kinds.values()))
        raise IdUnfit(problem=f"{entity_id!r} is no id of any kind: they look like {shapes}")
    return found


async def _exists(wire: Wire, layout: Layout, kind: str, entity_id: str, place: int | None) -> bool:
    if place is not None:
        return await _first(wire, layout, kind, entity_id) <= place
    try:
        await queries.last(wire, layout, kind, entity_id)
    except EntityUnknown:
        return False
    return True


async def _first(wire: Wire, layout: Layout, kind: str, entity_id: str) -> float:
    """The place in the log of the first record of it that is kept."""
    start = f"{layout.prefix}.log.{partition_of_id(entity_id, layout.partitions)}.transition"
    wanted = {"seq": 1, "next_by_subj": f"{start}.{kind}.*.*.{quoted_id(entity_id)}"}
    subject = f"$JS.API.DIRECT.GET.{layout.log}"
    reply = await wire.request(subject, json.dumps(wanted).encode())
    status = reply.headers.get(frames.STATUS)
    if status is None:
        return int(reply.headers[SEQUENCE])
    if status != queries.NOT_FOUND:
        told: dict[str, Any] = {"description": reply.headers.get(frames.DESCRIPTION, ""), "err_code": 0}
        raise ApiFailed(subject=subject, code=int(status), **told)
    return math.inf
