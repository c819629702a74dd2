"""How the configuration of a stream differs from the one that is wanted. Pure.

Belongs here: the table of settings that are compared, what a change of each one does, and which cannot be changed. Does
not: what is wanted (`streams`), changing a stream (`change`).
A wanted configuration holds only what this version needs, and what the settings name. Nothing else is compared: what
the settings leave open stays as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from phaseline.engine.nats.stream_settings.fill import kept_bytes, size
from phaseline.schemas.records import SECOND

Config = Mapping[str, Any]
COPIES = ("STATE", "LIVE", "LEASE")
"""The streams that hold nothing of their own."""
ANEW = "delete it with `nats stream rm {stream}`, and start a worker anew: it makes the stream, and the server fills it"
ELSEWHERE = "export the log, and import it under another --prefix"
NO_LIMIT = "no limit"
SPANS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


class StreamSetting(NamedTuple):
    """A setting of streams. key: in the configuration of the server. name: for people.

    unset: what its absence means. needed: whether no worker can work without it. shown: its value for people.
    effect: what a change does; empty if the server cannot change it.
    """

    key: str
    name: str
    unset: Any
    needed: bool
    shown: Callable[[Any], str]
    effect: str


class StreamDifference(msgspec.Struct, frozen=True):
    """A setting of a stream that is not as it is wanted.

    found, wanted: its values for people. effect: what a change does. way_out: what to do where no change is possible;
    empty if one is. needed: whether no worker can work without it. key, value: for the server.
    """

    stream: str
    setting: str
    found: str
    wanted: str
    effect: str
    way_out: str
    needed: bool
    key: str
    value: Any

    @property
    def can_change(self) -> bool:
        """Whether the server can change it."""
        return not self.way_out

    def shown(self) -> dict[str, Any]:
        """The fields for programs."""
        return {
            "setting": self.setting, "found": self.found, "wanted": self.wanted, "can_change": self.can_change,
            "effect": self.effect or self.way_out,
        }  # fmt: skip


def _switch(on: Any) -> str:
    return "on" if on else "off"


def _span(ns: int) -> str:
    """A time for people: `30 d`, `10 m`."""
    seconds = ns / SECOND
    unit, letter = next(((unit, letter) for unit, letter in SPANS if seconds % unit == 0), (1, "s"))
    return f"{seconds / unit:g} {letter}" if ns else NO_LIMIT


def _most(count: int | None) -> str:
    return size(count) if count and count > 0 else NO_LIMIT


def _limit(discard: str) -> str:
    return {"old": "drops the oldest", "new": "refuses"}.get(discard, discard)


def _count(count: int) -> str:
    return f"{count:,}" if count > 0 else NO_LIMIT


def _place(placement: Config | None) -> str:
    tags = (placement or {}).get("tags") or ()
    cluster = (placement or {}).get("cluster")
    said = [*([f"cluster {cluster}"] if cluster else ()), *([f"tags {', '.join(tags)}"] if tags else ())]
    return "; ".join(said) or "anywhere"


def _rule(rule: Config | None) -> str:
    return f"{rule['src']} as {rule['dest']}" if rule else "none"


# fmt: off
SETTINGS = tuple(StreamSetting(*row) for row in (
    # key                   name                   unset   needed shown    effect
    ("subjects",             "subjects",             (),     True,  str,     "the stream takes these in as well"),
    ("sources",              "sources",              (),     True,  str,     "the server copies all of it from there"),
    ("subject_transform",    "partitions",           None,   True,  _rule,   "from now on events get their partition"),
    ("storage",              "storage",              "file", False, str,     ""),
    ("num_replicas",         "replicas",             1,      False, str,     "servers copy it, and it works on"),
    ("placement",            "placement",            None,   False, _place,  "it moves, and works on"),
    ("discard",              "at the limit",         "old",  False, _limit,  "a full stream refuses messages"),
    ("max_bytes",            "max bytes",            -1,     False, _most,   "a stream with so much refuses messages"),
    ("metadata",             "max bytes",            0,      False, _most,   "workers wait at the limit"),
    ("max_msgs",             "max messages",         -1,     False, _count,  "the number of messages has no limit"),
    ("max_age",              "max age",              0,      False, _span,   "older messages are deleted at once"),
    ("max_msgs_per_subject", "messages per subject", -1,     False, _count,  "older messages are deleted at once"),
    ("duplicate_window",     "dedupe window",        0,      False, _span,   "how long repeats are dropped"),
    ("republish",            "live feed",            None,   False, _rule,   "the server publishes these messages"),
    ("allow_direct",         "direct gets",          False,  False, _switch, "every server answers readers"),
    ("allow_atomic",         "atomic batches",       False,  True,  _switch, "workers can commit"),
    ("allow_rollup_hdrs",    "rollup",               False,  True,  _switch, "workers can commit"),
    ("allow_msg_schedules",  "schedules",            False,  True,  _switch, "timers fire"),
    ("allow_msg_ttl",        "message TTL",          False,  True,  _switch, "leases expire"),
))
# fmt: on
"""The settings that are compared. The other ones belong to the operator."""


def differences(
    stream: str, found: Config, wanted: Config, held: int = 0, *, clustered: bool = True
) -> list[StreamDifference]:
    """What is wanted and not found, in the order of the table. held: the bytes that the stream holds.

    clustered: whether the server is a member of a cluster.
    """
    made = (_difference(one, stream, found, wanted, held, clustered=clustered) for one in SETTINGS if one.key in wanted)
    return [one for one in made if one is not None]


def _difference(
    setting: StreamSetting, stream: str, found: Config, wanted: Config, held: int, *, clustered: bool
) -> StreamDifference | None:
    old, new = (_value(setting, config) for config in (found, wanted))
    if setting.key == "metadata" and new is None:
        return None
    if setting.key in ("subjects", "sources"):
        return _lacking(setting, stream, old or (), new)
    if _plain(old) == _plain(new) or (setting.key == "metadata" and not old and not new):
        return None
    way_out, shown = _obstacle(setting, stream, new, held, clustered=clustered), setting.shown(new)
    effect = "" if way_out else "there is no limit any more" if shown == NO_LIMIT else setting.effect
    return StreamDifference(
        stream, setting.name, setting.shown(old), shown, effect, way_out, setting.needed, setting.key, new
    )


def _value(setting: StreamSetting, config: Config) -> Any:
    """The value of a setting. Of the metadata only the limit of LOG is compared."""
    return kept_bytes(config) if setting.key == "metadata" else config.get(setting.key, setting.unset)


def _plain(value: Any) -> Any:
    """A value without what is empty in it."""
    return {key: one for key, one in value.items() if one} or None if isinstance(value, Mapping) else value


def _obstacle(setting: StreamSetting, stream: str, wanted: Any, held: int, *, clustered: bool) -> str:
    """Why a setting cannot be changed, and what to do; empty if it can be."""
    if not setting.effect:
        return ANEW.format(stream=stream) if stream.endswith(COPIES) else ELSEWHERE
    if setting.key == "num_replicas" and wanted > 1 and not clustered:
        return "this server is no member of a cluster, so it has no room for a second copy: make it one first"
    if setting.key in ("max_bytes", "metadata") and 0 < wanted <= held:
        return f"it holds {size(held)} already: choose more, or make room first"
    return ""


def _lacking(
    setting: StreamSetting, stream: str, found: Sequence[Any], wanted: Sequence[Any]
) -> StreamDifference | None:
    """The difference if not all of the wanted subjects or sources are found. Further ones belong to the operator."""
    read = _sourced if setting.key == "sources" else frozenset
    lacking = read(wanted) - read(found)
    if not lacking:
        return None
    names = {one["name"] for one in wanted} if setting.key == "sources" else set(wanted)
    kept = [one for one in found if (one["name"] if setting.key == "sources" else one) not in names]
    missing = ", ".join(sorted(lacking))
    return StreamDifference(stream, setting.name, "missing", missing, setting.effect, "", setting.needed, setting.key,
                      [*kept, *wanted])  # fmt: skip


def _sourced(sources: Sequence[Config]) -> frozenset[str]:
    return frozenset(
        f"{transform['src']} as {transform['dest']}"
        for source in sources
        for transform in source.get("subject_transforms") or ()
    )
