"""Webhooks of other programs: their requests become events.

Belongs here: the handler of `/v1/hooks`. Does not: the hooks and their secrets (`hook_file`), the programs (`mapping`).
"""

import asyncio

from phaseline.engine.http.access.caller import LOCAL
from phaseline.engine.http.call import Call, HttpAnswer
from phaseline.engine.http.intake import bodies, mapping
from phaseline.engine.http.intake.sending import Sender

AGAIN = 503


async def receive(call: Call) -> HttpAnswer:
    """Check the sender, and store the events that the hook makes of the request.

    503 tells the sender to send it again, because an event could not be stored; the ids stay the same.
    """
    hook = call.service.hooks.find(call.values["name"])
    body = await bodies.read(call.request)
    headers = dict(call.request.headers)
    hook.check(headers, body)
    call.charge()
    sender = Sender(call.service, LOCAL)
    shown = {name: value for name, value in headers.items() if name not in ("authorization", "cookie")}
    events = await asyncio.to_thread(mapping.events, hook.name, hook.program, shown, body)
    call.charge(len(events) - 1)
    results = await sender.store_all(events)
    statuses = [one["problem"]["status"] for one in results if "problem" in one]
    status = AGAIN if any(one >= 500 for one in statuses) else 422 if statuses else 202
    again = {"Retry-After": "1"} if status == AGAIN else {}
    return HttpAnswer({"results": results}, status=status, headers=again)
