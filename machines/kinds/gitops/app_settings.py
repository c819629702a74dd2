"""The settings of an application: its own, and those of its set.

Belongs here: the attributes that hold settings, checking them, and the overrides that follow from them. Does not: the
rules that depend on them (`observe`, `auto_sync`).
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from phaseline.machines.kinds.gitops.sync_windows import MOST, App, Window, read, select
from phaseline.machines.kinds.kubernetes.diff.ignore import no_effects
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS
from phaseline.machines.kinds.kubernetes.overrides import OWN_FIELDS, BadOverride, Overrides
from phaseline.machines.kinds.kubernetes.profiles import PROFILES
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.scripts import SCRIPTS, ScriptRunner
from phaseline.machines.language.table import Attributes, Field, Refusal, RuleEvent
from phaseline.schemas import codec

DEADLINE = "phaseline.io/progress-deadline"
"""The annotation that sets how many seconds a resource may be Progressing."""
DEFAULT_DEADLINE = 600
CACHED = 1_024
"""How many different settings are kept in parsed form."""
WINDOW_LISTS = ("sync_windows", "sync_hours")
WINDOW_SETTINGS = (*WINDOW_LISTS, "time_zone")
MOST_GLOBS = 1_000
"""The most globs in the windows of one level; to match them all takes some milliseconds, once for each application."""

SETTINGS = (
    Field("profile",                 str,  "the profile; by default that of the set, else alauda", tuple(PROFILES)),
    Field("ignore_differences",      dict, "ignore rules in Argo CD's format", many=True),
    Field("health",                  dict, "health scripts in Lua, or rows, by group/Kind"),
    Field("known_type_fields",       dict, "fields of custom kinds that have a Kubernetes type, by group/Kind"),
    Field("ignore_aggregated_roles", bool, "whether to ignore the rules of aggregated ClusterRoles; true by default"),
    Field("progress_deadline",       int,  "seconds that a resource may be Progressing without progress; "
                                           f"{DEFAULT_DEADLINE} by default, 0 for ever"),
    Field("sync_windows",            dict, "sync windows in Argo CD's format", many=True),
    Field("sync_hours",              str,  "the hours at which it may be synchronised, as 10:00-18:00", many=True),
    Field("time_zone",               str,  "the time zone of sync_hours and of windows without one; UTC by default"),
)  # fmt: skip
SETTINGS_OF = (
    Field("settings_object",  str, "the uid of the object that its settings were read from"),
    Field("settings_version", int, "the resourceVersion of that object, as it was when settings changed last; 0 if a list "
                                   "says so, which is the last word", least=0),
)  # fmt: skip
"""Which object settings are of, and which version of it, so that none comes late and undoes newer ones."""
_OVERRIDES = {field.name for field in SETTINGS}.intersection(OWN_FIELDS)


def application_of(entity_id: str) -> str:
    """The id of the application of a resource (or of the application itself)."""
    return "/".join(entity_id.split("/")[:2])


def levels(scene: Scene, entity_id: str) -> tuple[Attributes, Attributes]:
    """The attributes of the set and of the application; empty for an unknown one."""
    above, own = scene.above(entity_id, "application_set"), scene.above(entity_id, "application")
    return NOTHING if above is None else above.attributes, NOTHING if own is None else own.attributes


NOTHING: Attributes = {}


class MergedSettings(NamedTuple):
    """The settings that apply to a resource: those of its set and of its application, merged.

    digest: of the settings that the overrides come from. deadline: the seconds that a resource may be Progressing
    without progress, unless its manifest says otherwise; 0 for ever.
    """

    overrides: Overrides
    digest: str
    deadline: int


def merged_settings(scene: Scene, entity_id: str) -> MergedSettings:
    """The settings that apply to a resource."""
    found = levels(scene, entity_id)
    last = _LAST.get(application_of(entity_id))
    if last is not None and last[0] is found[0] and last[1] is found[1]:
        return last[2]
    overrides, digest = _merge(
        *(codec.encode({name: value for name, value in level.items() if name in _OVERRIDES}) for level in found)
    )
    above, own = found
    deadline = int(own.get("progress_deadline", above.get("progress_deadline", DEFAULT_DEADLINE)))
    merged = MergedSettings(overrides, digest, deadline if overrides.profile.has_deadline else 0)
    if len(_LAST) >= CACHED:
        _LAST.clear()
    _LAST[application_of(entity_id)] = (*found, merged)
    return merged


_LAST: dict[str, tuple[Attributes, Attributes, MergedSettings]] = {}
"""By application, the attributes whose settings were merged last. Attributes that change are another object."""


@lru_cache(maxsize=CACHED)
def _merge(above: bytes, own: bytes) -> tuple[Overrides, str]:
    """The overrides in the encoded settings of a set and of an application, and the settings' digest."""
    found = [codec.decode(above), codec.decode(own)]
    overrides = Overrides()
    for level in found:
        overrides = overrides.merge(level, "settings")
    return overrides, hashlib.blake2b(codec.encode(found), digest_size=8).hexdigest()


def deadline_of(live: Mapping[str, Any], settings: MergedSettings) -> int:
    """Seconds that a resource may be Progressing without progress: from its annotation, or by the settings."""
    if not settings.overrides.profile.has_deadline:
        return 0
    metadata = live.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, MAPS) else None
    annotation = annotations.get(DEADLINE) if isinstance(annotations, MAPS) else None
    if isinstance(annotation, str) and annotation.isascii() and annotation.isdigit():
        return int(annotation[:9])
    return settings.deadline


@rule("gitops.check_settings", revision=5, uses=(SCRIPTS,))
def check_settings(scene: Scene, _: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """Refuses wrong settings, and late ones; rules that can never have an effect become the message."""
    data = event.data
    if (late := _late(attributes, data)) is not None:
        return late
    try:
        overrides = Overrides().merge(
            {name: value for name, value in data.items() if name in _OVERRIDES and value is not None}, "data"
        )
        problems = [*dict.fromkeys((*no_effects(overrides.rules), *overrides.problems(), *overrides.notes))]
        problems += [*_broken_programs(overrides, scene.scripts), *_window_problems(data)]
    except (BadOverride, ValueError) as error:
        return Refusal(str(error), invalid=True)
    if data.get("progress_deadline") is not None and data["progress_deadline"] < 0:
        return Refusal("data.progress_deadline must be 0 or more", invalid=True)
    said = [data["message"]] if isinstance(data.get("message"), str) and data["message"] else []
    told = {"message": "; ".join((*said, *problems))[:4096]} if problems else {}
    return {**told, **_same_version(attributes, data)}


OBJECT_AND_VERSION = tuple(field.name for field in SETTINGS_OF)


def _late(attributes: Attributes, data: Mapping[str, Any]) -> Refusal | None:
    """Why settings are not taken: newer ones of the same object were; None if nothing shows that."""
    (known, last), (uid, version) = ([of.get(name) for name in OBJECT_AND_VERSION] for of in (attributes, data))
    if uid is None or uid != known or not version or not last or version >= last:
        return None
    return Refusal(
        f"the settings of version {version} of {uid} are late: those of version {last} were taken before;"
        " send those of now",
        stale=True,
    )


def _same_version(attributes: Attributes, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The version that stays where settings say nothing new, because to note each would make a record of each."""
    known = {name: attributes[name] for name in OBJECT_AND_VERSION if name in attributes}
    if known.get("settings_object") != data.get("settings_object") or not data.get("settings_version"):
        return {}
    news = (name for name, value in data.items() if name not in known and attributes.get(name) != value)
    return known if all(name in ("message", "reason") for name in news) else {}


def _broken_programs(overrides: Overrides, scripts: ScriptRunner) -> Iterator[str]:
    """The jq programs of ignore rules that cannot run on any object, in sentences."""
    programs = [(one, program) for one in overrides.rules for program in one.programs]
    if not programs:
        return
    results = scripts.jq([program for _, program in programs], [{}])
    for (one, program), (found,) in zip(programs, results, strict=True):
        if found.broken:
            yield f"the rule for {one.group or 'core'}/{one.kind} can do nothing: jq {program!r:.200}: {found.problem}"


def _window_problems(data: Mapping[str, Any]) -> Iterator[str]:
    """Problems of windows that select nothing; raises `ValueError` for a wrong window."""
    count = sum(len(data.get(name) or ()) for name in WINDOW_LISTS)
    if count > MOST:
        raise ValueError(f"data holds {count} windows, and at most {MOST} may be set")
    windows = windows_of(data)
    globs = sum(len(one.applications) + len(one.namespaces) + len(one.clusters) for one in windows)
    if globs > MOST_GLOBS:
        raise ValueError(f"the windows in data hold {globs} globs, and at most {MOST_GLOBS} may be set")
    for index, window in enumerate(windows):
        for problem in window.problems():
            raise ValueError(f"data: window {index + 1}: {problem}")
        if not (window.applications or window.namespaces or window.clusters):
            yield f"{window.called()} names no applications, namespaces or clusters, so it is about nothing"


def windows_of(settings: Attributes) -> tuple[Window, ...]:
    """The windows in the settings of one level; raises `ValueError` for a wrong window."""
    return _windows(_window_settings(settings))


def windows_for(app: App, *levels: Attributes) -> tuple[Window, ...]:
    """The windows in the settings of some levels that apply to an application."""
    return _selected(app, tuple(map(_window_settings, levels)))


def _window_settings(settings: Attributes) -> bytes:
    """The part of settings that windows are read from, encoded: the key of those that are kept."""
    return codec.encode({name: settings[name] for name in WINDOW_SETTINGS if settings.get(name)})


@lru_cache(maxsize=CACHED)
def _windows(settings: bytes) -> tuple[Window, ...]:
    found = codec.decode(settings)
    zone = found.get("time_zone") or ""
    return tuple(read(one, zone) for name in WINDOW_LISTS for one in found.get(name, ()))


@lru_cache(maxsize=CACHED)
def _selected(app: App, levels: tuple[bytes, ...]) -> tuple[Window, ...]:
    return tuple(select([window for level in levels for window in _windows(level)], app))
