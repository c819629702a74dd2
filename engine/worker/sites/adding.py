"""Adding an edge to a running installation, mending one, and removing one.

Belongs here: the order of the steps. A call may be interrupted after any of them; the next call makes what is missing.
Does not: the configurations (`edge_streams`), how edges are (`edge_state`).
"""

import asyncio
import base64
import time
from typing import Any, NamedTuple

from phaseline.engine.nats.direct_get import NO_MESSAGE, origin
from phaseline.engine.nats.stream_settings.report import STREAM_NOT_FOUND
from phaseline.engine.nats.streams import Layout, inspect
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import DEFAULT_WINDOW, Settings
from phaseline.engine.worker.sites import edge_streams, event_sources, uplink
from phaseline.engine.worker.sites.edge_names import FORMER_CONSUMERS, EdgeNames, edge_of, tree_subjects, trees_of
from phaseline.engine.worker.sites.uplink import Uplink
from phaseline.schemas.errors import ApiFailed, NameUnknown, NoAnswer, SetupError

CONSUMER_NOT_FOUND = 10014
NOT_FOUND = (STREAM_NOT_FOUND, CONSUMER_NOT_FOUND, NO_MESSAGE)
PAUSE = 0.2
ASKING = "phaseline_asking"
"""The key in the metadata of an inlet that is between two changes of `ask_again`."""
SAYS_SO = 2
"""How often a stream has to say the same before it is believed that nothing more comes."""


class StoreOptions(NamedTuple):
    """What the stream at an edge should be. None keeps what is there."""

    trees: tuple[str, ...] | None = None
    max_bytes: int | None = None


MAX_BYTES = 1 << 30
"""How many bytes a store has, unless told otherwise."""


class AddedEdge(NamedTuple):
    """What `add` found and made. connected: whether the edge answered, so that its store is ready."""

    edge: str
    trees: tuple[str, ...]
    max_bytes: int
    changed: list[str]
    connected: bool


async def add(wire: Wire, settings: Settings, name: str, wanted: StoreOptions) -> AddedEdge:
    """Add the edge, or make what it lacks. Waits for the edge for as long as for a request.

    Raises `BadSetting`, `NotProvisioned`, `SetupError.edge_account_missing`, and what `Wire` raises.
    """
    layout, names = await inspect(wire, settings), EdgeNames(settings.prefix, name)
    way = await uplink.find(wire, names)
    events = (await wire.api(f"STREAM.INFO.{layout.events}"))["config"]
    changed = list[str]()
    found = await _former_trees(way, events)
    trees = wanted.trees or found or (name,)
    tree_subjects(settings.prefix, trees)  # before anything is changed
    changed += await _inlet(way, events)
    if found != trees:
        changed.append(f"trees {', '.join(trees)}")
    source = edge_streams.inlet_source(names, trees, layout.partitions, way.account_api)
    if await event_sources.take_in(wire, layout, source):
        changed.append(f"source of {layout.events}")
    await _without_former(way.at_hub, names.inlet)
    taken = await _taken(way) or int((events.get("metadata") or {}).get(names.note, 0))
    made = await _store(way, settings, trees, wanted.max_bytes, taken)
    if made is not None:
        changed += await _connect(way, made, taken)
        changed += made.changed
    return AddedEdge(name, trees, made.max_bytes if made else wanted.max_bytes or MAX_BYTES, changed, made is not None)


async def _inlet(way: Uplink, events: dict[str, Any]) -> list[str]:
    """Make or change the stream at the hub. events: EVENTS."""
    name, wanted = way.names.inlet, edge_streams.inlet(way.names, events)
    found = await _config(way.at_hub, f"STREAM.INFO.{name}")
    if found is None:
        await way.at_hub(f"STREAM.CREATE.{name}", wanted)
        return [f"stream {name}"]
    changed = {"num_replicas": "replicas", "retention": "retention", "duplicate_window": "dedupe window"}
    differs = [key for key in changed if found[key] != wanted[key]]
    if differs:
        await way.at_hub(f"STREAM.UPDATE.{name}", {**found, **{key: wanted[key] for key in differs}})
    return [f"{changed[key]} of {name}" for key in differs]


class _Store(NamedTuple):
    changed: list[str]
    max_bytes: int
    renewed: bool
    """Whether there was no such stream."""
    last: int
    """The sequence of its last message."""


async def _taken(way: Uplink) -> int:
    """The sequence in the store of the last message that the inlet has from there; 0 if it has none."""
    last = (await way.at_hub(f"STREAM.INFO.{way.names.inlet}"))["state"]["last_seq"]
    found = await _asked(way.at_hub, f"STREAM.MSG.GET.{way.names.inlet}", {"seq": last}) if last else None
    return 0 if found is None else origin(base64.b64decode(found["message"].get("hdrs", "")))


async def _taken_at_last(way: Uplink) -> int:
    """The same, of an inlet whose source is gone, once it has said so twice.

    A message that the servers of a cluster were agreeing on comes after that. It must not come again.
    """
    found, times = await _taken(way), 1
    while times < SAYS_SO:
        await asyncio.sleep(PAUSE)
        before, found = found, await _taken(way)
        times = times + 1 if found == before else 1
    return found


async def _last(way: Uplink) -> int:
    """The sequence of the last message of the store. In an older copy of it, what the hub never had may come before."""
    found = await way.at_edge(f"STREAM.INFO.{way.names.store}")
    with way.understood():
        return int(found["state"]["last_seq"])


async def _store(
    way: Uplink, settings: Settings, trees: tuple[str, ...], max_bytes: int | None, taken: int
) -> _Store | None:
    """Make or change the stream at the edge; None if the edge is away.

    taken: up to where the hub took from it, or from one before it. A new one goes on from there.
    """
    names, limit = way.names, time.monotonic() + settings.request_timeout
    while True:
        try:
            with way.understood():
                info = await _asked(way.at_edge, f"STREAM.INFO.{names.store}") or {"config": {}, "state": {}}
                found, last = dict(info["config"]), int(info["state"].get("last_seq", 0))
            break
        except NoAnswer:
            if time.monotonic() > limit:
                return None
            await asyncio.sleep(PAUSE)
    with way.understood():
        had = int(found.get("max_bytes", MAX_BYTES))
    config = edge_streams.store(names, trees, max_bytes or had, settings.dedupe_window or DEFAULT_WINDOW)
    changed = list[str]()
    if not found:
        await way.at_edge(f"STREAM.CREATE.{names.store}", {**config, "first_seq": taken + 1})
        changed.append(f"stream {names.store} at the edge")
    elif any(found.get(key) != config[key] for key in ("subjects", "max_bytes", "duplicate_window")):
        await way.at_edge(f"STREAM.UPDATE.{names.store}", {**found, **config})
        changed.append(f"stream {names.store} at the edge")
    return _Store(changed, config["max_bytes"], not found, last)


async def _connect(way: Uplink, store: _Store, taken: int) -> list[str]:
    """Let the inlet take from the store. From a new one it begins anew, because the server would wait for the old one.

    taken: up to where an earlier inlet took. Of that the store may hold something, which must not come again.
    """
    subject = f"STREAM.UPDATE.{way.names.inlet}"
    config = (await way.at_hub(f"STREAM.INFO.{way.names.inlet}"))["config"]
    wanted = edge_streams.store_source(way.names)
    is_there = bool(config.get("sources"))
    is_former = is_there and not event_sources.has_sources([wanted], config["sources"])
    is_older = store.last < taken and not store.renewed
    if is_older:  # its next number is one that the hub has had
        await way.at_edge(f"STREAM.PURGE.{way.names.store}", {"seq": taken + 1})
        store.changed.append(f"numbers of {way.names.store} at the edge, from {taken + 1}")
    is_other = store.renewed or is_older or is_former
    if is_there and is_other:
        await way.at_hub(subject, {**config, "sources": []})
        taken = await _taken_at_last(way)
    await _without_former(way.at_edge, way.names.store)
    if (is_former or not is_there) and 0 < taken <= store.last:
        await way.at_edge(f"STREAM.PURGE.{way.names.store}", {"seq": taken + 1})
    if not is_there or is_other:
        await way.at_hub(subject, {**config, "sources": [wanted]})
        return [f"source of {way.names.inlet}"]
    return []


async def ask_again(way: Uplink) -> bool:
    """Let the inlet ask its edge for events now; the server would wait. Returns whether it has a source.

    The server deletes its consumer of the store with the source. A new one knows nothing of what the inlet has, and
    the store would hold that for ever: so it goes here. But nothing of a store that is older than what the inlet has.
    Whoever calls this holds the lock of the sources. Between the two changes the inlet has no source, and a note that
    it is to have one: the next call mends what a kill has left.
    """
    subject = f"STREAM.UPDATE.{way.names.inlet}"
    config, others, is_asking = await _inlet_as_it_is(way)
    if config.get("sources"):
        await way.at_hub(subject, {**config, "sources": [], "metadata": {**others, ASKING: "1"}})
    elif not is_asking:
        return False
    taken = await _taken(way)
    if 0 < taken <= await _last(way):
        await way.at_edge(f"STREAM.PURGE.{way.names.store}", {"seq": taken + 1})
    await way.at_hub(subject, {**config, "sources": [edge_streams.store_source(way.names)], "metadata": others})
    return True


async def remove(wire: Wire, settings: Settings, name: str) -> list[str]:
    """Take the edge out of the installation: its source and its inlet. Its store stays where it is.

    Returns what was removed. Raises `NameUnknown`, `SetupError` if EVENTS does not take what the
    inlet has.
    """
    layout, names = await inspect(wire, settings), EdgeNames(settings.prefix, name)
    if name not in (known := await added(wire, layout)):
        raise NameUnknown.among("edge", name, known) if known else SetupError.no_edges(edge=name)
    way = await uplink.find(wire, names)
    inlet = await _config(way.at_hub, f"STREAM.INFO.{names.inlet}")
    note = None
    if inlet is not None:
        async with event_sources.locked(wire, layout.events):
            await _without_source(way)
        await _drained(way, layout, settings.request_timeout)
        if taken := await _taken(way):
            note = {names.note: str(taken)}
    await event_sources.take_in(wire, layout, None, names.inlet, note)
    removed = [f"source of {layout.events}"]
    if inlet is not None:
        await way.at_hub(f"STREAM.DELETE.{names.inlet}")
        removed.append(f"stream {names.inlet}")
    return removed


async def _without_source(way: Uplink) -> None:
    """Let the inlet take nothing more, whatever a worker does."""
    config, others, _ = await _inlet_as_it_is(way)
    await way.at_hub(f"STREAM.UPDATE.{way.names.inlet}", {**config, "sources": [], "metadata": others})


async def _inlet_as_it_is(way: Uplink) -> tuple[dict[str, Any], dict[str, str], bool]:
    """The configuration of the inlet, its metadata without the note of `ask_again`, and whether it has that note."""
    config = (await way.at_hub(f"STREAM.INFO.{way.names.inlet}"))["config"]
    metadata = config.get("metadata") or {}
    return config, {key: value for key, value in metadata.items() if key != ASKING}, ASKING in metadata


async def _drained(way: Uplink, layout: Layout, timeout: float) -> None:
    """Wait until EVENTS has taken all that the inlet has: the store at the edge does not have it any more.

    It has said so twice: the servers of a cluster agree on a message after the first of them has counted it.
    """
    limit, times = time.monotonic() + timeout, 0
    while times < SAYS_SO:
        count = await _not_taken(way, layout)
        if count and time.monotonic() > limit:
            raise SetupError.inlet_holds_events(stream=way.names.inlet, count=count)
        times = 0 if count else times + 1
        await asyncio.sleep(PAUSE)


async def _not_taken(way: Uplink, layout: Layout) -> int:
    """How many messages the inlet has behind the last one that EVENTS has, at most; 0 if it wants none of them."""
    source = (await added(way.wire, layout)).get(way.names.name)
    if source is None:
        return 0
    for subject in tree_subjects(layout.prefix, source.trees):
        question = {"seq": source.place + 1, "next_by_subj": subject}
        if await _asked(way.at_hub, f"STREAM.MSG.GET.{way.names.inlet}", question):
            info = await way.at_hub(f"STREAM.INFO.{way.names.inlet}")
            return int(info["state"]["last_seq"]) - source.place
    return 0


class EdgeSource(NamedTuple):
    """The source by which EVENTS takes from an inlet. is_former: whether an earlier version has made it.

    place: the sequence in the inlet of the last message that EVENTS has from there. lag: how many more there are.
    """

    trees: tuple[str, ...]
    is_former: bool
    place: int
    lag: int
    error: str


async def added(wire: Wire, layout: Layout) -> dict[str, EdgeSource]:
    """The edges of an installation, by name."""
    info = await wire.api(f"STREAM.INFO.{layout.events}")
    live = {one["name"]: one for one in info.get("sources") or ()}
    found = {}
    for source in info["config"].get("sources") or ():
        edge = edge_of(layout.prefix, source["name"])
        if edge is not None:
            now = live.get(source["name"], {})
            found[edge] = EdgeSource(
                edge_streams.trees_taken(layout.prefix, source), edge_streams.is_former(source),
                int(now.get("seq", 0)), int(now.get("lag", 0)), str((now.get("error") or {}).get("description", "")),
            )  # fmt: skip
    return found


async def _former_trees(way: Uplink, events: dict[str, Any]) -> tuple[str, ...]:
    """The trees that an edge has; none if it has not been added. events: EVENTS."""
    sources: list[dict[str, Any]] = events.get("sources") or []
    source = next((one for one in sources if one["name"] == way.names.inlet), {})
    if not edge_streams.is_former(source):
        return edge_streams.trees_taken(way.names.prefix, source)
    found = await _config(way.at_hub, f"CONSUMER.INFO.{way.names.inlet}.{source['consumer']['name']}") or {}
    one = found.get("filter_subject")
    return trees_of(way.names.prefix, [one] if one else found.get("filter_subjects") or [])


async def _without_former(api: Any, stream: str) -> None:
    """Delete the consumer of a stream that earlier versions made: a store has only one."""
    for name in FORMER_CONSUMERS:
        await _asked(api, f"CONSUMER.DELETE.{stream}.{name}")


async def _config(api: Any, question: str) -> dict[str, Any] | None:
    """The configuration of a stream or consumer; None if it does not exist."""
    found = await _asked(api, question)
    return None if found is None else found["config"]


async def _asked(api: Any, question: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """What the server says of a stream, a consumer or a message; None if it does not exist."""
    try:
        found: dict[str, Any] = await api(question, body)
    except ApiFailed as error:
        if error.err_code in NOT_FOUND:
            return None
        raise
    return found
