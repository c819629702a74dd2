"""The Python client: everything that a publisher or a reader does, over one connection.

Belongs here: one method for each task of a publisher, and following under a name. Does not: reading (`reading_client`),
connecting (`connecting`), the work behind a method (`engine.publish`, `engine.replay`, `surfaces.follow`), how much is
too much to end (`language.brake`).
"""

from collections.abc import AsyncIterable, Callable, Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Any, Unpack

from phaseline.engine.log.when import NOW, When
from phaseline.engine.publish import compose, outcomes, pipeline, single
from phaseline.engine.publish.compose import EventDetails, EventMessage
from phaseline.engine.publish.outcomes import Outcome
from phaseline.engine.publish.pipeline import PATIENCE, WINDOW, PublishResult
from phaseline.engine.publish.single import Receipt
from phaseline.engine.publish.source_counts import SourceReport, source_counts
from phaseline.engine.replay.dry_run_result import DryRun
from phaseline.engine.surfaces.client import numbered_source
from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.engine.surfaces.client.numbered_source import NumberedSource
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.engine.surfaces.follow import follower
from phaseline.engine.surfaces.follow.follow import Follow
from phaseline.engine.surfaces.follow.follower import FollowerState
from phaseline.machines.language.brake import BRAKE, USUAL, held_back, is_too_much
from phaseline.schemas.envelope import Event
from phaseline.schemas.errors import EntityUnknown, EventRefused, NotPermitted

WAIT = 10.0
"""Seconds to wait for the outcome of an event."""


class Client(ReadingClient):
    """One connection to one installation. Ids are written `c1/pool-a/n7`.

    Errors: all are in `phaseline.errors`. Methods raise `NameUnknown` for a kind, a state or a moment that does not
    exist, `InvalidInput` for an id that no entity can have, `NoAnswer` (as `NatsUnreachable`) where the server does not
    answer, `NotProvisioned` and `NotPermitted`. Each method names what it raises beside these.

    Answers and iterators: `await` gives an answer that is read whole; several results come as a list (`tree`,
    `changes`). What may be of any length is an iterator, without `await`: `list`, `watch`, `history`, `rejections`.

    When: `at` is one moment, `start` and `end` are a range. Each takes a place in the log, a `datetime`, text ("15m",
    "03:12", "2026-03-02T08:00Z", "start", "now"), or a `Moment`, and is resolved once per call. `client.at("15m")`
    gives a view of the entities at that moment; `view.moment` is what all its reads show.

    Reads of one product are in `emco`, `fleet`, `gitops` and `levels`, and in the names that installed packages add.
    """

    async def source(self, name: str | None = None) -> NumberedSource:
        """A source that numbers its events from now on, so that its repeats are recognised however late they come.

        Its epoch is the last position of EVENTS: a program that starts again is heard at once, whatever its clock says,
        and keeps no file. In a log that was put back it is greater than every one before. name: by default the client's
        own source. Two programs need two names.
        """
        return await numbered_source.begin(self, self._session, name or self.default_source)

    # Publishing

    async def publish(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, until_stored: bool | float = False, **details: Unpack[EventDetails],
    ) -> Receipt:  # fmt: skip
        """Store one event; `details` (`EventDetails`): `source`, `event_id`, `sequence`, `epoch`, `time`, ...

        Sent again with the same `source` and `event_id` it is stored once (within ten minutes). Raises `Unconfirmed`
        when no answer came: send it again under the same `event_id`.
        check: judge it first as a worker would, and raise `EventRefused` instead of sending what would be rejected.
        until_stored: send it again through lost connections and restarts of the server until it is stored; or for so
        many seconds.
        """
        message = self._message(kind, trigger, entity_id, data, check, details)
        seconds = inf if until_stored is True else until_stored or self._session.settings.request_timeout
        return await single.publish(self._session.wire, message, seconds, patient=bool(until_stored))

    async def publish_and_wait(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        check: bool = True, timeout: float = WAIT, **details: Unpack[EventDetails],
    ) -> Outcome:  # fmt: skip
        """Store one event as `publish` does, and wait for its outcome: its transitions, its rejection, or nothing.

        Raises `Undecided` when no worker has answered after `timeout` seconds; the event stays stored.
        """
        message = self._message(kind, trigger, entity_id, data, check, details)
        installation, root = await self._session.installation(), entity_id.partition("/")[0]
        patience = self._session.settings.request_timeout
        return await outcomes.of_message(installation, message, root, patience, timeout)

    async def outcome(self, receipt: Receipt, *, timeout: float = WAIT) -> Outcome:
        """The outcome of an event that was stored before. timeout: the seconds to wait for it.

        Raises `Undecided`, and `NotFound.event_gone` if the event is no longer stored.
        """
        return await outcomes.of_receipt(await self._session.installation(), receipt, timeout)

    async def publish_many(
        self,
        events: Iterable[Event | Mapping[str, Any]] | AsyncIterable[Event | Mapping[str, Any]],
        *,
        window: int = WINDOW,
        patience: float = PATIENCE,
        check: bool = True,
        progress: Callable[[PublishResult], None] | None = None,
    ) -> PublishResult:
        """Store events in order. The answer counts the events that are new, and those that were stored before.

        events: each an `Event` or a CloudEvents map, with `type` `<kind>.<trigger>` and `subject` `<kind>/<id>`.
        window: how many may be in flight. On a cluster only one of each tree is, so that the order of each tree
        survives a change of leader. patience: after trouble with the servers the client sends again; it raises
        `Unconfirmed` once nothing has moved for so many seconds. check: as for `publish`. The first event that would
        be rejected raises `EventRefused`; all events before it are stored then. progress: called with the counts.
        """
        subjects, kinds = self._session.subjects, self.kinds if check else None
        messages: Iterable[EventMessage] | AsyncIterable[EventMessage]
        if isinstance(events, AsyncIterable):
            messages = (compose.pack(subjects, event, kinds) async for event in events)
        else:
            messages = (compose.pack(subjects, event, kinds) for event in events)
        return await pipeline.publish_many(self._session.wire, messages, window, patience, progress)

    async def snapshot(
        self, kind: str, entity_id: str, below: str, items: Iterable[Mapping[str, Any]], *, seen: int | None = None,
        after: str | None = None, upto: str | None = None, confirm: bool = False, about: Sequence[str] | None = None,
        log: int | None = None, wait: float | None = None, progress: Callable[[int, int], None] | None = None,
        **details: Unpack[EventDetails],
    ) -> Sequence[Outcome]:  # fmt: skip
        """Publish all that there is of the kind `below` under an entity, in as many events as it needs.

        items: maps with `id` (the part below the entity), `phase`, and what else a report has. seen: the highest
        `cause.sequence` that the reporter has read in this tree; log: in which log (`log_identity`). after, upto: the
        snapshot speaks of ids above `after` and up to `upto` only, in byte order. confirm: end what is not listed even
        if that is more than the brake allows; it needs `seen`. wait: the seconds to wait for the outcome of each event;
        None does not wait. about: the conditions that it speaks of, the only ones that it clears. progress: called with
        the number of events sent, and of all. Raises as `publish` and `publish_and_wait` do; `EventRefused` before
        anything is sent if several events together would end more than the brake allows.
        """
        from phaseline.engine.publish import snapshots  # noqa: PLC0415  # few send snapshots

        parts = snapshots.events(below, items, seen, after, upto, confirm=confirm, about=about, log=log)
        if len(parts) > 1 and not confirm:
            listed = [item["id"] for part in parts for item in part["items"]]
            await _check_brake(await self.at(), kind, entity_id, below, listed, after, upto, seen)
        found: list[Outcome] = []
        for index, data in enumerate(parts):
            if progress is not None:
                progress(index, len(parts))
            mine = snapshots.details_of(details, index, len(parts))
            if wait is None:
                found.append(Outcome(await self.publish(kind, "snapshot", entity_id, data, **mine)))
            else:
                found.append(await self.publish_and_wait(kind, "snapshot", entity_id, data, timeout=wait, **mine))
        return found

    async def resend(self, sequence: int) -> Receipt:
        """Store again the event whose rejection is at the place `sequence` of the log, once the reason for it is gone.

        Raises `NotFound.record_not_found`, `NotFound.not_rejected`, `NotFound.event_gone`, and what `publish` raises.
        """
        installation = await self._session.installation()
        return await single.resend(installation, sequence, self._session.settings.request_timeout)

    async def dry_run(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None, *,
        progress: Callable[[int], None] | None = None, **details: Unpack[EventDetails],
    ) -> DryRun:  # fmt: skip
        """What one event would do to its tree now: its records, its rejection, or nothing. Nothing is sent.

        progress: called with the number of states read so far. Raises `SetupError`, `EventRefused`.
        """
        from phaseline.engine.replay.dry_run import dry_run  # noqa: PLC0415  # it decides; other reads need no core

        message = self._message(kind, trigger, entity_id, data, False, details)
        installation = await self._session.installation()
        return await dry_run(installation, message, progress)

    def _message(
        self,
        kind: str,
        trigger: str,
        entity_id: str,
        data: Mapping[str, Any] | None,
        check: bool,
        details: EventDetails,
    ) -> EventMessage:
        event = compose.compose(kind, trigger, entity_id, data, {"source": self.default_source, **details})
        return compose.pack(self._session.subjects, event, self.kinds if check else None)

    # Following under a name, and what became of events

    def follow(
        self, name: str, kind: str | None = None, *, facet: str | None = None, state: str | None = None,
        tree: str | None = None, condition: str | Sequence[str] = (), start: When = NOW, at_once: int = 1,
        patience: float = 30.0,
    ) -> Follow:  # fmt: skip
        """Transitions, whose place the server keeps under `name`; each goes to one of those who follow under it.

        Who asks for the next one has acknowledged the one before; what was not acknowledged is handed out again. What
        is selected is as in `watch`. start: where it begins if there is no follower of that name yet. at_once: how many
        all programs together may have in hand; with 1 they come in the order of the log. patience: seconds after which
        what a lost program has in hand is handed out again. Raises `InvalidInput`, and when the first one is asked for
        `InvalidInput.follower_differs`, `NotFound.follower_lost`, `NotFound.follower_gone`, `NotPermitted`.
        """
        conditions = (condition,) if isinstance(condition, str) else (*condition,)
        words = follower.FollowChoice(kind=kind, facet=facet, state=state, tree=tree, condition=conditions)
        wanted = follower.wanted(self.kinds, name, words, start, at_once, patience)
        return self._session.keep(Follow(self._session.installation, wanted))

    async def followers(self) -> Sequence[FollowerState]:
        """Those who follow under a name, with their places, and how far they are behind."""
        return await follower.all_of(await self._session.installation())

    async def unfollow(self, name: str) -> FollowerState:
        """Delete a follower, and return what it was; raises `NameUnknown`. Programs that follow under this name end.

        Its place is forgotten: who follows under this name again begins anew. `start=` the place + 1 goes on from it.
        """
        return await follower.delete(await self._session.installation(), name)

    async def sources(self) -> SourceReport:
        """What became of the events of each source, as the workers have counted since they own their partitions.

        Raises `NoAnswer` if no worker answers.
        """
        return await source_counts(await self._session.installation())


async def _check_brake(
    view: EntityView[Any], kind: str, entity_id: str, below: str, listed: Collection[str],
    after: str | None, upto: str | None, seen: int | None = None,
) -> None:  # fmt: skip
    """Raise `EventRefused` if a snapshot of several events would end more in its range than the brake allows.

    Each event is braked by itself, over its own range: many of them can end a little each. listed: the ids that it
    lists, below the entity. seen: what its reporter has read; what has come since does not end by it. A client that may
    not read leaves the counting to the workers.
    """
    try:
        found = [one.entity for one in await view.last_of(below, tree=entity_id)]
        brake = await _brake(view, kind, entity_id)
    except NotPermitted:
        return
    born = {one.id[len(entity_id) + 1 :]: one.born for one in found}
    living = [one for one in born if (after is None or one > after) and (upto is None or one <= upto)]
    ends = len({one for one in living if seen is None or born[one] <= seen}.difference(listed))
    if is_too_much(ends, len(living), brake):
        raise EventRefused(reason="brake", message=held_back(ends, len(living), below, f"{kind} {entity_id}", brake))


async def _brake(view: EntityView[Any], kind: str, entity_id: str) -> float:
    for place in view.kinds[kind].places_above(entity_id):
        try:
            own = (await view.get(*place)).attributes.get(BRAKE)
        except EntityUnknown:
            continue
        if own is not None:
            return float(own)
    return USUAL
