"""Questions about an entity, which the worker answers that owns its tree (`worker.services`).

Belongs here: asking, and the meaning of an error reply.
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.frames import CODE, ERROR
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import EntityUnknown, InvalidInput, ServiceRefused
from phaseline.schemas.subjects import quoted_id


async def ask(installation: Installation, kind: str, entity_id: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of the worker that owns the tree of an entity.

    Raises `EntityUnknown`, `InvalidInput`, `ServiceRefused`; `NoResponders` if no worker answers such questions.
    """
    subject = installation.subjects.status(kind, quoted_id(entity_id))
    reply = await installation.wire.request(subject, codec.encode_json(dict(data)), content_types.AS_JSON)
    code = reply.headers.get(CODE)
    if code is None:
        return codec.decode(reply.data)
    answer = codec.decode(reply.data) if reply.data else {}
    problem = str(answer.get("error") or reply.headers.get(ERROR, ""))
    if code == "404":
        raise EntityUnknown(kind=kind, id=entity_id)
    if code == "400":
        raise InvalidInput.bad_status_query(problem=problem)
    raise ServiceRefused(subject=subject, problem=problem, service_code=code)
