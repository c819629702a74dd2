"""The notifier: follows the log of an installation, and stores what its rules make in the installation of notices.

All that it stores has a number of the log, so several notifiers are one, and one that starts again repeats nothing.
Belongs here: following, the clock at the end of the log, checkpoints. Does not: what rules make (`notices.fold`),
what is stored of it (`events`), sending.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from hashlib import blake2b
from time import time_ns
from typing import Any, NamedTuple

from phaseline.engine import logs
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log import Log
from phaseline.engine.log.log_records import Logged
from phaseline.engine.log.restored import identity as log_identity
from phaseline.engine.log.watch import Watch
from phaseline.engine.nats.direct_get import last_message_from_leader
from phaseline.engine.products.notices.events import ChangesFor, event, events_of
from phaseline.engine.products.notices.fold.following import PUT_BACK, RULE_CHANGED, FollowedLog, FollowedTo, looks_back
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.products.notices.taking_up import KnownNotices, known
from phaseline.engine.publish.backlog import PartitionBacklog, first_waiting, owner_of
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.reading_client import session_of
from phaseline.engine.worker.stopping import unless_stopped
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import ApiFailed, NoAnswer, NotInLog, NotProvisioned
from phaseline.schemas.records import SECOND, timestamp
from phaseline.schemas.version import __version__

BEAT = 30.0
"""Seconds between two checkpoints."""
LOOK, SOON = 0.25, 0.005
"""Seconds between two looks whether something falls due; and after that time until a look."""
AGAIN = 1.0
"""Seconds after which a notifier that could not go on begins again."""
SLOW = 60.0
"""Seconds behind the log from which on a notifier lags."""
PROMPT = 0.4
"""Seconds in which an owner answers that waits for no commit in doubt."""

log = logs.get_logger(__name__)


def digest(rules: Rules, kinds: Kinds) -> str:
    """A digest of all that decides which notices a log makes."""
    text = repr((rules.rules, rules.windows, kinds.digest, __version__))
    return blake2b(text.encode(), digest_size=6).hexdigest()


class Notifier:
    """Follows the log of `main`, and stores what `rules` make in `notices`.

    tells_changes: whether a receiver is told changes too.
    """

    def __init__(self, main: Client, notices: Client, prefix: str, rules: Rules, tells_changes: ChangesFor) -> None:
        """Nothing is read yet. prefix: of the installation that is followed."""
        self._main, self._notices, self._prefix, self._rules = main, notices, prefix, rules
        self._tells_changes, self._digest = tells_changes, digest(rules, main.kinds)
        self._identity = 0
        self._saved = self._looked = 0.0
        self._ahead_ns = 0
        """How much the clock of the server is ahead of this one."""
        self._place = self._at = self._record_ns = 0
        self._is_known = False
        """Whether the installation of notices knows that this log is followed."""
        self._pending: DecidedUntil | None = None
        self._behind_since: float | None = None
        self.records = self.stored = 0
        """How many records were followed, and how many events stored."""
        self.is_following = asyncio.Event()
        """Set once it has caught up for the first time."""

    async def run(self, stop: asyncio.Event) -> None:
        """Follow until `stop`. Where the server is away, or the log was put back, begin again."""
        while not stop.is_set():
            try:
                await self._follow(stop)
            except (NoAnswer, ApiFailed, NotProvisioned) as error:
                log.warning("notifier_begins_again", error=str(error))
                await unless_stopped(asyncio.sleep(AGAIN), stop)

    @property
    def lag(self) -> float:
        """For how many seconds it has been more than a minute behind the log; 0 if it is not."""
        return 0.0 if self._behind_since is None else asyncio.get_running_loop().time() - self._behind_since

    async def _follow(self, stop: asyncio.Event) -> None:
        installation = await session_of(self._main).installation()
        self._pending = None
        self._ahead_ns = await installation.server_time() - time_ns()
        following, checkpoint = await self._taken_up(installation, stop)
        if stop.is_set():
            return
        self._at, self._place = checkpoint.at, checkpoint.place
        async with self._read(installation, following, checkpoint) as watch:
            await self._save(following)
            batch: asyncio.Task[list[Logged]] | None = None
            stopping = asyncio.create_task(stop.wait())
            try:
                while not stop.is_set():
                    batch = batch or asyncio.create_task(watch.batch())
                    await asyncio.wait(
                        {batch, stopping}, timeout=self._until_look(following), return_when=asyncio.FIRST_COMPLETED
                    )
                    if batch.done():
                        found, batch = batch.result(), None
                        if not found:
                            return
                        await self._take(following, found)
                    if watch.caught_up and (batch is None or not batch.done()):  # all that was read was taken
                        await self._tick(installation, following, watch.read_to)
                    if asyncio.get_running_loop().time() - self._saved >= BEAT:
                        await self._save(following)
                await self._save(following)
            finally:
                stopping.cancel()
                if batch is not None:
                    batch.cancel()
                    await asyncio.gather(batch, return_exceptions=True)

    # ---- beginning

    async def _taken_up(self, installation: Installation, stop: asyncio.Event) -> tuple[FollowedLog, FollowedTo]:
        """Where to go on: behind all that was stored before."""
        self._identity = await self._main.log_identity()
        while self._identity == log_identity.UNKNOWN and not stop.is_set():
            await unless_stopped(asyncio.sleep(LOOK), stop)  # until a worker has worked on it
            self._identity = await self._main.log_identity()
        own = await session_of(self._notices).installation()
        while not stop.is_set() and await settled(own) is None:
            await unless_stopped(asyncio.sleep(LOOK), stop)  # what a former notifier stored last counts
        found = await known(self._notices, self._prefix)
        end = (await self._main.moment("now")).place
        self._is_known = found.checkpoint is not None
        if found.checkpoint is None:
            log.info("notifier_begins", place=end)
            return self._following(FollowedTo(end, 0, end), found, ""), FollowedTo(end, 0, end)
        former = RULE_CHANGED if found.rules != self._digest else ""
        checkpoint = found.checkpoint
        if found.identity != self._identity:
            former, checkpoint = PUT_BACK, await self._before_loss(installation, checkpoint)
        elif former:  # what was said since the checkpoint is said no more by these rules
            checkpoint = checkpoint._replace(place=found.said[0], at=found.said[1])
        log.info("notifier_goes_on", place=checkpoint.place, live=len(found.live), former=former)
        return self._following(checkpoint, found, former), checkpoint

    def _following(self, checkpoint: FollowedTo, found: KnownNotices, former: str) -> FollowedLog:
        return FollowedLog(self._main.kinds, self._rules, checkpoint, found.live, former, later=found.later)

    async def _before_loss(self, installation: Installation, checkpoint: FollowedTo) -> FollowedTo:
        """The checkpoint in a log that was put back: what came after the backup is gone."""
        note = await log_identity.last(installation)
        place = min(checkpoint.place, 0 if note is None else note.place)
        return FollowedTo(place, checkpoint.at, min(place, checkpoint.first))

    @asynccontextmanager
    async def _read(
        self, installation: Installation, following: FollowedLog, checkpoint: FollowedTo
    ) -> AsyncIterator[Watch[Any]]:  # fmt: skip
        """A watch of all records behind the states that `following` knows."""
        first = await self._place_before(following.first, checkpoint.at)
        floor = (await Log(installation).begins()).place
        if first < floor:
            log.warning("notifier_lacks_records", place=first, begins=floor)
            first = floor
        view = await self._main.at(first)
        before = [record async for record in view.unsorted(deleted=True)]
        following.know(view.moment.place, before)
        if view.moment.place >= checkpoint.place:
            await self._store(following.speak())
        async with self._main.watch(start=view.moment, rejections=True) as watch:
            yield watch

    async def _place_before(self, place: int, at: int) -> int:
        """The place from which on the log tells what the rules have to know of the time before a place.

        at: the time before which no later record can be; 0 if that is not known. Records may come late, and count by
        their own time.
        """
        span = looks_back(self._rules)
        if not span or not place:
            return place
        try:
            time = (await self._main.moment(place)).time_ns
            return (await self._main.moment(timestamp(max(0, min(time, at or time) - span)))).place
        except NotInLog:
            return 0

    # ---- following

    async def _take(self, following: FollowedLog, found: Sequence[Logged]) -> None:
        events: list[NoticeEvent] = []
        for one in found:
            self.records += 1
            self._record_ns = one.record.time_ns
            events += following.take(one.sequence, one.record)
        await self._store(events)
        self._place = max(self._place, found[-1].sequence)
        self._measure(self._record_ns)

    async def _tick(self, installation: Installation, following: FollowedLog, read_to: int) -> None:
        """Look whether something falls due by the clock, and now and then how far that counts.

        read_to: the place up to which all was taken.
        """
        pending, self._pending = self._pending, None
        self.is_following.set()
        if pending is not None and read_to >= pending.place:
            await self._store(following.advance(pending.time_ns))
            self._at = pending.time_ns
        elif following.is_silent:
            await self._store(following.speak())
        now, due = time_ns() + self._ahead_ns, following.next_due
        is_due = due is not None and due < now
        self._measure(max(due or 0, self._record_ns) if is_due else now)
        if not is_due and now - self._at < BEAT * SECOND:
            return
        if pending is not None and read_to < pending.place:
            self._pending = pending
        elif asyncio.get_running_loop().time() - self._looked >= LOOK:
            self._looked = asyncio.get_running_loop().time()
            self._pending = await settled(installation)  # it counts once all up to its place was taken
            if self._pending is not None and read_to >= self._pending.place:
                await self._tick(installation, following, read_to)

    def _until_look(self, following: FollowedLog) -> float:
        """Seconds until the next look: sooner where something falls due before."""
        due = following.next_due
        left = LOOK if due is None else (due - time_ns() - self._ahead_ns) / SECOND
        return left + SOON if 0 < left < LOOK - SOON else LOOK

    async def _store(self, events: Iterable[NoticeEvent]) -> None:
        made = [each for one in events for each in events_of(one, self._identity, self._tells_changes)]
        if made:
            await self._notices.publish_many(made, check=False)
            self.stored += len(made)

    async def _save(self, following: FollowedLog) -> None:
        """Store how far all is stored, and that somebody follows."""
        self._saved = asyncio.get_running_loop().time()
        if self._is_known:
            await self._notices.publish("notifier", "heartbeat", self._prefix)
        if following.is_silent:
            return
        saved = following.checkpoint(self._place, self._at)
        data = {
            "place": saved.place, "first": saved.first, "at": timestamp(saved.at), "log_identity": self._identity,
            "rules": self._digest,
        }  # fmt: skip
        trigger = "lagged" if self.lag > SLOW else "followed"
        number = saved.place + saved.at // SECOND
        await self._notices.publish_many([
            event("notifier", trigger, self._prefix, data, self._identity, number, timestamp(time_ns()))
        ], check=False)  # fmt: skip
        self._is_known = True

    def _measure(self, reached_ns: int) -> None:
        """Note whether it is behind. reached_ns: the time of the server up to which all was followed."""
        is_behind = time_ns() + self._ahead_ns - reached_ns > SLOW * SECOND
        if not is_behind:
            self._behind_since = None
        elif self._behind_since is None:
            self._behind_since = asyncio.get_running_loop().time()


# ---- the clock of the server, which counts once nothing can come any more that was stored earlier


class DecidedUntil(NamedTuple):
    """All that was stored before a time, ns, is decided. place: of the last record that there is then."""

    time_ns: int
    place: int


async def settled(installation: Installation) -> DecidedUntil | None:
    """The time up to which no record can come any more; None if that is not known now.

    Every partition has to have decided all that EVENTS holds of it.
    """
    wire, layout = installation.wire, installation.layout
    time_ns = await installation.server_time()
    answers = await asyncio.gather(*(_has_decided(installation, one) for one in range(layout.partitions)))
    if not all(answers):
        return None
    message = await last_message_from_leader(wire, layout.log, f"{layout.prefix}.log.>")
    return DecidedUntil(time_ns, 0 if message is None else message.sequence)


async def _has_decided(installation: Installation, partition: int) -> bool:
    """Whether all is decided that EVENTS holds of a partition now: as its owner says, or else as the streams do."""
    events, stored = installation.layout.events, installation.subjects.stored(partition)
    last = await last_message_from_leader(installation.wire, events, stored)
    if last is None:
        return True
    owned = await _promptly(installation, partition)
    if owned is not None and owned.waiting is not None and owned.position >= last.sequence:
        return True
    return await first_waiting(installation, partition) is None


async def _promptly(installation: Installation, partition: int) -> PartitionBacklog | None:
    """What the owner says; None if nobody answers, or if the answer waited for a commit in doubt."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    try:
        owned = await owner_of(installation, partition)
    except NoAnswer:
        return None
    return owned if loop.time() - begun < PROMPT else None
