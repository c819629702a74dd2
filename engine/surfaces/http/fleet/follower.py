"""Keeps the fleet up to date: loads it from STATE, then follows LOG.

Belongs here: which messages to read, from where, and when the fleet is exact. Does not: what a record changes
(`fleet`), who reads the fleet.

STATE copies LOG in order, and a state in it names its place in LOG. Before STATE is read, the place up to which it is
complete is noted; LOG is followed from there. A state that was newer changes nothing when its record comes again. Once
the newest place found in STATE is reached, the fleet is exact at its place, and stays so.

Whether STATE has lost messages follows from the checkpoints in LOG, which count entities. Their copies in STATE do not
tell: they may be lost as well, and the server leaves out the headers by which a worker's checkpoint is known.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from phaseline.engine import logs
from phaseline.engine.log import as_of, checkpoint, foreign, latest
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import record_in_log, record_in_state
from phaseline.engine.log.restored import identity
from phaseline.engine.nats.direct_get import origin
from phaseline.engine.nats.reader import Stored
from phaseline.engine.nats.stream_reader import read_all, reader_of
from phaseline.engine.outgoing import problem
from phaseline.engine.surfaces.http.fleet.cascades import Cascades, PlacedMessage
from phaseline.engine.surfaces.http.fleet.fleet import LiveFleet
from phaseline.schemas import wire_codec
from phaseline.schemas.errors import ApiFailed, LogDamaged, NoAnswer, NotFound, NotInLog, NotPermitted, PhaselineError
from phaseline.schemas.records import Mark, Transition, nanoseconds

if TYPE_CHECKING:
    from phaseline.engine.log.restored.identity import LogIdentity

SLICE = 100
"""Messages that are taken at once. After each slice others have a turn: within some ms, however much there is."""
PATIENCE = 10.0
"""Seconds that messages wait for the rest of an event. After that its worker has died, and nobody owns the
partition."""
SAME_LOG = 5.0
"""Seconds between two looks whether the log is still the same."""
LOOK = 1.0
"""Seconds between two looks at what waits."""

log = logs.get_logger(__name__)
Taker = Callable[[Sequence[PlacedMessage]], None]
"""Takes messages of whole events, after the fleet has taken them."""


class Follower:
    """One fleet, and what keeps it up to date: `run`. `takers` are called with what the fleet has taken."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.fleet = LiveFleet(installation.kinds)
        self.takers: list[Taker] = []
        self.began = 0
        """The place after which LOG is followed, once the fleet is loaded."""
        self.is_exact = asyncio.Event()
        """Set once the fleet is exact at its place."""
        self.exact_at = 0
        """The place at which that was so first. Takers get what follows it."""
        self.failure: PhaselineError | None = None
        self.note: LogIdentity | None = None
        """The identity of the log that is followed, once it is known."""
        self._checked_at = -SAME_LOG
        self._cascades = Cascades()
        self._held_since = 0.0
        self._moved = asyncio.Event()

    async def run(self) -> None:
        """Load and follow, until cancelled. Errors end it: `failure`."""
        try:
            states = await self._load()
            if states.is_ours:
                await self._follow(states)
            log.warning("fleet_from_log", entities=len(self.fleet))
            self.fleet, self.began, self._cascades = LiveFleet(self.installation.kinds), 0, Cascades()
            await self._follow(None)
        except PhaselineError as error:
            log.error("fleet_failed", error=str(error))  # noqa: TRY400  # the error says all
            self.failure = error
            self._move()

    async def ready(self, timeout: float) -> LiveFleet:
        """The fleet, once it is exact; raises `NoAnswer.still_loading`, or the error that ended the following."""
        try:
            async with asyncio.timeout(timeout):
                while not self.is_exact.is_set():
                    self._raise_failure()
                    await self._moved.wait()
        except TimeoutError:
            raise NoAnswer.still_loading(entities=len(self.fleet), place=self.fleet.place) from None
        self._raise_failure()
        return self.fleet

    async def reach(self, place: int, timeout: float) -> None:
        """Wait until the fleet stands at this place or after it; raises `NotFound.place_ahead`."""
        try:
            async with asyncio.timeout(timeout):
                while self.fleet.place < place:
                    self._raise_failure()
                    await self._moved.wait()
        except TimeoutError:
            raise NotFound.place_ahead(place=place, last=self.fleet.place) from None

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure

    async def _load(self) -> "_States":
        """Load the states."""
        wire, layout = self.installation.wire, self.installation.layout
        began = time.monotonic()
        states = _States(self.installation, await _counts(self.installation))
        self.began = await latest.copied(self.installation)
        self.fleet.stand_at(self.began, await self._time_of(self.began))
        async for messages in read_all(wire, layout.state, []):
            for place, record in states.read(messages):
                self._put(place, record)
            await asyncio.sleep(0)
        self.fleet.order()
        seconds = round(time.monotonic() - began, 3)
        log.info("fleet_loaded", entities=len(self.fleet), place=self.began, seconds=seconds)
        return states

    async def _time_of(self, place: int) -> int:
        """When the log stood at the last place that STATE has copied, ns.

        An archive run may have noted a later place: STATE copies no notes, for example.
        """
        try:
            return (await as_of.resolve(self.installation, place)).time_ns
        except NotInLog as error:
            return nanoseconds(error.until)

    async def _follow(self, states: "_States | None") -> None:
        """Read LOG after the place at which the states were noted. Ends only if the states turn out to lack some."""
        wire, layout, prefix = self.installation.wire, self.installation.layout, self.installation.prefix
        feed = [f"{prefix}.transition.>", f"{prefix}.rejection.>"]
        newest = 0 if states is None else states.newest
        async with reader_of(wire, layout.log, [], self.began + 1, feed, follows=True) as reader:
            while True:
                if not self.is_exact.is_set() and reader.caught_up and self.fleet.place >= newest:
                    if states is not None and not states.suffice(self.fleet):
                        return
                    self.exact_at = self.fleet.place
                    self.is_exact.set()
                    self._move()
                for stored in await reader.take(SLICE, LOOK):
                    self._take(stored)
                await self._check_log()
                if not self._cascades.is_whole and time.monotonic() - self._held_since > PATIENCE:
                    log.warning("cascade_unfinished", place=self.fleet.place)
                    self._apply(self._cascades.give_up())
                await asyncio.sleep(0)

    async def _check_log(self) -> None:
        """Raise `NoAnswer.log_put_back` if the log is another one than that of which the states were read."""
        if (now := time.monotonic()) < self._checked_at + SAME_LOG:
            return
        self._checked_at, known = now, self.note
        with suppress(NoAnswer, ApiFailed, NotPermitted):
            self.note = await identity.last(self.installation) or known
        if known is not None and self.note != known:
            log = self.installation.layout.log
            raise NoAnswer.log_put_back(stream=log, last=0, place=self.fleet.place)

    def _put(self, place: int, record: Transition) -> None:
        """Let the fleet take a record. Raises `LogDamaged.record_unreadable` for one that no worker can have made."""
        try:
            self.fleet.apply(place, record)
        except PhaselineError:
            raise
        except Exception as error:
            subject = f"{record.entity.kind} {record.entity.id}"
            raise _unreadable(f"{subject!r:.200}", place, error) from error

    def _take(self, stored: Stored) -> None:
        try:
            placed, numbered = self._read(stored)
        except ValueError as error:
            raise _unreadable(stored.subject, stored.sequence, error) from error
        if self._cascades.is_whole:
            self._held_since = time.monotonic()
        self._apply(self._cascades.take(placed, numbered))

    def _read(self, stored: Stored) -> tuple[PlacedMessage, wire_codec.Numbered | None]:
        """A message of LOG, and which record of its event it is."""
        place, prefix = PlacedMessage(stored.sequence, stored.time_ns), self.installation.prefix
        is_log = stored.subject.startswith(f"{prefix}.log.")
        if not is_log and ".transition.mark." not in stored.subject[len(prefix) :]:
            return place, None
        if foreign.is_json_copy(stored.block):
            return place, None
        record = record_in_log(self.installation.layout.log, stored)
        if record is None:
            return place, None
        numbered = wire_codec.numbered(stored.data)
        return place if isinstance(record, Mark) else place._replace(record=record, body=stored.data), numbered

    def _apply(self, group: Sequence[PlacedMessage]) -> None:
        if not group:
            return
        fleet = self.fleet
        for placed in group:
            if isinstance(placed.record, Transition):
                self._put(placed.place, placed.record)
        fleet.stand_at(group[-1].place, group[-1].time_ns)
        for taker in self.takers if self.is_exact.is_set() else ():
            taker(group)
        self._move()

    def _move(self) -> None:
        """Wake all who wait for a place."""
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()


def _unreadable(subject: str, place: int, error: Exception) -> PhaselineError:
    if isinstance(error, PhaselineError):
        return error
    return LogDamaged.record_unreadable(subject=f"{subject}, place {place}", problem=problem(error))


class _Count(NamedTuple):
    """How many entities a partition had at a place of LOG, according to its checkpoint there."""

    place: int
    entities: int


async def _counts(installation: Installation) -> dict[int, _Count]:
    """What the last checkpoints in LOG count. Entities do not vanish, so at any later place there are as many."""
    counts = dict[int, _Count]()
    async for messages in read_all(installation.wire, installation.layout.log, [installation.subjects.checkpoint("*")]):
        for stored in messages:
            found = checkpoint.read(stored)
            if found is not None:
                number = int(stored.subject.removeprefix(f"{installation.prefix}.mark.").partition(".")[0])
                counts[number] = _Count(stored.sequence, found.entities)
    return counts


class _States:
    """Reads the messages of STATE. newest: the newest place in LOG among them. is_ours: whether workers wrote all."""

    def __init__(self, installation: Installation, counts: dict[int, _Count]) -> None:
        """counts: what LOG's checkpoints counted before STATE is read."""
        self._installation, self._counts = installation, counts
        self.newest, self.is_ours = 0, True

    def read(self, messages: Sequence[Stored]) -> Iterator[tuple[int, Transition]]:
        """The last record of each entity in these messages, with its place."""
        for stored in messages:
            kind = stored.subject.removeprefix(f"{self._installation.prefix}.state.").split(".", 2)[1]
            place = origin(stored.block)
            self.newest = max(self.newest, place)
            if kind not in latest.NO_KINDS and stored.data:
                record = record_in_state(self._installation.layout.state, stored)
                if isinstance(record, Transition):
                    yield place, record
                else:
                    self.is_ours = False

    def suffice(self, fleet: LiveFleet) -> bool:
        """Whether the fleet has all entities that the checkpoints count, beside those that have come since."""
        partitions, found = dict[str, int](), Counter[int]()
        for place, record in zip(fleet.places, fleet.last, strict=True):
            root = record.entity.id.partition("/")[0]
            number = partitions.get(root)
            if number is None:
                number = partitions[root] = self._installation.partition_of(root)
            if record.entity.version > 1 or number not in self._counts or place <= self._counts[number].place:
                found[number] += 1
        return all(found[number] >= count.entities for number, count in self._counts.items())
