"""The half of the client that publishes: sends events, waits for their outcomes, tries them out.

Belongs here: one method for each thing that a publisher does. Does not: the work itself (`publish.single`, `publish.pipeline`,
`publish.outcomes`, `replay.dry_run`).
"""

from collections.abc import AsyncIterable, Callable, Iterable, Mapping
from typing import Any, Unpack

from phaseline.engine.client.session import Session
from phaseline.engine.publish import compose, outcomes, pipeline, single
from phaseline.engine.publish.compose import Details, EventMessage
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.publish.pipeline import PATIENCE, WINDOW, PublishResult
from phaseline.engine.publish.single import Receipt
from phaseline.engine.replay.dry_run import DryRun, dry_run
from phaseline.schemas.envelope import Event

WAIT = 10.0
"""Seconds to wait for the outcome of an event."""


class Sending(Session):
    """What a publisher does."""

    async def publish(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, **details: Unpack[Details],
    ) -> Receipt:  # fmt: skip
        """Store one event; `details`: `source`, `event_id`, `sequence`, `time` (`outgoing.Details`).

        Sent again with the same `source` and `event_id` it is stored once (within ten minutes). Raises `Unconfirmed`
        when no answer came: send it again under the same `event_id`.
        check: judge it first as a worker would, and raise `EventRefused` instead of sending what would be rejected.
        """
        message = self._message(kind, trigger, entity_id, data, check, details)
        return await single.publish(self._wire, message, self._settings.request_timeout)

    async def publish_and_wait(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, timeout: float = WAIT, **details: Unpack[Details],
    ) -> Outcome:  # fmt: skip
        """Store one event as `publish` does, and wait for its outcome: its transitions, its rejection, or nothing.

        Raises `Undecided` when no worker has answered after `timeout` seconds; the event stays stored.
        """
        message = self._message(kind, trigger, entity_id, data, check, details)
        async with outcomes.follow(await self.installation(), entity_id.partition("/")[0]) as reader:
            receipt = await single.publish(self._wire, message, self._settings.request_timeout)
            if not receipt.duplicate:
                return await outcomes.outcome(reader, self._settings.prefix, receipt, timeout)
        return await self.outcome(receipt, timeout=timeout)

    async def outcome(self, receipt: Receipt, *, timeout: float = WAIT) -> Outcome:
        """The outcome of an event that was stored before; waits as `publish_and_wait` does."""
        installation = await self.installation()
        root, start = await outcomes.whereabouts(installation, receipt.sequence)
        async with outcomes.follow(installation, root, start) as reader:
            return await outcomes.outcome(reader, installation.prefix, receipt, timeout)

    async def publish_many(
        self,
        events: Iterable[Event | Mapping[str, Any]] | AsyncIterable[Event | Mapping[str, Any]],
        *,
        window: int = WINDOW,
        patience: float = PATIENCE,
        check: bool = True,
        progress: Callable[[PublishResult], None] | None = None,
    ) -> PublishResult:
        """Store events in order, `window` of them in flight, and return how many are stored and how many were already.

        An event is an `Event` or a CloudEvents map, with `type` `<kind>.<trigger>` and `subject` `<kind>/<id>`.
        The first one that would be rejected raises `EventRefused`; all before it are stored then. Trouble with the
        servers is overcome by sending again, until nothing has moved for `patience` seconds: `Unconfirmed`.
        """
        subjects, kinds = self._subjects, self.kinds if check else None
        messages: Iterable[EventMessage] | AsyncIterable[EventMessage]
        if isinstance(events, AsyncIterable):
            messages = (compose.pack(subjects, event, kinds) async for event in events)
        else:
            messages = (compose.pack(subjects, event, kinds) for event in events)
        return await pipeline.publish_many(self._wire, messages, window, patience, progress)

    async def resend(self, sequence: int) -> Receipt:
        """Store again the event whose rejection stands at `sequence` in the log, once its reason is put right."""
        return await single.resend(await self.installation(), sequence, self._settings.request_timeout)

    async def dry_run(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        progress: Callable[[int], None] | None = None, **details: Unpack[Details],
    ) -> DryRun:  # fmt: skip
        """What one event would do to its tree as it stands: its records, its rejection, or nothing. Nothing is sent.

        progress: called with the number of states read so far. Raises `KindMissing`, `Unsendable`.
        """
        message = self._message(kind, trigger, entity_id, data, False, details)
        installation = await self.installation()
        return await dry_run(installation.wire, installation.layout, installation.kinds, message, progress)

    def _message(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None, check: bool, details: Details
    ) -> EventMessage:
        event = compose.compose(kind, trigger, entity_id, data, {"source": self.source, **details})
        return compose.pack(self._subjects, event, self.kinds if check else None)
