"""Events by HTTP: CloudEvents in, what became of one, and what one would do.

Belongs here: the handlers of `/v1/events`, the header `Prefer`, one result for each of several events. Does not: the
modes of CloudEvents (`bodies`), the rules (`publish.compose`), how an event is stored (`publish.single`).
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request

from phaseline.engine.log.checkpoint import is_decided
from phaseline.engine.log.log import Log
from phaseline.engine.publish import compose, outcomes, single
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.outcomes import Outcome, of_receipt, repeat_map
from phaseline.engine.publish.single import Receipt
from phaseline.engine.replay.dry_run import dry_run
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.http import problems
from phaseline.engine.surfaces.http.access.caller import Caller
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.engine.surfaces.http.intake import bodies
from phaseline.engine.surfaces.http.service import Service
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec, envelope
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.errors import EventRefused, InvalidInput, NoAnswer, NotFound, PhaselineError, Undecided
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import unquote

EVENTS_PATH = "/v1/events"


class Sender:
    """Stores events for a caller. check: refuse what a worker would reject whatever the state of its entity.

    dry: nothing is stored, the events are only tried.
    """

    def __init__(self, service: Service, caller: Caller, *, check: bool = True, dry: bool = False) -> None:
        """Raises `NoAnswer.still_loading` before there is an installation."""
        self._caller = caller
        self._service, self._may = service, caller.check_try if dry else caller.check_publish
        self._installation = service.installation
        self._kinds = service.kinds if check else None

    def packed(self, event: Any) -> EventMessage:
        """The message of an event, in the name of the caller; raises `EventRefused`, `InvalidInput`."""
        if not isinstance(event, Mapping):
            raise EventRefused.unsendable(
                reason="undecodable", message=f"an event is a map, found {type(event).__name__}"
            )
        if actors.ATTRIBUTE in event:
            raise InvalidInput.actor_claimed(actor=str(event[actors.ATTRIBUTE])[:64])
        actor = self._caller.actor
        signed = {**event, actors.ATTRIBUTE: actor} if actor else event
        message = compose.pack(self._installation.subjects, signed, self._kinds)
        self._may(self._root(message))
        self._caller.check_source(message.source)
        return self._in_name_of(actor, message) if actor else message

    def _in_name_of(self, actor: str, message: EventMessage) -> EventMessage:
        """The message under a subject by which workers know the actor. What LIVE copies keeps its subject."""
        if any(copied.part in message.subject for copied in self._installation.kinds.copies.values()):
            return message
        subject = self._installation.subjects.in_name_of(actor, message.subject)
        name = envelope.message_id(subject, message.source, message.event)
        return message._replace(subject=subject, message_id=name)

    async def store(self, message: EventMessage) -> Receipt:
        """Store one event."""
        return await single.publish(self._installation.wire, message, self._service.settings.request_timeout)

    async def store_and_wait(self, message: EventMessage, seconds: float) -> Outcome:
        """Store one event and wait for its outcome; raises `Undecided`, `InvalidInput.event_rejected`."""
        patience = self._service.settings.request_timeout
        found = await outcomes.of_message(self._installation, message, self._root(message), patience, seconds)
        for one in found.records:
            if isinstance(one.record, Rejection):
                reason, said = one.record.reason, one.record.message
                raise InvalidInput.event_rejected(
                    sequence=found.receipt.sequence,
                    place=one.sequence,
                    reason=reason,
                    message=said,
                    way_out=await self._service.client.way_out(one.sequence),
                ) from None
        return found

    async def store_all(self, events: Sequence[Any]) -> list[dict[str, Any]]:
        """Store several events, those of one tree in order; the result of each: its receipt, or a problem."""
        results: list[dict[str, Any]] = [{} for _ in events]
        trees: dict[str, list[tuple[int, EventMessage]]] = {}
        for index, event in enumerate(events):
            try:
                message = self.packed(event)
            except PhaselineError as error:
                results[index] = {"problem": problems.problem(error, EVENTS_PATH)}
            else:
                trees.setdefault(self._root(message), []).append((index, message))
        await asyncio.gather(*(self._store_tree(messages, results) for messages in trees.values()))
        return results

    async def _store_tree(self, messages: list[tuple[int, EventMessage]], results: list[dict[str, Any]]) -> None:
        failed = None
        for index, message in messages:
            try:
                if failed is not None:
                    raise NoAnswer.not_sent(before=failed)
                results[index] = (await self.store(message)).shown()
            except PhaselineError as error:
                results[index] = {"problem": problems.problem(error, EVENTS_PATH)}
                failed = failed or (message.event if isinstance(error, NoAnswer) else None)

    def _root(self, message: EventMessage) -> str:
        """The tree of an event."""
        return unquote(message.subject.removeprefix(f"{self._installation.prefix}.events.").partition(".")[0])


def outcome_map(kinds: Kinds, outcome: Outcome, *, with_receipt: bool) -> dict[str, Any]:
    """An outcome as JSON shows it. `last`: the last place of its records, to read them with `min`."""
    records = outcome.records
    shown = {
        **(outcome.receipt.shown() if with_receipt else {}),
        "effect": outcome.effect,
        "repeat": repeat_map(outcome.repeat),
        **({} if outcome.effect != "none" else {"why_none": outcome.why_none}),
        "last": max((one.sequence for one in records), default=None),
        "records": [maps.record_map(kinds, one.sequence, one.record, one.wire) for one in records],
    }
    return {**shown, "unread": outcome.unread} if outcome.unread else shown


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
