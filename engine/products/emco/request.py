"""Asks for a status: first the worker that owns the tree, then the streams if no worker can answer.

Belongs here: choosing between the two. Does not: making the answer (`load`), the
service (`worker.services`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.log import latest
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.questions.asking import ask_owner
from phaseline.engine.log.state_view import StateView
from phaseline.engine.products.emco import load
from phaseline.engine.products.emco.query import BadQuery, Query, read
from phaseline.engine.products.emco.select import StatusSelection
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import InvalidInput, NoResponders, NotPermitted, ServiceRefused

READ_STREAMS = ("413", "503")
"""Error codes of a worker after which the streams still have the answer."""


async def status(view: StateView, resource: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The answer for this view. Raises `EntityUnknown`, `InvalidInput.bad_status_query`, `ServiceRefused`."""
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
        raise InvalidInput.bad_status_query(problem=str(error)) from None


async def _ask_owner(installation: Installation, resource: str, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """The answer of the worker that owns the tree; None if it has none, or if this user may not ask."""
    try:
        return await ask_owner(installation, load.KIND, resource, given)
    except (NoResponders, NotPermitted):
        return None
    except ServiceRefused as error:
        if error.service_code in READ_STREAMS:
            return None
        raise
