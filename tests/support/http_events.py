"""Events that tests send by HTTP.

Belongs here: making one and sending it. Does not: the server (`http_server`).
"""

import json
from typing import Any

from tests.support.http_server import Api

JSON_EVENT = "application/cloudevents+json"


def event(subject: str = "cluster/c1", trigger: str = "adopt", **more: Any) -> dict[str, Any]:
    kind = subject.partition("/")[0]
    basis = {"specversion": "1.0", "id": "e1", "source": "/test", "type": f"{kind}.{trigger}", "subject": subject}
    return {**basis, "data": {"phase": "Running"} if trigger == "adopt" else None, **more}


async def send(api: Api, body: Any, type_: str = JSON_EVENT, path: str = "/v1/events", **headers: str) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"content-type": type_, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await api.http.post(path, content=content, headers=given)
