"""Events by HTTP: CloudEvents in, what became of one, and what one would do.

Belongs here: the handlers of `/v1/events`, the header `Prefer`. Does not: the modes of CloudEvents (`bodies`), storing
(`sending`).
"""

import re
from typing import Any

from starlette.requests import Request

from phaseline.engine.log.checkpoint import is_decided
from phaseline.engine.log.log import Log
from phaseline.engine.publish.outcomes import of_receipt, repeat_map
from phaseline.engine.publish.single import Receipt
from phaseline.engine.replay.dry_run import dry_run
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.engine.surfaces.http.intake import bodies
from phaseline.engine.surfaces.http.intake.sending import Sender, outcome_map
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput, NotFound, Undecided
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import unquote

LONGEST = 60.0
"""The most seconds that a request waits for an outcome."""
LOOK = 0.3
"""Seconds for which the records of an event are looked for that the checkpoint has not reached yet."""
_WAIT = re.compile(r"\s*wait\s*=\s*\"?(\d{1,9}(?:\.\d{1,9})?)\"?\s*(?:;.*)?\Z", re.IGNORECASE)


async def publish(call: Call) -> HttpAnswer:
    """Store the events of a request."""
    seconds, dry, force = _wait(call.request), call.values["dry-run"], call.values["force"]
    call.charge()
    given = await bodies.given(call.request)
    call.charge(len(given.events) - 1)
    sender = Sender(call.service, call.caller, check=not (force or dry), dry=dry)
    if not given.is_batch:
        return await _one(call, sender, given.events[0], seconds, dry=dry)
    if dry:
        raise InvalidInput.bad_parameter(name="dry-run", problem="is for one event, and this is a batch")
    results = await sender.store_all(given.events)
    return HttpAnswer({"results": results}, status=207 if any("problem" in one for one in results) else 202)


async def _one(call: Call, sender: Sender, event: Any, seconds: float, *, dry: bool) -> HttpAnswer:
    message = sender.packed(event)
    if dry:
        found = await dry_run(call.service.installation, message)
        records = [codec.decode(one.body) for one in found.messages]
        return HttpAnswer({
            "sequence": found.sequence, "effect": found.effect, "repeat": repeat_map(found.repeat),
            "behind": found.behind,
            "table_differences": found.table_differences, "records": records,
            **({"way_out": found.way_out} if found.way_out else {}),
            **({"unread": found.unread} if found.unread else {}),
        })  # fmt: skip
    if not seconds:
        return _accepted(call, await sender.store(message))
    try:
        outcome = await sender.store_and_wait(message, seconds)
    except Undecided as error:
        stored = Receipt(error.sequence, duplicate=False, event=message.event, source=message.source)
        return _accepted(call, stored._replace(unread=message.unread))
    headers = {"Location": f"{call.base}/events/{outcome.receipt.sequence}", "Preference-Applied": f"wait={seconds:g}"}
    body = outcome_map(call.service.kinds, outcome, with_receipt=True)
    return HttpAnswer(body, headers=headers)


def _accepted(call: Call, receipt: Receipt) -> HttpAnswer:
    """The answer for an event that is stored, and not decided yet as far as we know."""
    return HttpAnswer(receipt.shown(), status=202, headers={"Location": f"{call.base}/events/{receipt.sequence}"})


def _wait(request: Request) -> float:
    """The seconds that a request wants to wait for the outcome; 0 if it does not want to."""
    preferences = [one for text in request.headers.getlist("prefer") for one in text.split(",")]
    for one in preferences:
        if one.strip().lower().partition(";")[0].partition("=")[0].strip() == "wait":
            found = _WAIT.match(one)
            if found is None:
                raise InvalidInput.bad_header(
                    name="Prefer", problem=f"wait takes seconds, as in wait=10, found {one.strip()[:32]!r}"
                )
            return min(float(found[1]), LONGEST)
    return 0.0


async def options(call: Call) -> HttpAnswer:
    """What senders of webhooks ask first: whether they may send, and how fast."""
    asked = call.request.headers.get("webhook-request-origin")
    headers = {"Allow": "POST, OPTIONS"}
    if asked is not None and asked.isprintable():
        headers |= {
            "WebHook-Allowed-Origin": asked[:253],
            "WebHook-Allowed-Rate": f"{call.budgets.rate * 60:.0f}" if call.budgets.rate else "*",
        }
    return HttpAnswer({"methods": ["POST", "OPTIONS"]}, headers=headers)


async def event(call: Call) -> HttpAnswer:
    """A stored event, whether it is decided, and its outcome."""
    service, sequence = call.service, call.values["sequence"]
    installation = service.installation
    found = await Log(installation).event(sequence)
    gone = NotFound.event_gone(sequence=sequence, stream=installation.layout.events)
    if found is None or not found.subject.startswith(f"{installation.prefix}.inbox."):
        raise gone
    token = found.subject.removeprefix(f"{installation.prefix}.inbox.").split(".")[1]
    if not call.caller.may_read(unquote(token)):
        raise gone
    try:
        shown: dict[str, Any] | None = codec.decode(found.body)
    except codec.Undecodable:
        shown = None
    receipt = Receipt(sequence, duplicate=False, event="", source="")
    is_over = await is_decided(installation, unquote(token), sequence)
    try:
        outcome = await of_receipt(installation, receipt, LONGEST if is_over else LOOK)
    except Undecided:
        return HttpAnswer({"sequence": sequence, "decided": False}, headers={"Cache-Control": "no-store"})
    hidden = any(isinstance(one.record, Rejection) and one.record.reason == "secret" for one in outcome.records)
    body = {
        "sequence": sequence, "decided": True, "event": None if hidden else shown,
        **outcome_map(service.kinds, outcome, with_receipt=False),
    }  # fmt: skip
    return HttpAnswer(body)
