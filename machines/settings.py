"""What is set for an application: by itself, or else by its set (spec: GitOps, What arrives: configure).

Belongs here: the attributes that hold it, what is wrong with them, what they come to. Does not: the rules they steer.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from phaseline.machines.compare.ignoring import pointless
from phaseline.machines.customs import OURS, BadCustom, Customs
from phaseline.machines.health import Part, Unreadable
from phaseline.machines.predicates import Scene
from phaseline.machines.profiles import PROFILES
from phaseline.machines.rules import rule
from phaseline.machines.table import Attributes, Field, Happened, Refused
from phaseline.machines.windows import Window, read
from phaseline.schemas import codec

DEADLINE = "phaseline.io/progress-deadline"
"""The annotation with the seconds that a resource may be Progressing."""
DEFAULT_DEADLINE = 600
MEMO = 10_000
"""Applications whose settings are kept as objects."""

SETTINGS = (
    Field("profile",                 str,  "whose reading counts; the set's where left out, alauda where that says nothing", tuple(PROFILES)),
    Field("ignore_differences",      dict, "ignore rules, in Argo CD's words", many=True),
    Field("health",                  dict, "Lua health scripts by group/Kind"),
    Field("known_type_fields",       dict, "fields of custom kinds that are of a type of Kubernetes', by group/Kind"),
    Field("ignore_aggregated_roles", bool, "whether the rules of aggregated ClusterRoles do not count; true where left out"),
    Field("progress_deadline",       int,  f"seconds that a resource may be Progressing without getting on; {DEFAULT_DEADLINE} where left out, 0 for ever"),
    Field("sync_windows",            dict, "when it may be synchronised, in Argo CD's words", many=True),
    Field("sync_hours",              str,  "when it may be synchronised each day, as 10:00-18:00", many=True),
    Field("time_zone",               str,  "the zone of sync_hours, and of windows that name none; UTC where left out"),
)  # fmt: skip
_SAID = {field.name for field in SETTINGS}.intersection(OURS)
_memo: dict[str, tuple[Attributes, Attributes, Customs, str]] = {}


def application_of(entity_id: str) -> str:
    """The id of the application that a resource, or an application, belongs to."""
    return "/".join(entity_id.split("/")[:2])


def levels(scene: Scene, entity_id: str) -> tuple[Attributes, Attributes]:
    """The attributes of the set and of the application; none of what is unknown."""
    found = (scene.above(entity_id, kind) for kind in ("application_set", "application"))
    above, own = (NOTHING if one is None else one.attributes for one in found)
    return above, own


NOTHING: Attributes = {}


def customs_of(scene: Scene, entity_id: str) -> Customs:
    """Rules, scripts and profile that count for a resource: the set's and the application's, added up."""
    return settled(scene, entity_id)[0]


def settled(scene: Scene, entity_id: str) -> tuple[Customs, str]:
    """What `customs_of` gives, and a digest of it."""
    key = application_of(entity_id)
    above, own = levels(scene, entity_id)
    known = _memo.get(key)
    if known is not None and known[0] is above and known[1] is own:
        return known[2], known[3]
    found, said = Customs(), []
    for level in (above, own):
        said.append({name: value for name, value in level.items() if name in _SAID})
        found = found.and_(said[-1], "settings")
    digest = hashlib.blake2b(codec.encode(said), digest_size=8).hexdigest()
    if len(_memo) >= MEMO:
        _memo.clear()
    _memo[key] = (above, own, found, digest)
    return found, digest


def deadline_of(scene: Scene, entity_id: str, live: Mapping[str, Any] | None, customs: Customs) -> int:
    """Seconds that a resource may be Progressing without getting on: its annotation's, the application's, the set's."""
    if not customs.profile.has_deadline:
        return 0
    try:
        said = Part(live or {}).map("metadata").map("annotations").text(DEADLINE)
    except Unreadable:
        said = ""
    if said.isascii() and said.isdigit():
        return int(said[:9])
    above, own = levels(scene, entity_id)
    return int(own.get("progress_deadline", above.get("progress_deadline", DEFAULT_DEADLINE)))


@rule("gitops.check_settings", revision=1)
def checked(_: Scene, __: str, ___: Attributes, happened: Happened) -> Mapping[str, Any] | Refused:
    """What is wrong with the settings; as a message, what in them can do nothing."""
    data = happened.data
    try:
        customs = Customs().and_(
            {name: value for name, value in data.items() if name in _SAID and value is not None}, "data"
        )
        problems = [
            f"the rule for {rule.group or 'core'}/{rule.kind} can do nothing: {one}"
            for rule in customs.rules
            for one in pointless(rule)
        ]
        problems += _window_problems(data)
    except (BadCustom, ValueError) as error:
        return Refused(str(error), invalid=True)
    if data.get("progress_deadline") is not None and data["progress_deadline"] < 0:
        return Refused("data.progress_deadline must be 0 or more", invalid=True)
    return {"message": "; ".join(problems)[:4096]} if problems and not data.get("message") else {}


def _window_problems(data: Mapping[str, Any]) -> Iterator[str]:
    """Windows that select nothing; raises `ValueError` for those that cannot be read."""
    for place, window in enumerate(windows_of(data)):
        for problem in window.problems():
            raise ValueError(f"data: window {place + 1}: {problem}")
        if not (window.applications or window.namespaces or window.clusters):
            yield f"{window.called()} names no applications, namespaces or clusters, so it is about nothing"


def windows_of(settings: Attributes) -> list[Window]:
    """The windows that one level sets; raises `ValueError` for those that cannot be read."""
    zone = settings.get("time_zone") or ""
    return [read(one, zone) for one in (*(settings.get("sync_windows") or ()), *(settings.get("sync_hours") or ()))]
