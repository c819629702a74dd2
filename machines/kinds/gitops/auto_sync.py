"""Operations of an application: manual and automatic synchronisation.

Belongs here: the state of an operation, and the time of the next automatic one. Does not: windows (`sync_windows`),
settings (`app_settings`), carrying out an operation: an external executor does that and reports the result.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from phaseline.machines.kinds.gitops.app_settings import levels, windows_for
from phaseline.machines.kinds.gitops.sync_windows import WINDOWS, App, Opening, Window, decide, next_allowed
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Field, Refusal, RuleEvent
from phaseline.schemas.records import SECOND

RUNNING, SUCCEEDED, FAILURES = "Running", "Succeeded", ("Failed", "Error")
RESULTS, TERMINATING = (SUCCEEDED, *FAILURES), "Terminating"
AT_ONCE = 1
"""Seconds that an application must be OutOfSync before an automatic operation."""
HEALING = (AT_ONCE, 2, 6, 18, 54, 162, 300)
"""Seconds before each attempt at self-healing on one revision; the last value applies to all further attempts."""
LOOK_AGAIN = 86_400
"""Seconds until closed windows are checked again if no opening is foreseeable."""

ATTRIBUTES = (
    Field("namespace",         str,  "the namespace that it is deployed to"),
    Field("server",            str,  "the address of the cluster that it is deployed to"),
    Field("cluster",           str,  "the name of the cluster that it is deployed to"),
    Field("controller",        str,  "the program that synchronises it by itself; then nothing begins automatically here"),
    Field("project",           str,  "the project of its controller to which it belongs"),
    Field("sources",           dict, "where its manifests come from: repository, path or chart, revision", many=True),
    Field("managed_namespace", dict, "labels and annotations of the namespace that its controller manages"),
    Field("prune",             bool, "whether its controller deletes objects that Git no longer declares"),
    Field("sync_options",      str,  "options of its controller for each synchronisation, such as SkipHooks=true", many=True),
    Field("hydrator",          dict, "where its manifests are hydrated from and to: repository, path, revision, branch"),
    Field("retry_policy",      dict, "how its controller tries again: limit, duration, factor, maxDuration"),
    Field("auto_sync",         bool, "whether it is synchronised automatically when it is OutOfSync"),
    Field("self_heal",         bool, "whether it is synchronised automatically to the same revision again"),
    Field("target_revision",   str,  "the revision that Git has now"),
    Field("operation",         str,  "the state of the last synchronisation", (RUNNING, TERMINATING, *RESULTS)),
    Field("operation_began",   int,  "when that synchronisation began, ns since 1970"),
    Field("operation_message", str,  "the message at its end"),
    Field("automatic",         bool, "whether it began automatically"),
    Field("revision",          str,  "the revision of that synchronisation"),
    Field("retries",           int,  "how often that synchronisation was tried again after it failed"),
    Field("attempts",          int,  "how often that revision has been synchronised to automatically"),
    Field("auto_sync_in",      int,  "seconds of being OutOfSync before an automatic synchronisation; 0 for never"),
    Field("auto_sync_again",   int,  "seconds until the next attempt, if a window is closed"),
    Field("auto_sync_waits",   str,  "the reason why it waits"),
    Field("auto_sync_looked",  int,  "when the windows were last checked, ns since 1970"),
)  # fmt: skip
OF_ONE = ("operation_message", "revision", "retries")
"""The attributes of one operation that the next one does not take over."""
SET_HERE = (
    "namespace", "server", "cluster", "auto_sync", "self_heal", "target_revision", "controller", "project", "sources",
    "managed_namespace", "prune", "retry_policy", "sync_options", "hydrator",
)  # fmt: skip

MOST_RETRIES = 2**63 - 1
"""Where the count of retries stops: a controller may report any number, and records hold no larger one."""


def next_try(attributes: Attributes) -> int:
    """Seconds of being OutOfSync before the next automatic operation; 0 for never."""
    busy = attributes.get("operation") in (RUNNING, TERMINATING)
    if busy or not attributes.get("auto_sync") or attributes.get("controller"):
        return 0
    attempts = attributes.get("attempts", 0)
    if not attempts or attributes.get("target_revision") != attributes.get("revision"):
        return AT_ONCE
    heals = attributes.get("self_heal") and attributes.get("operation") == SUCCEEDED
    return HEALING[min(attempts, len(HEALING) - 1)] if heals else 0


def timed(attributes: Mapping[str, Any]) -> Attributes:
    """These attributes, with the time of the next automatic operation."""
    kept = {name: value for name, value in attributes.items() if not name.startswith("auto_sync_")}
    return {**kept, "auto_sync_in": next_try(attributes)}


@rule("gitops.schedule_sync", revision=2)
def schedule_sync(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Updates the time of the next automatic operation."""
    return timed(attributes)


@rule("gitops.begin_sync", revision=3)
def begin_sync(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes that an operation began, or goes on after it failed."""
    automatic = bool(event.data.get("automatic"))
    if event.data.get("retry"):
        kept = {name: value for name, value in attributes.items() if name != "operation_message"}
        revision = event.data.get("revision") or attributes.get("revision")
        known = {"revision": revision} if revision else {}
        retries = min(attributes.get("retries", 0) + 1, MOST_RETRIES)
        return timed({**kept, **known, "operation": RUNNING, "retries": retries})
    revision = event.data.get("revision") or attributes.get("target_revision")
    attempts = attributes.get("attempts", 0) if revision == attributes.get("revision") else 0
    kept = {name: value for name, value in attributes.items() if name not in OF_ONE}
    return timed({
        **kept, **({"revision": revision} if revision else {}), "operation": RUNNING, "operation_began": event.time,
        "automatic": automatic, "attempts": attempts + automatic,
    })  # fmt: skip


@rule("gitops.end_sync", revision=2)
def end_sync(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes the result of the operation."""
    data = event.data
    noted = {"operation_message": data.get("message"), "revision": data.get("revision")}
    known = {name: value for name, value in noted.items() if value}
    return timed({**attributes, "operation": data["result"], **known})


@rule("gitops.wait_for_window", revision=1)
def wait(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes that the automatic operation waits for a window."""
    data = event.data
    noted = {"auto_sync_again": data["again"], "auto_sync_waits": data["why"], "auto_sync_looked": event.time}
    return {**attributes, **noted}


def _windows(scene: Scene, entity_id: str, attributes: Attributes) -> tuple[Window, ...]:
    """The windows that apply to an application: its own, and its set's."""
    app = App(
        entity_id.rpartition("/")[2], *(attributes.get(name) or "" for name in ("namespace", "server", "cluster"))
    )
    return windows_for(app, *levels(scene, entity_id))


@rule("gitops.may_sync", revision=3, uses=(WINDOWS,))
def may_sync(scene: Scene, entity_id: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any] | Refusal:
    """Refuses a sync while the windows of the application and its set do not allow it, saying which and until when."""
    manual, retries = not event.data.get("automatic", False), bool(event.data.get("retry"))
    if retries and attributes.get("operation") not in FAILURES:
        now = attributes.get("operation") or "there was none"
        return Refusal(f"retry goes on with an operation that failed, and the last one did not: {now}")
    windows, at = _windows(scene, entity_id, attributes), datetime.fromtimestamp(event.time / SECOND, UTC)
    begun = attributes.get("operation_began") if retries else None  # unknown if only its result was reported
    began = None if begun is None else datetime.fromtimestamp(begun / SECOND, UTC)
    found = decide(windows, at, manual=manual, began=began)
    if found.allowed:
        return {}
    return Refusal(f"sync is not allowed now: {found.why}; {when_allowed(next_allowed(windows, at, manual=manual))}")


def when_allowed(opening: Opening) -> str:
    """When a sync will be possible, in words."""
    if opening.at is not None:
        return f"it will be possible at {_time(opening.at)}"
    if opening.never:
        return f"these windows do not allow it at any time before {_time(opening.searched)}"
    return f"no time was found before {_time(opening.searched)}, where the search for one ended"


def _time(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


@rule("gitops.auto_sync", revision=1, uses=(WINDOWS,))
def auto_sync(scene: Scene, entity_id: str, attributes: Attributes, event: RuleEvent) -> Mapping[str, Any]:
    """Whether the automatic operation begins now, or how long it waits for a window."""
    at = datetime.fromtimestamp(event.time / SECOND, UTC)
    windows = _windows(scene, entity_id, attributes)
    found = decide(windows, at, manual=False)
    if found.allowed:
        return {"begins": True, "automatic": True}
    opening = next_allowed(windows, at, manual=False)
    seconds = max(1, min(LOOK_AGAIN, -int((at - opening.at).total_seconds() // 1))) if opening.at else LOOK_AGAIN
    return {"begins": False, "again": seconds, "why": found.why}
