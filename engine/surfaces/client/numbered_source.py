"""A source that numbers its events. `client.source` makes it.

Belongs here: the epoch, the numbers, their order. Does not: sending (`client`), what an entity makes of the numbers
(`core.sources`).
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack
from weakref import WeakValueDictionary

import msgspec

from phaseline.engine.log.installation import Installation
from phaseline.engine.publish.compose import EventDetails
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.publish.pipeline import PublishResult
from phaseline.engine.publish.single import Receipt
from phaseline.engine.surfaces.client.session import Session
from phaseline.schemas.envelope import Event
from phaseline.schemas.errors import NotPermitted

if TYPE_CHECKING:
    from phaseline.engine.surfaces.client.client import Client


class NumberedSource:
    """One source of events, which numbers them: `sequence` counts in `epoch`, and what is not newer counts as a repeat.

    Its methods are those of the client. Events of one tree are sent one after the other, as they are numbered.
    """

    def __init__(self, client: "Client", name: str, epoch: int | None) -> None:
        """Number what `client` sends as the source `name`.

        epoch: None if this user may not ask for one. Then it is the position of the first event, which has no number.
        """
        self._client, self._name, self._epoch, self._number = client, name, epoch, 0
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._first = asyncio.Lock()

    @property
    def name(self) -> str:
        """The source of its events."""
        return self._name

    @property
    def epoch(self) -> int | None:
        """The epoch in which it counts; None before the first event of a user who may not ask for one."""
        return self._epoch

    @property
    def number(self) -> int:
        """The number of the last event; 0 before the first."""
        return self._number

    async def publish(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, until_stored: bool | float = False, **details: Unpack[EventDetails],
    ) -> Receipt:  # fmt: skip
        """Number one event and store it, as `Client.publish` does."""
        async with self._turn(entity_id):
            if self._epoch is None:
                return await self._begin(kind, trigger, entity_id, data, check, details, until_stored)
            numbered = self._next(details)
            return await self._client.publish(
                kind, trigger, entity_id, data, check=check, until_stored=until_stored, **numbered
            )

    async def publish_and_wait(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, timeout: float = 10.0, **details: Unpack[EventDetails],
    ) -> Outcome:  # fmt: skip
        """Number one event, store it, and wait for its outcome, as `Client.publish_and_wait` does."""
        async with self._turn(entity_id):
            if self._epoch is not None:
                numbered = self._next(details)
                return await self._client.publish_and_wait(
                    kind, trigger, entity_id, data, check=check, timeout=timeout, **numbered
                )
            receipt = await self._begin(kind, trigger, entity_id, data, check, details)
        return await self._client.outcome(receipt, timeout=timeout)

    async def publish_many(
        self, events: Iterable[Event | Mapping[str, Any]] | AsyncIterable[Event | Mapping[str, Any]]
    ) -> PublishResult:
        """Number events and store them in order, as `Client.publish_many` does. Other calls must wait meanwhile."""
        if self._epoch is None:
            raise ValueError("publish one event first: its position is the epoch, for this user may not ask for one")
        return await self._client.publish_many(self._each(events))

    async def snapshot(
        self, kind: str, entity_id: str, below: str, items: Iterable[Mapping[str, Any]], *, seen: int | None = None,
        after: str | None = None, upto: str | None = None, confirm: bool = False, wait: float | None = None,
        **details: Unpack[EventDetails],
    ) -> Sequence[Outcome]:  # fmt: skip
        """Number and publish all that there is of the kind `below` under an entity, as `Client.snapshot` does."""
        from phaseline.engine.publish import snapshots  # noqa: PLC0415  # few send snapshots

        listed = list(items)
        parts = len(snapshots.events(below, listed, seen, after, upto, confirm=confirm))
        async with self._turn(entity_id):
            numbered = dict(details) if self._epoch is None else self._next(details, parts)
            found = await self._client.snapshot(
                kind, entity_id, below, listed, seen=seen, after=after, upto=upto, confirm=confirm, wait=wait,
                **{"source": self._name, **numbered},  # type: ignore[arg-type]  # the details of an event
            )  # fmt: skip
        if self._epoch is None:
            self._epoch = found[0].receipt.sequence
        return found

    def _turn(self, entity_id: str) -> asyncio.Lock:
        """Whoever holds it may send an event of this tree. Before there is an epoch, of any tree."""
        if self._epoch is None:
            return self._first
        root = entity_id.partition("/")[0]
        found = self._turns.get(root)
        if found is None:
            found = self._turns[root] = asyncio.Lock()
        return found

    async def _begin(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None, check: bool,
        details: EventDetails, until_stored: bool | float = False,
    ) -> Receipt:  # fmt: skip
        """Store an event without a number, whose position is the epoch of the next ones."""
        named = EventDetails(**{**details, "source": self._name})
        receipt = await self._client.publish(
            kind, trigger, entity_id, data, check=check, until_stored=until_stored, **named
        )
        self._epoch = receipt.sequence
        return receipt

    def _next(self, details: EventDetails, events: int = 1) -> EventDetails:
        """The details of the next event, or of the first of the next events."""
        first = self._number + 1
        self._number += events
        found = EventDetails(**details)
        found["source"], found["epoch"], found["sequence"] = self._name, self._epoch or 0, first
        return found

    async def _each(
        self, events: Iterable[Event | Mapping[str, Any]] | AsyncIterable[Event | Mapping[str, Any]]
    ) -> AsyncIterator[Event | Mapping[str, Any]]:
        if isinstance(events, AsyncIterable):
            async for event in events:
                yield self._numbered(event)
        else:
            for event in events:
                yield self._numbered(event)

    def _numbered(self, event: Event | Mapping[str, Any]) -> Event | Mapping[str, Any]:
        self._number += 1
        if isinstance(event, Event):
            return msgspec.structs.replace(event, source=self._name, epoch=self._epoch, sequence=self._number)
        return {**event, "source": self._name, "epoch": self._epoch, "sequence": self._number}


async def begin(client: "Client", session: Session, name: str) -> NumberedSource:
    """A source that begins an epoch."""
    try:
        installation = await session.installation()
        found = await session.wire.api(f"STREAM.INFO.{installation.layout.events}")
    except NotPermitted:
        return NumberedSource(client, name, None)
    return NumberedSource(client, name, int(found["state"]["last_seq"]) + await _least(installation))


async def _least(installation: Installation) -> int:
    """What is added to a position, so that the epoch is above those of a log that was put back: its own number."""
    from phaseline.engine.log.restored import identity  # noqa: PLC0415  # few programs number their events

    try:
        note = await identity.last(installation)
    except NotPermitted:
        return 0
    return note.number if note is not None and note.was_restored else 0
