"""The five streams of an installation: creating them, finding them (docs/design.md, Streams).

Belongs here: their names, what is wanted of each, and the feed (in which format workers write records), which
the metadata of EVENTS hold. Does not: how an existing one differs from that, and changing it
(`stream_settings`), reading (`reader`), committing (`worker.ownership.fenced_commit`).
"""

import asyncio
from collections.abc import Collection, Iterable
from typing import Any, Literal, cast

import msgspec
from msgspec.structs import replace

from phaseline.engine import logs
from phaseline.engine.nats.direct_get import last_message_from_leader, origin
from phaseline.engine.nats.stream_settings import report
from phaseline.engine.nats.stream_settings.fill import KEPT_BYTES
from phaseline.engine.nats.stream_settings.report import StreamReport
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import DEFAULT_PARTITIONS, DEFAULT_WINDOW, FEEDS, Feed, Settings
from phaseline.machines.language.product import CopiedEvent
from phaseline.schemas.errors import (
    ApiFailed,
    NoAnswer,
    NoJetStream,
    NoSuchStream,
    NotPermitted,
    NotProvisioned,
    PhaselineError,
    SetupError,
)
from phaseline.schemas.records import SECOND

MINIMUM_SERVER = (2, 15)
"""In 2.14 a consumer with several filters skips messages of a batch: watches and outcomes would miss records."""
NAME_IN_USE = 10058
LOOK = 1.0
"""Seconds that a publisher waits to hear why no stream takes its event, before it tries again."""
PARTITIONS = "phaseline.partitions"
AS_LOG = ("num_replicas", "storage", "placement")
"""What a stream that is made beside an existing LOG has like it, unless the settings say otherwise."""


FEED = "phaseline.feed"
BOTH: Literal["both"] = "both"
"""A feed that earlier versions had: msgpack, and beside each record a copy in JSON, which all readers skip."""
KeptFeed = Feed | Literal["both"]
"""What an installation may have kept."""
FEED_OF_RUNNING = "workers that run now keep the format that they started with: restart them"
log = logs.get_logger(__name__)


class Layout(msgspec.Struct, frozen=True):
    """The prefix of an installation, its number of partitions, the names of its streams, and the format of its feed.

    partitions: the number that it was made with, and keeps: it stands in the transform of subjects.
    """

    prefix: str
    partitions: int
    events: str
    log: str
    state: str
    lease: str
    live: str
    feed: KeptFeed = "json"

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of all streams."""
        return self.events, self.log, self.state, self.lease, self.live


def layout_of(settings: Settings, partitions: int, form: KeptFeed = "json") -> Layout:
    """The layout of an installation with that many partitions."""
    events, log, state, lease, live = (settings.stream(role) for role in ("EVENTS", "LOG", "STATE", "LEASE", "LIVE"))
    return Layout(settings.prefix, partitions, events, log, state, lease, live, form)


async def provision(wire: Wire, settings: Settings, copies: Collection[CopiedEvent] = ()) -> Layout:
    """Create the streams that are absent, and leave the others unchanged. Several workers can do so at once.

    copies: the events that LIVE copies. Without any, LIVE is left to others.

    If the settings want another feed than the installation has, it has that one from now on, unless the former one was
    removed (`worker.ownership.earlier_builds`). Raises `SetupError` if it has another number of partitions than the
    settings want, and `SetupError.streams_differ` if a worker cannot work with it.
    """
    layout = layout_of(settings, settings.partitions or DEFAULT_PARTITIONS, settings.feed or "json")
    found = await _own_events(wire, layout)
    if await _config(wire, layout.log) is None:
        await _create(wire, layout.log, {**log_config(settings), **await _first_place(wire, layout)})
    as_log = {name: one for name, one in (await _config(wire, layout.log) or {}).items() if name in AS_LOG}
    if found is None:
        window = {"duplicate_window": int(DEFAULT_WINDOW * SECOND)}
        await _create(wire, layout.events, {**as_log, **window, **events_config(settings, layout)})
        found = await _config(wire, layout.events) or {}
    layout = layout_of(settings, _partitions(found, settings), kept_feed(found))
    if settings.feed is not None and layout.feed not in (settings.feed, BOTH):
        await change_feed(wire, layout.events, found, settings.feed)
        layout = replace(layout, feed=settings.feed)
    for name, config in stream_configs(settings, layout, copies).items():
        if (present := await _config(wire, name)) is None:
            await _create(wire, name, {**as_log, **config})
        else:
            report.check(name, present, config, is_copy=name == layout.live)
    return layout


def stream_configs(settings: Settings, layout: Layout, copies: Collection[CopiedEvent]) -> dict[str, dict[str, Any]]:
    """By name, what this version and the settings want of each stream. What they leave open is not in it."""
    return {
        layout.events: events_config(settings, layout),
        layout.log: log_config(settings),
        layout.state: state_config(settings, layout),
        layout.lease: lease_config(settings),
        **({layout.live: live_config(settings, layout, copies)} if copies else {}),
    }


async def reports(
    wire: Wire, settings: Settings, layout: Layout, copies: Collection[CopiedEvent]
) -> list[StreamReport]:
    """All streams as they are, with what differs from what is wanted. One that does not exist is left out."""
    found = [
        await report.report_on(wire, name, config) for name, config in stream_configs(settings, layout, copies).items()
    ]
    return [one for one in found if one is not None]


async def _first_place(wire: Wire, layout: Layout) -> dict[str, int]:
    """Where a new LOG starts if the former one was deleted: after all that STATE has copied."""
    if await _config(wire, layout.state) is None:
        return {}
    last = await last_message_from_leader(wire, layout.state, ">")
    return {} if last is None else {"first_seq": origin(last.block) + 1}


async def inspect(wire: Wire, settings: Settings) -> Layout:
    """The layout of an existing installation; raises `NotProvisioned` if there is none, and `SetupError`."""
    wire.require(*MINIMUM_SERVER)
    layout = layout_of(settings, 1)
    found = await _own_events(wire, layout)
    others = asyncio.gather(_config(wire, layout.state), _is_there(wire, layout.log))
    if not all(await others) or found is None:
        raise await _lacking(wire)
    return layout_of(settings, _partitions(found, settings), kept_feed(found))


async def why_unstored(wire: Wire, error: NoSuchStream) -> PhaselineError:
    """Why no stream takes events: no installation, no JetStream. `error` itself where that cannot be known now.

    While the replicas of EVENTS elect a leader, nobody answers: the publisher must not spend all its patience here.
    """
    try:
        async with asyncio.timeout(LOOK):
            await wire.api(f"STREAM.INFO.{wire.settings.stream('EVENTS')}")
    except NoJetStream as found:
        return found
    except ApiFailed as found:
        if ApiFailed.jet_stream_off.made(found):
            return found
        return await _missing(wire) if found.err_code == report.STREAM_NOT_FOUND else error
    except (NoAnswer, NotPermitted, TimeoutError):
        return error
    return error


async def _missing(wire: Wire) -> PhaselineError:
    """Why there is no EVENTS: the server is that of an edge, or there is no installation."""
    domains = wire.settings.stream("edge-")
    try:
        domain = str((await wire.api("INFO")).get("domain", ""))
    except PhaselineError:
        domain = ""
    if domain.startswith(domains):
        return SetupError.edge_store_missing(edge=domain.removeprefix(domains))
    return await _lacking(wire)


async def _lacking(wire: Wire) -> PhaselineError:
    """The error for an installation that lacks streams: some that were deleted, or all."""
    prefix, names = wire.settings.prefix, [wire.settings.stream(one) for one in ("EVENTS", "LOG", "STATE")]
    try:
        there = [name for name in names if await _is_there(wire, name)]
    except PhaselineError:
        there = []
    if not there or there == names:
        return NotProvisioned(prefix=prefix)
    missing = " and ".join(name for name in names if name not in there)
    return NotProvisioned.streams_missing(prefix=prefix, there=" and ".join(there), missing=missing)


def _partitions(config: dict[str, Any], settings: Settings) -> int:
    """The number of partitions, from the configuration of EVENTS; raises `SetupError`."""
    subject = f"{settings.prefix}.events.*.>"
    if config.get("subjects") != [subject]:
        owner = str(config.get("subjects", ["?"])[0]).partition(".events.")[0]
        raise SetupError.prefix_taken(stream=settings.stream("EVENTS"), owner=owner, prefix=settings.prefix)
    found = partitions_of(config)
    if settings.partitions not in (None, found):
        raise SetupError.partitions_differ(prefix=settings.prefix, existing=found, wanted=settings.partitions)
    return found


def partitions_of(config: dict[str, Any]) -> int:
    """How many partitions an installation was made with, from the configuration of EVENTS; 0 if it does not say."""
    return int((config.get("metadata") or {}).get(PARTITIONS, 0))


async def _own_events(wire: Wire, layout: Layout) -> dict[str, Any] | None:
    """The configuration of EVENTS; None if it does not exist. Raises `SetupError.is_second_site` for a mirror."""
    found = await _config(wire, layout.events)
    if found is not None and found.get("mirror"):
        raise SetupError.is_second_site(stream=layout.events)
    return found


async def _config(wire: Wire, name: str) -> dict[str, Any] | None:
    """The configuration of a stream; None if it does not exist."""
    info = await report.info_of(wire, name)
    return None if info is None else info["config"]


async def _is_there(wire: Wire, name: str) -> bool:
    """Whether a stream exists; also where this user may not ask."""
    try:
        return await report.info_of(wire, name) is not None
    except NotPermitted:
        return True


async def _create(wire: Wire, name: str, config: dict[str, Any]) -> None:
    try:
        await wire.api(f"STREAM.CREATE.{name}", {"name": name, "storage": "file", "num_replicas": 1, **config})
    except ApiFailed as error:
        if error.err_code != NAME_IN_USE:
            raise


def _common(settings: Settings, max_bytes: int | None = None) -> dict[str, Any]:
    """What all streams have. A stream at its limit refuses messages: it must not drop what it holds."""
    place = {"cluster": settings.placement_cluster, "tags": settings.placement_tags and list(settings.placement_tags)}
    chosen = {
        "storage": settings.storage,
        "num_replicas": settings.replicas,
        "max_bytes": max_bytes if max_bytes is None else max_bytes or -1,
        "placement": None if (*place.values(),) == (None, None) else {name: one for name, one in place.items() if one},
    }
    return {"allow_direct": True, "discard": "new", **{name: one for name, one in chosen.items() if one is not None}}


def events_config(settings: Settings, layout: Layout) -> dict[str, Any]:
    """EVENTS: the events of publishers. On storing one the server computes its partition from the tree's root."""
    prefix, partitions = settings.prefix, layout.partitions
    partitioned = f"{{{{partition({partitions},1)}}}}.{{{{wildcard(1)}}}}.>"
    inbox, due = f"{prefix}.inbox.{partitioned}", f"{prefix}.due.{partitioned}"
    times = {"duplicate_window": settings.dedupe_window, "max_age": settings.events_max_age}
    return {
        **_common(settings, settings.events_max_bytes),
        **{name: int(one * SECOND) for name, one in times.items() if one is not None},
        "subjects": [f"{prefix}.events.*.>"],
        "subject_transform": {"src": f"{prefix}.events.*.>", "dest": inbox},
        "metadata": {PARTITIONS: str(partitions), FEED: layout.feed},
        # Due timers arrive like events, on a subject that only the server can write. Where EVENTS has no copy of one,
        # and its first messages are gone, the server would skip those that came before its last message.
        "sources": [
            {
                "name": layout.log,
                "opt_start_seq": 1,
                "subject_transforms": [{"src": f"{prefix}.fired.*.>", "dest": due}],
            }
        ],
    }


def log_config(settings: Settings) -> dict[str, Any]:
    """LOG: the records. The server republishes transitions and rejections, and no other subject, as the live feed.

    It is the truth, so nothing of it may be dropped by a limit. At a limit of the server a stream with schedules drops
    messages. So it has none: workers keep to the one in its metadata (`stream_settings.stream_watch`).
    """
    prefix, most = settings.prefix, settings.log_max_bytes
    return {
        **_common(settings),
        "discard": "old",
        "max_age": 0,
        "max_bytes": -1,
        "max_msgs": -1,
        **({} if most is None else {"metadata": {KEPT_BYTES: str(most)}}),
        "subjects": [f"{prefix}.{branch}.>" for branch in ("log", "mark", "plan", "tables", "timer", "fired")],
        "allow_atomic": True,
        "allow_rollup_hdrs": True,
        "allow_msg_schedules": True,
        "republish": {"src": f"{prefix}.log.*.*.>", "dest": f"{prefix}.{{{{wildcard(2)}}}}.>"},
    }


def state_config(settings: Settings, layout: Layout) -> dict[str, Any]:
    """STATE: a copy of the last record of each entity, and of the checkpoint of each partition."""
    prefix, partition = settings.prefix, f"{settings.prefix}.state.{{{{wildcard(2)}}}}"
    # One filter selects transitions, marks and checkpoints. With several filters the server searches all subjects of a
    # block for each message, which takes more time than everything else together.
    transforms = [{"src": f"{prefix}.*.*.transition.*.*.*.>", "dest": f"{partition}.{{{{wildcard(3)}}}}.>"}]
    return {
        **_common(settings, settings.state_max_bytes),
        "max_age": 0,
        "max_msgs": -1,
        "max_msgs_per_subject": 1,
        "sources": [{"name": layout.log, "subject_transforms": transforms}],
    }


def live_config(settings: Settings, layout: Layout, copies: Iterable[CopiedEvent]) -> dict[str, Any]:
    """LIVE: a copy of the last event of some kinds about each entity, with all that states do not have of it."""
    prefix, place = settings.prefix, "{{wildcard(1)}}.{{wildcard(2)}}.>"
    transforms = [{"src": f"{prefix}.inbox.*.*{one.part}>", "dest": f"{prefix}.{one.branch}.{place}"} for one in copies]
    return {
        **_common(settings, settings.live_max_bytes),
        "max_msgs_per_subject": 1,
        "sources": [{"name": layout.events, "subject_transforms": transforms}],
    }


def lease_config(settings: Settings) -> dict[str, Any]:
    """LEASE: the workers' keys, which expire."""
    return {
        **_common(settings),
        "subjects": [f"{settings.prefix}.lease.>"],
        "max_msgs_per_subject": 1,
        "allow_msg_ttl": True,
    }


def kept_feed(config: dict[str, Any]) -> KeptFeed:
    """The feed that the configuration of EVENTS says; raises `SetupError.feed_unknown`."""
    found = config.get("metadata", {}).get(FEED, "msgpack")
    if found not in (*FEEDS, BOTH):
        raise SetupError.feed_unknown(found=found, do="update it")
    return cast("KeptFeed", found)


async def change_feed(wire: Wire, stream: str, config: dict[str, Any], feed: Feed) -> None:
    """Keep another feed from now on. stream, config: EVENTS. Raises as `Wire.api` does."""
    before = kept_feed(config)
    changed = {**config, "metadata": {**config.get("metadata", {}), FEED: feed}}
    await wire.api(f"STREAM.UPDATE.{stream}", changed)
    log.warning("feed_changed", stream=stream, before=before, feed=feed, hint=FEED_OF_RUNNING)
