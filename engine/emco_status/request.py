"""Asks for a status: first the worker that owns the tree, then the streams if no worker can answer.

Belongs here: choosing between the two, and the meaning of an error reply. Does not: making the answer (`load`), the
service (`worker.services`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.emco_status import load
from phaseline.engine.emco_status.query import BadQuery, Query, read
from phaseline.engine.emco_status.select import StatusSelection
from phaseline.engine.errors import BadStatusQuery, EntityUnknown, NoResponders, NotPermitted, ServiceRefused
from phaseline.engine.jetstream.frames import CODE, ERROR
from phaseline.engine.log import latest
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.state_view import StateView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.subjects import quoted_id

READ_STREAMS = ("413", "503")
"""Error codes of a worker after which the streams still have the answer."""


async def status(view: StateView, resource: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The answer for this view. Raises `EntityUnknown`, `BadStatusQuery`, `ServiceRefused`."""
    given, query = _checked(view.installation.kinds, resource, parameters)
    # A worker knows the latest states only.
    found = await _ask_owner(view.installation, resource, given) if view.moment is None else None
    return await load.answer_from_streams(view, resource, query) if found is None else found


async def selected(view: StateView, resource: str, parameters: Mapping[str, Any]) -> StatusSelection:
    """What the answer is made of, from the streams. Raises what `status` raises."""
    _, query = _checked(view.installation.kinds, resource, parameters)
    return await load.select_from_streams(view, resource, query)


def _checked(kinds: Kinds, resource: str, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], Query]:
    latest.check_name(kinds, load.KIND, resource)
    given = {name: value for name, value in parameters.items() if value not in (None, (), [], False)}
    try:
        return given, read(given)
    except BadQuery as error:
        raise BadStatusQuery(problem=str(error)) from None


async def _ask_owner(installation: Installation, resource: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer of the worker that owns the tree; None if it has none, or if this user may not ask."""
    subject = installation.subjects.status(load.KIND, quoted_id(resource))
    try:
        reply = await installation.wire.request(subject, codec.encode_json(dict(given)), content_types.AS_JSON)
    except (NoResponders, NotPermitted):
        return None
    code = reply.headers.get(CODE)
    if code is None:
        return codec.decode(reply.data)
    answer = codec.decode(reply.data) if reply.data else {}
    problem = str(answer.get("error") or reply.headers.get(ERROR, ""))
    if code in READ_STREAMS:
        return None
    if code == "404":
        raise EntityUnknown(kind=load.KIND, id=resource)
    if code == "400":
        raise BadStatusQuery(problem=problem)
    raise ServiceRefused(subject=subject, problem=problem)
