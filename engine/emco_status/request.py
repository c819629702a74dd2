"""Asks for a status: the worker that owns the tree, or the streams where no worker can answer.

Belongs here: which of the two is asked, and what a refusal means. Does not: the answer (`statuses`), the service
(`service`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.emco_status import load
from phaseline.engine.emco_status.query import BadQuery, Query, read
from phaseline.engine.emco_status.select import Selection
from phaseline.engine.emco_status.server import CODE, ERROR
from phaseline.engine.errors import BadStatusQuery, EntityUnknown, NoResponders, NotPermitted, ServiceRefused
from phaseline.engine.log import latest
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.state_view import StateView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec
from phaseline.schemas.subjects import quoted_id

ELSEWHERE = ("413", "503")
"""Refusals after which the streams still have the answer."""


async def status(view: StateView, resource: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The answer for this view. Raises `EntityUnknown`, `BadStatusQuery`, `ServiceRefused`."""
    given, query = _checked(view.installation.kinds, resource, parameters)
    # A worker knows the latest states only.
    found = await _asked(view.installation, resource, given) if view.moment is None else None
    return await load.read(view, resource, query) if found is None else found


async def selected(view: StateView, resource: str, parameters: Mapping[str, Any]) -> Selection:
    """What the answer is made of, from the streams; raises as `status` does."""
    _, query = _checked(view.installation.kinds, resource, parameters)
    return await load.gathered(view, resource, query)


def _checked(kinds: Kinds, resource: str, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], Query]:
    latest.check_name(kinds, load.KIND, resource)
    given = {name: value for name, value in parameters.items() if value not in (None, (), [], False)}
    try:
        return given, read(given)
    except BadQuery as error:
        raise BadStatusQuery(problem=str(error)) from None


async def _asked(installation: Installation, resource: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer of the tree's owner; None where it has none, or may not be asked."""
    subject = installation.subjects.status(quoted_id(resource))
    try:
        reply = await installation.wire.request(subject, codec.encode_json(dict(given)))
    except (NoResponders, NotPermitted):
        return None
    code = reply.headers.get(CODE)
    if code is None:
        return codec.decode(reply.data)
    answer = codec.decode(reply.data) if reply.data else {}
    problem = str(answer.get("error") or reply.headers.get(ERROR, ""))
    if code in ELSEWHERE:
        return None
    if code == "404":
        raise EntityUnknown(kind=load.KIND, id=resource)
    if code == "400":
        raise BadStatusQuery(problem=problem)
    raise ServiceRefused(subject=subject, problem=problem)
