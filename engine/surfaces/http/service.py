"""What one server has: the connection, the client, the fleet. It starts, follows, and ends as a whole.

Belongs here: `Service`, and how answers are kept and made once for many who ask (`LastUsed`, `SharedMaking`). Does not:
requests (`app`), what keeps the fleet up to date (`fleet.follower`).
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from phaseline.engine import logs, outgoing
from phaseline.engine.log import as_of
from phaseline.engine.log.as_of import AsOf
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.when import NOW, START, Moment, Time, check_order, check_reached, parse
from phaseline.engine.nats.api_reply import can_pass
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.compose import default_source
from phaseline.engine.settings import DEFAULT_HISTORY, Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.entity_view import EntityView
from phaseline.engine.surfaces.client.session import Session
from phaseline.engine.surfaces.http.away import Pulse, unless_away
from phaseline.engine.surfaces.http.connections.clients import LIMITS, HttpLimits
from phaseline.engine.surfaces.http.fleet.columns import FixedColumns
from phaseline.engine.surfaces.http.fleet.fleet import LiveFleet
from phaseline.engine.surfaces.http.fleet.fleet_moment import FleetMoment
from phaseline.engine.surfaces.http.fleet.follower import Follower
from phaseline.engine.surfaces.http.fleet.history_loader import HistoryLoader
from phaseline.engine.surfaces.http.live.hub import Hub
from phaseline.engine.surfaces.http.live.log_places import LogPlaces
from phaseline.engine.surfaces.http.traffic import Traffic
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.docs import plain
from phaseline.schemas import codec
from phaseline.schemas.errors import NoAnswer, NotFound, NotProvisioned, PhaselineError
from phaseline.schemas.records import Transition

if TYPE_CHECKING:
    from phaseline.engine.surfaces.http.links import Link

T = TypeVar("T")
LONGEST_PAUSE = 1.0
"""Seconds after a making at most: the pause is as long as the making took, so half of a processor stays for others."""


class SharedMaking(Generic[T]):
    """Makings by key. Who asks while one runs shares the next one, so no answer is older than its question."""

    def __init__(self) -> None:
        self._next = dict[Hashable, asyncio.Task[T]]()
        self._running = dict[Hashable, asyncio.Task[Any]]()
        """By key, the making under way with the pause behind it."""

    async def get(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` returns when it is called after now; raises what it raises."""
        task = self._next.get(key)
        if task is None:
            task = self._next[key] = asyncio.create_task(self._made(key, make))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may wait for it any more
        return await asyncio.shield(task)

    async def _made(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        if (before := self._running.get(key)) is not None:
            await asyncio.wait([before])
        began = time.monotonic()
        del self._next[key]
        making = asyncio.ensure_future(make())
        self._running[key] = asyncio.create_task(self._with_pause(key, making, began))
        return await making

    async def _with_pause(self, key: Hashable, making: "asyncio.Future[T]", began: float) -> None:
        await asyncio.wait([making])
        await asyncio.sleep(min(time.monotonic() - began, LONGEST_PAUSE))
        if self._running.get(key) is asyncio.current_task():
            del self._running[key]


READY = 2.0
"""Seconds that a request waits for the states to be loaded."""
REACH = 10.0
"""Seconds that a request with `min` waits for its place."""
RETRY = 0.5
"""Seconds between two tries to find the installation and to follow it."""
VIEWS, CHANGED = 16, 20_000
"""How many views of earlier places are kept for the next pages of lists, and how many changes each may hold."""
LISTS, BODIES = 16, 8
LOOK = 2.0
"""Seconds between two looks at what the views hold."""

log = logs.get_logger(__name__)
K = TypeVar("K")
V = TypeVar("V")


class LastUsed(Generic[K, V]):
    """The results that were used last, `most` of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The result, if it is still kept."""
        found = self._found.get(key)
        if found is not None:
            self._found.move_to_end(key)
        return found

    def put(self, key: K, value: V) -> None:
        """Keep a result; the one that was not used for longest goes."""
        self._found[key] = value
        self._found.move_to_end(key)
        while len(self._found) > self._most:
            self._found.popitem(last=False)


@dataclass(frozen=True, slots=True)
class ViewAt:
    """The entities at one moment. is_past: whether it was asked for by its moment, so that no answer can change."""

    states: FleetMoment | AsOf
    is_past: bool = False

    @property
    def moment(self) -> Moment:
        """The moment."""
        return self.states.moment

    @property
    def entities(self) -> EntityView[Moment]:
        """The reads of a client."""
        return EntityView(self.states, self.states.moment)


@dataclass(slots=True)
class _Connected:
    installation: Installation
    client: Client
    follower: Follower
    hub: Hub
    history: HistoryLoader
    pulse: Pulse


class Service:
    """The parts that answers are made of. `running` starts them."""

    def __init__(
        self, settings: Settings, kinds: Kinds, history: int = DEFAULT_HISTORY, limits: HttpLimits = LIMITS
    ) -> None:
        """Nothing is connected yet. history: how many transitions are kept in memory."""
        self.settings, self._kinds, self._most, self.limits = settings, kinds, history, limits
        self._parts: _Connected | None = None
        self.traffic = Traffic(limits)
        self.links: Sequence[Link] = ()
        self.places = LogPlaces()
        """Whose turn it is to read the log."""
        self._failure: PhaselineError | None = None
        self._waits_for = "its NATS server has not answered yet"
        self.cells: Mapping[str, Service] = {}
        """It answers for one installation."""
        self.description = b"{}"
        """The description of the API, as JSON."""
        self.lists = LastUsed[tuple[int, str], list[Transition]](LISTS)
        """Lists of several pages, by place and query."""
        self.bodies = LastUsed[tuple[int, str], bytes](BODIES)
        """Large answers, by place and query."""
        self.shapes = LastUsed[tuple[int, str], FixedColumns](BODIES)
        """What of columns stays as long as no entity comes or goes, by the fleet's shape and query."""
        self.overviews = SharedMaking[tuple[dict[str, Any], Moment]]()
        """Overviews of the present, by trees and length. Each looks at all entities."""
        self._views: OrderedDict[int, FleetMoment] = OrderedDict()

    @cached_property
    def tables(self) -> bytes:
        """The tables of all kinds, as JSON."""
        machines = [plain.kind(kind) for kind in self.kinds.values()]
        return codec.encode_json({"digest": self.kinds.digest, "machines": machines})

    @property
    def kinds(self) -> Kinds:
        """The tables."""
        return self._kinds

    @property
    def follower(self) -> Follower:
        """What keeps the fleet up to date; raises `NoAnswer.still_loading` before there is a connection."""
        return self._connected().follower

    @property
    def client(self) -> Client:
        """A client on the same connection."""
        return self._connected().client

    @property
    def installation(self) -> Installation:
        """The installation."""
        return self._connected().installation

    @property
    def hub(self) -> Hub:
        """What hands out new records."""
        return self._connected().hub

    @property
    def history(self) -> HistoryLoader:
        """The transitions in memory."""
        return self._connected().history

    @property
    def pulse(self) -> Pulse:
        """Whether the log can be read."""
        return self._connected().pulse

    def reachable(self) -> AbstractAsyncContextManager[object]:
        """Ends the block with a `NoAnswer` if it waits for NATS, and that is away."""
        return nullcontext() if self._parts is None else unless_away(self._parts.pulse)

    @property
    def is_found(self) -> bool:
        """Whether the installation is found, so that there is a fleet."""
        return self._parts is not None

    @property
    def is_connected(self) -> bool:
        """Whether NATS can be reached at this moment, and the log there."""
        return self._parts is not None and self._parts.pulse.is_there

    @property
    def unread_for(self) -> float:
        """The seconds since when the log could be read for certain; 0 if it never could."""
        return 0 if self._parts is None else self._parts.pulse.age

    def _connected(self) -> _Connected:
        if self._failure is not None:
            raise self._failure
        if self._parts is None:
            raise NoAnswer.still_loading(entities=0, place=0)
        return self._parts

    @property
    def problem(self) -> str | None:
        """Why there are no states to answer from; None if there are. They stay while NATS is away."""
        try:
            follower = self.follower
        except PhaselineError as error:
            return self._waits_for if NoAnswer.still_loading.made(error) else str(error)
        if follower.failure is not None:
            return str(follower.failure)
        if follower.is_exact.is_set():
            return None
        return str(NoAnswer.still_loading(entities=len(follower.fleet), place=follower.fleet.place))

    async def present(self) -> int | None:
        """The place of the fleet; raises `NoAnswer.still_loading`."""
        return (await self.fleet()).place

    async def reaching(self) -> Follower:
        """What keeps the fleet up to date, once the fleet is exact; raises `NoAnswer.still_loading`."""
        await self.follower.ready(READY)
        return self.follower

    async def fleet(self) -> LiveFleet:
        """The fleet, exact at its place; raises `NoAnswer.still_loading`."""
        return await self.follower.ready(READY)

    async def moment(self, when: str) -> Moment:
        """The moment that a parameter names; raises `NotFound.place_ahead`, `NameUnknown`."""
        fleet = await self.fleet()
        if when == NOW:
            return Moment(fleet.place, fleet.time_ns)
        named = parse(when)
        if isinstance(named, Time) and named.ns <= 0:
            return Moment(0, 0)
        if isinstance(named, int) and named > fleet.place:
            info = await self.installation.wire.api(f"STREAM.INFO.{self.installation.layout.log}")
            if named > (last := int(info["state"]["last_seq"])):
                raise NotFound.place_ahead(place=named, last=last)
        return await as_of.resolve(self.installation, when)

    async def beginning(self, start: str | None, end: str | None, up_to: Moment) -> Moment:
        """The moment at which a range up to another starts; raises `InvalidInput` and what `moment` raises."""
        if start in (None, START):
            return Moment(0, 0)
        after = await self.moment(start)
        check_order(start, end, after, up_to)
        return min(after, up_to, key=lambda one: one.place)  # the log may be ahead of the fleet

    async def before(self, start: str | None, end: str | None, up_to: Moment) -> int:
        """The place after which such a range is read. One that begins at a place has the record of that place."""
        after = await self.beginning(start, end, up_to)
        return after.place - (start is not None and start.isdecimal())

    async def view(self, at: str | None = None, least: int | None = None) -> ViewAt:
        """The entities at a moment; raises `NotFound.place_ahead`, `NameUnknown`.

        at: None for the present. least: a place that the view must have reached.
        """
        if least is not None:
            await (await self.reaching()).reach(least, REACH)
        if at in (None, NOW):
            return self.at(await self.fleet(), None)
        moment = await self.moment(at)
        check_reached(at, moment)
        return self.at(await self.fleet(), moment)

    def at(self, fleet: LiveFleet, moment: Moment | None) -> ViewAt:
        """The entities at a moment; None: now."""
        if moment is None:
            return ViewAt(FleetMoment(self.installation, fleet))
        if (kept := self._views.get(moment.place)) is not None:
            return ViewAt(kept, is_past=True)
        if moment.place == fleet.place:
            return ViewAt(FleetMoment(self.installation, fleet), is_past=True)
        return ViewAt(AsOf(self.installation, moment), is_past=True)

    def keep(self, view: ViewAt) -> None:
        """Keep a view of the fleet for the next page of its list. The log has it too, but reading it takes longer."""
        if isinstance(view.states, FleetMoment):
            self._views[view.moment.place] = view.states
            self._views.move_to_end(view.moment.place)
        while len(self._views) > VIEWS:
            self._views.popitem(last=False)

    async def _let_go(self) -> None:
        """Let views go that hold too many changes, for ever."""
        while True:
            await asyncio.sleep(LOOK)
            self._views = OrderedDict((place, one) for place, one in self._views.items() if one.kept <= CHANGED)

    def close(self) -> None:
        """Let all streams end."""
        if self._parts is not None:
            self._parts.hub.close()

    async def _follow(self) -> None:
        """Connect, find the installation, load the fleet and follow the log."""
        async with Wire.open(self.settings, name="phaseline-serve", patient=True) as wire:
            session = Session(wire, self.settings, self.kinds, default_source("http"))
            installation = await self._found(session)
            follower = Follower(installation)
            hub, history = Hub(self.kinds, follower, self.limits), HistoryLoader(follower, self._most)
            follower.takers += [history.take, hub.take]
            pulse = Pulse(wire, installation.layout.log, self.limits)
            pulse.on_change(hub.wake)
            self._parts = _Connected(installation, Client(session), follower, hub, history, pulse)
            works = (
                _followed(follower),
                hub.run(),
                history.run(),
                pulse.listen(),
                pulse.look_for_leader(),
                self._let_go(),
            )
            tasks = [asyncio.create_task(work) for work in works]
            try:
                ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
                for task in ended:
                    task.result()
            finally:
                hub.close()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _found(self, session: Session) -> Installation:
        """The installation, as soon as it is there."""
        is_told = False
        while True:
            try:
                return await session.installation()
            except (NoAnswer, NotProvisioned) as error:
                self._waits_for = str(error)
                if not is_told:
                    log.warning("serve_waits", error=self._waits_for)
                is_told = True
                await asyncio.sleep(RETRY)

    async def _run(self) -> None:
        """Follow for ever. After what can pass, such as an election, and after an error of ours it begins anew."""
        while True:
            try:
                await self._follow()
            except PhaselineError as error:
                if not can_pass(error):
                    log.error("serve_failed", error=str(error))  # noqa: TRY400  # the error says all
                    self._failure = error
                    return
                log.warning("serve_waits", error=str(error))
                self._waits_for, pause = str(error), RETRY
            except Exception as error:
                log.exception("serve_broken", error=repr(error))
                self._waits_for, pause = (
                    f"it cannot be read ({outgoing.problem(error)}): the log says more",
                    self.limits.mending,
                )
            self._parts = None
            await asyncio.sleep(pause)


async def _followed(follower: Follower) -> None:
    """Follow the log; raises the error that ends it."""
    await follower.run()
    if follower.failure is not None:
        raise follower.failure


@asynccontextmanager
async def running(
    settings: Settings, kinds: Kinds, history: int = DEFAULT_HISTORY, limits: HttpLimits = LIMITS
) -> AsyncIterator[Service]:
    """A service that follows the installation while the block runs."""
    service = Service(settings, kinds, history, limits)
    task = asyncio.create_task(service._run())  # noqa: SLF001  # a part of this module
    try:
        yield service
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
