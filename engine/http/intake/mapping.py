"""From a webhook's request to events, by the hook's program in jq.

The program gets `{headers, body}` and gives events: one after the other, or in lists. It runs in the sandbox, so that
it can neither take long nor see anything else.
Belongs here: running it, and what its events have without saying so. Does not: who may call (`hook_file`), storing the
events (`hooks`).
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from phaseline.engine.http.intake.bodies import MOST
from phaseline.engine.request_errors import BadBody, HookFailed
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.scripts.sandbox import Stopped
from phaseline.schemas import codec, libraries


def events(name: str, program: str, headers: Mapping[str, str], body: bytes) -> list[dict[str, Any]]:
    """The events of a request; raises `BadBody`, `HookFailed`. It takes up to a few seconds: call it in a thread.

    An event has by default the hook as `source`, and an `id` that is the same when the same body comes again.
    """
    libraries.require("jq", "a hook")
    try:
        given = codec.decode_text(body.decode())
    except (UnicodeDecodeError, codec.Undecodable) as error:
        raise BadBody(problem=str(error)) from None
    asked = {"run": "jq_map", "program": program, "input": json.dumps({"headers": dict(headers), "body": given})}
    try:
        answer = shared_runner().sandbox.ask(asked)
    except Stopped as error:
        raise HookFailed(name=name, problem=f"its program: {error}") from None
    if "error" in answer:
        raise HookFailed(name=name, problem=f"its program: {answer['error']}")
    found: list[Any] = []
    for text in answer["results"]:
        one = json.loads(text)
        found += one if isinstance(one, list) else [] if one is None else [one]
    if len(found) > MOST:
        raise HookFailed(name=name, problem=f"its program gives {len(found):,} events, at most {MOST:,} are taken")
    digest = sha256(body).hexdigest()[:24]
    return [_completed(name, one, f"{digest}-{index}") for index, one in enumerate(found)]


def _completed(name: str, event: Any, event_id: str) -> dict[str, Any]:
    if not isinstance(event, dict):
        raise HookFailed(name=name, problem=f"its program gives {str(event)[:64]!r}, an event is an object")
    return {"specversion": "1.0", "id": event_id, "source": f"/hooks/{name}", **event}
