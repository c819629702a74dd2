"""How each edge of an installation is: connected, away, its store full or lost; and how far behind the hub is.

Belongs here: asking hub and edges, and what the answers mean. Does not: how it is printed (`surfaces.cli.edge`).
"""

import asyncio
import time
from collections import Counter
from typing import Any, Literal, NamedTuple

from phaseline.engine.log import checkpoint
from phaseline.engine.log.checkpoint import EdgeOrigin
from phaseline.engine.nats.streams import Layout, inspect
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.worker.sites import adding, uplink
from phaseline.engine.worker.sites.adding import NOT_FOUND, EdgeSource
from phaseline.engine.worker.sites.edge_names import EdgeNames
from phaseline.engine.worker.sites.edge_streams import INLET_BYTES, RETENTION, is_former
from phaseline.engine.worker.sites.uplink import Uplink
from phaseline.schemas.errors import ApiFailed, NoAnswer, SetupError
from phaseline.schemas.records import nanoseconds
from phaseline.schemas.subjects import Subjects

Condition = Literal["connected", "away", "store lost", "full", "filling", "failing", "incomplete"]
WAITS: tuple[Condition, ...] = ("away", "filling")
"""The states in which an edge keeps its events and nothing is lost. The others, but `connected`, need somebody."""
FULL, FILLING = 0.98, 0.8
"""Shares of a store's bytes. A message that does not fit is refused before the last byte is used."""
ASK = 2.0
"""Seconds that an edge has to answer."""
AT_ONCE = 50
"""How many edges are asked at the same time."""
NOT_KEPT = (
    "no worker removes from its inlet what EVENTS has: update the workers, and let their user publish "
    "{prefix}.edge.*.api.STREAM.PURGE.*, as `phaseline admin accounts` prints it"
)
FORMER = "an earlier version has added it, so a crash of the hub may double or lose its last events"
CUT_BACK = (
    "its store is an older one: its last event has the number {last}, and the hub has had {taken}, so the next ones "
    "look like events that it has: stop the agents there, and {again}"
)
EMPTY_TIME = "0001-01-01T00:00:00Z"


class EdgeState(NamedTuple):
    """One edge. waiting: the events that the hub does not have yet; None if the edge does not say. Times are in ns.

    last_event: when the hub took the last one. last_contact: when the hub last heard of the edge; None if not since
    the hub's server started. used, room: bytes of the store; None if the edge does not say. repeats: how many events
    EVENTS took twice, and workers removed.
    """

    edge: str
    trees: tuple[str, ...]
    state: Condition
    advice: str
    waiting: int | None = None
    last_event: int | None = None
    last_contact: int | None = None
    used: int | None = None
    room: int | None = None
    repeats: int = 0


async def edges(wire: Wire, settings: Settings) -> list[EdgeState]:
    """All edges, by name. Raises `NotProvisioned`, and what `Wire` raises."""
    layout = await inspect(wire, settings)
    found, turns = await adding.added(wire, layout), asyncio.Semaphore(AT_ONCE)
    repeats = await _repeats(wire, layout, turns) if found else Counter[str]()

    async def one(name: str, source: EdgeSource) -> EdgeState:
        async with turns:
            state = await _edge(wire, EdgeNames(settings.prefix, name), source)
            return state._replace(repeats=repeats[name])

    return list(await asyncio.gather(*(one(name, found[name]) for name in sorted(found))))


async def _repeats(wire: Wire, layout: Layout, turns: asyncio.Semaphore) -> Counter[str]:
    """By edge, how many events came twice, as the partitions have counted them."""
    subjects = Subjects(layout.prefix)

    async def one(number: int) -> dict[str, EdgeOrigin]:
        async with turns:
            last = await checkpoint.last(wire, layout.log, subjects.checkpoint(number))
            return {} if last is None else last.origins

    counts = Counter[str]()
    for origins in await asyncio.gather(*map(one, range(layout.partitions))):
        counts.update({edge: origin.repeats for edge, origin in origins.items()})
    return counts


class _Hub(NamedTuple):
    """What the hub knows of an edge. taken: the sequence in the store up to which it has the events."""

    trees: tuple[str, ...]
    taken: int
    behind: int
    last_event: int | None
    last_contact: int | None
    error: str

    @classmethod
    def read(cls, inlet: dict[str, Any], source: EdgeSource) -> "_Hub":
        """inlet: its information."""
        last = inlet["state"].get("last_ts", EMPTY_TIME)
        up = (inlet.get("sources") or [{}])[0]
        active = int(up.get("active", -1))
        return cls(
            source.trees,
            int(up.get("seq", 0)),
            source.lag,
            None if last == EMPTY_TIME else nanoseconds(last),
            None if active < 0 else time.time_ns() - active,
            str((up.get("error") or {}).get("description", "")) or source.error,
        )


async def _edge(wire: Wire, names: EdgeNames, source: EdgeSource) -> EdgeState:
    again = f"run `phaseline admin sites add {names.name}` again"
    try:
        way = await uplink.find(wire, names)
        inlet = await way.at_hub(f"STREAM.INFO.{names.inlet}")
    except SetupError as error:
        if not SetupError.edge_account_missing.made(error):
            raise
        return EdgeState(names.name, (), "incomplete", str(error))
    except ApiFailed as error:
        if error.err_code not in NOT_FOUND:
            raise
        return EdgeState(names.name, (), "incomplete", f"the hub has no inlet for it: {again}")
    hub = _Hub.read(inlet, source)
    ups = inlet["config"].get("sources") or ()
    if inlet["config"]["retention"] != RETENTION or source.is_former or any(map(is_former, ups)):
        return EdgeState(names.name, hub.trees, "incomplete", f"{FORMER}: {again}", last_event=hub.last_event)
    if not source.lag and int(inlet["state"]["bytes"]) > INLET_BYTES // 2:
        hub = hub._replace(error=hub.error or NOT_KEPT.format(prefix=names.prefix))
    known = EdgeState(names.name, hub.trees, "away", "", None, hub.last_event, hub.last_contact)
    return await _asked(way, known, hub, again)


async def _asked(way: Uplink, known: EdgeState, hub: _Hub, again: str) -> EdgeState:
    """The state of an edge, after it was asked."""
    names = way.names
    try:
        store = await way.at_edge(f"STREAM.INFO.{names.store}", timeout=ASK)
        with way.understood():
            state, config = store["state"], store["config"]
            held, used, room = int(state["messages"]), int(state["bytes"]), int(config["max_bytes"])
            last, share = int(state["last_seq"]), used / room if room > 0 else 0.0
            waiting = min(held, max(0, last - hub.taken)) + hub.behind
    except NoAnswer:
        return known._replace(advice="look at its server and its uplink; it keeps its events meanwhile")
    except ApiFailed as error:
        if error.err_code not in NOT_FOUND:
            return known._replace(state="failing", advice=error.description)
        lost = f"its server has no store, so agents there cannot publish; what the hub had not taken is gone: {again}"
        never = f"its server has no store yet: {again}"
        return known._replace(state="store lost", advice=lost if hub.taken else never, last_contact=time.time_ns())
    except SetupError as error:
        if not SetupError.edge_answer_unreadable.made(error):
            raise
        return known._replace(state="failing", advice=f"what its server answers is no answer: {error}")
    known = known._replace(waiting=waiting, used=used, room=room, last_contact=time.time_ns())
    if last < hub.taken:
        return known._replace(state="store lost", advice=CUT_BACK.format(last=last, taken=hub.taken, again=again))
    if share >= FULL:
        more = f"`phaseline admin sites add {names.name} --max-bytes BYTES` gives it more room"
        return known._replace(state="full", advice=f"its store refuses events; {more}")
    if hub.error:
        return known._replace(state="failing", advice=hub.error)
    if share >= FILLING:
        return known._replace(state="filling", advice="its store is nearly full: look why the hub takes so little")
    return known._replace(state="connected")
