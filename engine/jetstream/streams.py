"""The five streams of an installation: making them, finding them (docs/design.md, Streams).

Belongs here: their configuration and names. Does not: reading (`reader`), committing (`commit`).
"""

from dataclasses import dataclass
from typing import Any

from phaseline.engine.errors import ApiFailed, NotProvisioned, PartitionsDiffer, PrefixTaken, StreamsDiffer
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.settings import DEFAULT_PARTITIONS, Settings
from phaseline.schemas.records import SECOND

STREAM_NOT_FOUND = 10059
NAME_IN_USE = 10058
PARTITIONS = "phaseline.partitions"


@dataclass(frozen=True, slots=True)
class Layout:
    """An installation as it stands: its prefix, its number of partitions, the names of its streams."""

    prefix: str
    partitions: int
    events: str
    log: str
    state: str
    lease: str
    live: str


def layout_of(settings: Settings, partitions: int) -> Layout:
    """The names of an installation that has that many partitions."""
    names = (settings.stream(role) for role in ("EVENTS", "LOG", "STATE", "LEASE", "LIVE"))
    return Layout(settings.prefix, partitions, *names)


async def provision(wire: Wire, settings: Settings) -> Layout:
    """Make the streams that are absent; several workers may do so at once. Streams that exist stay as they are.

    Raises `PartitionsDiffer` where the installation has another number of partitions than `settings` asks for.
    """
    layout = layout_of(settings, settings.partitions or DEFAULT_PARTITIONS)
    if await _config(wire, layout.log) is None:
        await _create(wire, layout.log, log(settings))
    found = await _config(wire, layout.events)
    if found is None:
        await _create(wire, layout.events, events(settings, layout))
        found = await _config(wire, layout.events) or {}
    layout = layout_of(settings, _partitions(found, settings))
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


def _check_shape(name: str, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise `StreamsDiffer` where a stream takes in other subjects than ours do. How long it keeps them is its owner's."""
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
    """The installation as it stands; raises `NotProvisioned` where there is none."""
    layout = layout_of(settings, 1)
    found = await _config(wire, layout.events)
    if found is None or await _config(wire, layout.state) is None:
        raise NotProvisioned(prefix=settings.prefix)
    return layout_of(settings, _partitions(found, settings))


def _partitions(config: dict[str, Any], settings: Settings) -> int:
    subject = f"{settings.prefix}.events.*.>"
    if config.get("subjects") != [subject]:
        owner = str(config.get("subjects", ["?"])[0]).partition(".events.")[0]
        raise PrefixTaken(stream=settings.stream("EVENTS"), owner=owner, prefix=settings.prefix)
    found = int(config.get("metadata", {}).get(PARTITIONS, 0))
    if settings.partitions not in (None, found):
        raise PartitionsDiffer(prefix=settings.prefix, existing=found, wanted=settings.partitions)
    return found


async def _config(wire: Wire, name: str) -> dict[str, Any] | None:
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
    """EVENTS: what publishers send; the server assigns the partition by the tree's root as it stores."""
    prefix, partitions = settings.prefix, layout.partitions
    place = f"{{{{partition({partitions},1)}}}}.{{{{wildcard(1)}}}}.>"
    inbox, due = f"{prefix}.inbox.{place}", f"{prefix}.due.{place}"
    return {
        **_common(settings),
        "subjects": [f"{prefix}.events.*.>"],
        "subject_transform": {"src": f"{prefix}.events.*.>", "dest": inbox},
        "duplicate_window": int(settings.dedupe_window * SECOND),
        "max_age": int(settings.events_max_age * SECOND),
        "metadata": {PARTITIONS: str(partitions)},
        # Timers that are due come in like events, where nobody but the server can put one.
        "sources": [{"name": layout.log, "subject_transforms": [{"src": f"{prefix}.fired.*.>", "dest": due}]}],
    }


def log(settings: Settings) -> dict[str, Any]:
    """LOG: the truth. Its transitions and rejections are republished as the live feed; nothing else in it has such a subject."""
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
    """STATE: a copy of the log's last record of each entity, and of each partition's checkpoint."""
    prefix, place = settings.prefix, f"{settings.prefix}.state.{{{{wildcard(2)}}}}"
    # One filter for transitions, marks and checkpoints: several would have the server look through all subjects of a
    # block for each message, which costs it more than everything else together.
    transforms = [{"src": f"{prefix}.*.*.transition.*.*.*.>", "dest": f"{place}.{{{{wildcard(3)}}}}.>"}]
    return {
        **_common(settings),
        "max_msgs_per_subject": 1,
        "sources": [{"name": layout.log, "subject_transforms": transforms}],
    }


def live(settings: Settings, layout: Layout) -> dict[str, Any]:
    """LIVE: a copy of the last observation of each Kubernetes object, manifests and all, which states do not hold."""
    prefix, observed = settings.prefix, "resource.observed"
    place = f"{prefix}.live.{{{{wildcard(1)}}}}.{{{{wildcard(2)}}}}.>"
    transforms = [{"src": f"{prefix}.inbox.*.*.{observed}.>", "dest": place}]
    return {
        **_common(settings),
        "max_msgs_per_subject": 1,
        "sources": [{"name": layout.events, "subject_transforms": transforms}],
    }


def lease(settings: Settings) -> dict[str, Any]:
    """LEASE: keys that expire."""
    return {
        **_common(settings),
        "subjects": [f"{settings.prefix}.lease.>"],
        "max_msgs_per_subject": 1,
        "allow_msg_ttl": True,
    }
