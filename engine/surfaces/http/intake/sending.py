"""Stores events, and says what became of each.

Belongs here: one event, and several with one result each. Does not: requests (`events`), the rules
(`publish.compose`), how an event is stored (`publish.single`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.engine.publish import compose, outcomes, single
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.publish.outcomes import Outcome, repeat_map
from phaseline.engine.publish.single import Receipt
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.http import problems
from phaseline.engine.surfaces.http.access.caller import Caller
from phaseline.engine.surfaces.http.service import Service
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import envelope
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.errors import EventRefused, InvalidInput, NoAnswer, PhaselineError
from phaseline.schemas.records import Rejection
from phaseline.schemas.subjects import unquote

EVENTS = "/v1/events"


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
                results[index] = {"problem": problems.problem(error, EVENTS)}
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
                results[index] = {"problem": problems.problem(error, EVENTS)}
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
