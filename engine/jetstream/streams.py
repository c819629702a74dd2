"""The five streams of an installation: creating them, finding them (docs/design.md, Streams).

Belongs here: their configuration and names. Does not: reading (`reader`), committing (`ownership.fenced_commit`).
"""

from dataclasses import dataclass, replace
from typing import Any

from phaseline.engine.errors import (
    ApiFailed,
    EdgeStoreMissing,
    JetStreamOff,
    NoAnswer,
    NoJetStream,
    NoSuchStream,
    NotPermitted,
    NotProvisioned,
    PartitionsDiffer,
    PhaselineError,
    PrefixTaken,
    StreamsDiffer,
)
from phaseline.engine.jetstream import feed
from phaseline.engine.jetstream.direct_get import last_message_from_leader, origin
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import DEFAULT_PARTITIONS, Feed, Settings
from phaseline.schemas.partitions.divisions import Division, divisions_of
from phaseline.schemas.records import SECOND

MINIMUM_SERVER = (2, 15)
"""In 2.14 a consumer with several filters skips messages of a batch: watches and outcomes would miss records."""
STREAM_NOT_FOUND = 10059
NAME_IN_USE = 10058
PARTITIONS = "phaseline.partitions"


@dataclass(frozen=True, slots=True)
class Layout:
    """The prefix of an installation, its number of partitions, the names of its streams, and the format of its feed.

    partitions: the number that it was made with. It is the number of buckets in subjects for ever.
    """

    prefix: str
    partitions: int
    events: str
    log: str
    state: str
    lease: str
    live: str
    feed: Feed = "msgpack"
    divisions: tuple[int, ...] = ()
    """How many partitions each later division has (`schemas.partitions.divisions`), as far as that was asked for."""

    @property
    def streams(self) -> tuple[str, ...]:
        """The names of all streams."""
        return self.events, self.log, self.state, self.lease, self.live

    @property
    def all_divisions(self) -> list[Division]:
        """How the trees are divided among partitions: each division, oldest first."""
        return divisions_of(self.partitions, self.divisions)

    @property
    def division(self) -> Division:
        """The present division."""
        return self.all_divisions[-1]


def layout_of(settings: Settings, partitions: int, form: Feed = "msgpack") -> Layout:
    """The layout of an installation with that many partitions."""
    events, log, state, lease, live = (settings.stream(role) for role in ("EVENTS", "LOG", "STATE", "LEASE", "LIVE"))
    return Layout(settings.prefix, partitions, events, log, state, lease, live, form)


async def provision(wire: Wire, settings: Settings) -> Layout:
    """Create the streams that are absent, and leave the others unchanged. Several workers can do so at once.

    If the settings want another feed than the installation has, it has that one from now on. Raises `PartitionsDiffer`
    if it has another number of partitions than the settings want.
    """
    layout = layout_of(settings, settings.partitions or DEFAULT_PARTITIONS, settings.feed or "msgpack")
    if await _config(wire, layout.log) is None:
        await _create(wire, layout.log, {**log(settings), **await _first_place(wire, layout)})
    found = await _config(wire, layout.events)
    if found is None:
        await _create(wire, layout.events, events(settings, layout))
        found = await _config(wire, layout.events) or {}
    layout = layout_of(settings, _partitions(found, settings), feed.kept(found))
    if settings.feed is not None and settings.feed != layout.feed:
        await feed.change(wire, layout.events, found, settings.feed)
        layout = replace(layout, feed=settings.feed)
    copies = ((layout.state, state(settings, layout)), (layout.live, live(settings, layout)))
    for name, config in (*copies, (layout.lease, lease(settings))):
        if await _config(wire, name) is None:
            await _create(wire, name, config)
    wanted = (
        (layout.events, events(settings, layout)),
        (layout.log, log(settings)),
        *copies,
    )
    for name, config in wanted:
        _check_shape(name, await _config(wire, name) or {}, config)
    return layout


async def _first_place(wire: Wire, layout: Layout) -> dict[str, int]:
    """Where a new LOG starts if the former one was deleted: after all that STATE has copied."""
    if await _config(wire, layout.state) is None:
        return {}
    last = await last_message_from_leader(wire, layout.state, ">")
    return {} if last is None else {"first_seq": origin(last.block) + 1}


def _check_shape(name: str, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise `StreamsDiffer` if a stream lacks a subject that we need. Limits may differ: operators set them."""
    lacking = (_subjects(wanted) | _sourced(wanted)) - (_subjects(found) | _sourced(found))
    if lacking:
        raise StreamsDiffer(stream=name, difference=f"it does not take in {', '.join(sorted(lacking))}")


def _subjects(config: dict[str, Any]) -> set[str]:
    return set(config.get("subjects") or ())


def _sourced(config: dict[str, Any]) -> set[str]:
    return {
        f"{transform['src']} as {transform['dest']}"
        for source in config.get("sources") or ()
        for transform in source.get("subject_transforms") or ()
    }


async def inspect(wire: Wire, settings: Settings) -> Layout:
    """The layout of an existing installation; raises `NotProvisioned` if there is none, and `ServerTooOld`."""
    wire.require(*MINIMUM_SERVER)
    layout = layout_of(settings, 1)
    found = await _config(wire, layout.events)
    if found is None or await _config(wire, layout.state) is None:
        raise NotProvisioned(prefix=settings.prefix)
    return layout_of(settings, _partitions(found, settings), feed.kept(found))


async def why_unstored(wire: Wire, error: NoSuchStream) -> PhaselineError:
    """Why no stream takes events: no installation, no JetStream. `error` itself where that cannot be known now."""
    try:
        await wire.api(f"STREAM.INFO.{wire.settings.stream('EVENTS')}")
    except (NoJetStream, JetStreamOff) as found:
        return found
    except ApiFailed as found:
        return await _missing(wire) if found.err_code == STREAM_NOT_FOUND else error
    except (NoAnswer, NotPermitted):
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
        return EdgeStoreMissing(edge=domain.removeprefix(domains))
    return NotProvisioned(prefix=wire.settings.prefix)


def _partitions(config: dict[str, Any], settings: Settings) -> int:
    """The number of partitions, from the configuration of EVENTS; raises `PrefixTaken`, `PartitionsDiffer`."""
    subject = f"{settings.prefix}.events.*.>"
    if config.get("subjects") != [subject]:
        owner = str(config.get("subjects", ["?"])[0]).partition(".events.")[0]
        raise PrefixTaken(stream=settings.stream("EVENTS"), owner=owner, prefix=settings.prefix)
    found = int(config.get("metadata", {}).get(PARTITIONS, 0))
    if settings.partitions not in (None, found):
        raise PartitionsDiffer(prefix=settings.prefix, existing=found, wanted=settings.partitions)
    return found


async def _config(wire: Wire, name: str) -> dict[str, Any] | None:
    """The configuration of a stream; None if it does not exist."""
    try:
        info = await wire.api(f"STREAM.INFO.{name}")
    except ApiFailed as error:
        if error.err_code == STREAM_NOT_FOUND:
            return None
        raise
    config: dict[str, Any] = info["config"]
    return config


async def _create(wire: Wire, name: str, config: dict[str, Any]) -> None:
    try:
        await wire.api(f"STREAM.CREATE.{name}", {"name": name, **config})
    except ApiFailed as error:
        if error.err_code != NAME_IN_USE:
            raise


def _common(settings: Settings) -> dict[str, Any]:
    return {"storage": settings.storage, "num_replicas": settings.replicas, "allow_direct": True, "discard": "old"}


def events(settings: Settings, layout: Layout) -> dict[str, Any]:
    """EVENTS: the events of publishers. On storing one the server computes its partition from the tree's root."""
    prefix, partitions = settings.prefix, layout.partitions
    partitioned = f"{{{{partition({partitions},1)}}}}.{{{{wildcard(1)}}}}.>"
    inbox, due = f"{prefix}.inbox.{partitioned}", f"{prefix}.due.{partitioned}"
    return {
        **_common(settings),
        "subjects": [f"{prefix}.events.*.>"],
        "subject_transform": {"src": f"{prefix}.events.*.>", "dest": inbox},
        "duplicate_window": int(settings.dedupe_window * SECOND),
        "max_age": int(settings.events_max_age * SECOND),
        "metadata": {PARTITIONS: str(partitions), feed.KEY: layout.feed},
        # Due timers arrive like events, on a subject that only the server can write.
        "sources": [{"name": layout.log, "subject_transforms": [{"src": f"{prefix}.fired.*.>", "dest": due}]}],
    }


def log(settings: Settings) -> dict[str, Any]:
    """LOG: the records. The server republishes transitions and rejections, and no other subject, as the live feed."""
    prefix = settings.prefix
    return {
        **_common(settings),
        "subjects": [f"{prefix}.{branch}.>" for branch in ("log", "mark", "plan", "tables", "timer", "fired")],
        "allow_atomic": True,
        "allow_rollup_hdrs": True,
        "allow_msg_schedules": True,
        "republish": {"src": f"{prefix}.log.*.*.>", "dest": f"{prefix}.{{{{wildcard(2)}}}}.>"},
    }


def state(settings: Settings, layout: Layout) -> dict[str, Any]:
    """STATE: a copy of the last record of each entity, and of the checkpoint of each partition."""
    prefix, partition = settings.prefix, f"{settings.prefix}.state.{{{{wildcard(2)}}}}"
    # One filter selects transitions, marks and checkpoints. With several filters the server searches all subjects of a
    # block for each message, which takes more time than everything else together.
    transforms = [{"src": f"{prefix}.*.*.transition.*.*.*.>", "dest": f"{partition}.{{{{wildcard(3)}}}}.>"}]
    return {
        **_common(settings),
        "max_msgs_per_subject": 1,
        "sources": [{"name": layout.log, "subject_transforms": transforms}],
    }


def live(settings: Settings, layout: Layout) -> dict[str, Any]:
    """LIVE: a copy of the last observation of each Kubernetes object, with the manifests, which states do not have."""
    prefix, observed = settings.prefix, "resource.observed"
    object_subject = f"{prefix}.live.{{{{wildcard(1)}}}}.{{{{wildcard(2)}}}}.>"
    transforms = [{"src": f"{prefix}.inbox.*.*.{observed}.>", "dest": object_subject}]
    return {
        **_common(settings),
        "max_msgs_per_subject": 1,
        "sources": [{"name": layout.events, "subject_transforms": transforms}],
    }


def lease(settings: Settings) -> dict[str, Any]:
    """LEASE: the workers' keys, which expire."""
    return {
        **_common(settings),
        "subjects": [f"{settings.prefix}.lease.>"],
        "max_msgs_per_subject": 1,
        "allow_msg_ttl": True,
    }
