"""Asking for a status: the worker that owns the tree, or the streams where no worker can tell.

Belongs here: which of the two, and what a refusal means. Does not: the answer itself (`statuses`), the service (`service`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine import queries, statuses
from phaseline.engine.errors import BadStatusQuery, EntityUnknown, NoResponders, NotPermitted, ServiceRefused
from phaseline.engine.service import CODE, ERROR
from phaseline.engine.status.query import BadQuery, Query, read
from phaseline.engine.status.selection import Selection
from phaseline.engine.streams import Layout
from phaseline.engine.wire import Wire
from phaseline.machines.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects, quoted_id

ELSEWHERE = ("413", "503")
"""Refusals after which the streams still have the answer."""


async def status(
    wire: Wire, layout: Layout, kinds: Kinds, resource: str, parameters: Mapping[str, Any], place: int | None
) -> dict[str, Any]:
    """The answer, now or as the log had it at `place`. Raises `EntityUnknown`, `BadStatusQuery`, `ServiceRefused`."""
    given, query = _checked(kinds, resource, parameters)
    if place is None:
        found = await _asked(wire, layout, resource, given)
        if found is not None:
            return found
    return await statuses.read(wire, layout, kinds, resource, query, place)


async def selected(
    wire: Wire, layout: Layout, kinds: Kinds, resource: str, parameters: Mapping[str, Any], place: int | None
) -> Selection:
    """What the answer would be made of, from the streams; raises as `status` does."""
    _, query = _checked(kinds, resource, parameters)
    return await statuses.gathered(wire, layout, kinds, resource, query, place)


def _checked(kinds: Kinds, resource: str, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], Query]:
    queries.check_name(kinds, statuses.KIND, resource)
    given = {name: value for name, value in parameters.items() if value not in (None, (), [], False)}
    try:
        return given, read(given)
    except BadQuery as error:
        raise BadStatusQuery(problem=error) from None


async def _asked(wire: Wire, layout: Layout, resource: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The owner's answer; None where it has none, or may not be asked."""
    subject = Subjects(layout.prefix).status(quoted_id(resource))
    try:
        reply = await wire.request(subject, codec.encode_json(dict(given)))
    except (NoResponders, NotPermitted):
        return None
    code = reply.headers.get(CODE)
    if code is None:
        return codec.decode(reply.data)
    problem = (
        codec.decode(reply.data).get("error") or reply.headers.get(ERROR) if reply.data else reply.headers.get(ERROR)
    )
    if code in ELSEWHERE:
        return None
    if code == "404":
        raise EntityUnknown(kind=statuses.KIND, id=resource)
    if code == "400":
        raise BadStatusQuery(problem=problem)
    raise ServiceRefused(problem=problem)
