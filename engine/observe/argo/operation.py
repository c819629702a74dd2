"""The operation of an Argo CD Application: its phase, retries and hooks, and the resources that failed.

Belongs here: reading the state of the operation. Does not: settings and conditions of an Application (`objects`).
"""

from collections.abc import Iterator
from typing import Any

from phaseline.engine.observe.events import Manifest, ObservedEvent, id_suffix, mapping, maps, text, without_empty
from phaseline.machines.gitops.waves import rank
from phaseline.machines.kubernetes.pairs import ObjectKey
from phaseline.schemas.records import nanoseconds

PHASES = ("Running", "Terminating", "Succeeded", "Failed", "Error")
LONGEST, MOST = 4_096, 100
"""The most characters of a message, and the most hooks, that are told."""


def operation(status: Manifest) -> dict[str, Any]:
    """The attributes of the last operation; none if there was none."""
    state = mapping(status, "operationState")
    phase = text(state, "phase")
    if phase not in PHASES:
        return {}
    asked, result = mapping(state, "operation"), mapping(state, "syncResult")
    revision = text(result, "revision") or text(mapping(asked, "sync"), "revision")
    several = result.get("revisions") or mapping(asked, "sync").get("revisions")
    retries = state.get("retryCount")
    return without_empty(
        operation=phase, operation_began=_time(state, "startedAt"), operation_ended=_time(state, "finishedAt"),
        operation_message=text(state, "message")[:LONGEST], revision=revision,
        automatic=mapping(asked, "initiatedBy").get("automated") is True,
        retries=retries if type(retries) is int else None,
        revisions={str(n): one for n, one in enumerate(several[:MOST], 1) if isinstance(one, str)}
        if isinstance(several, list) else None,
        hooks=_hooks(result),
    )  # fmt: skip


def _time(state: Manifest, name: str) -> int | None:
    try:
        return nanoseconds(text(state, name)) if text(state, name) else None
    except ValueError:
        return None


def _hooks(result: Manifest) -> list[dict[str, str]]:
    """The hooks of an operation, in the order in which they ran."""
    found = [
        without_empty(
            phase=text(one, "syncPhase") or text(one, "hookType"), resource=id_suffix(_key(one)),
            result=text(one, "hookPhase"), message=text(one, "message")[:LONGEST],
        )
        for one in maps(result, "resources") if text(one, "hookType")
    ]  # fmt: skip
    return sorted(found, key=lambda one: rank(one.get("phase", "")))[:MOST]


def resource_failures(status: Manifest, entity_id: str) -> Iterator[ObservedEvent]:
    """The events of the resources that the last operation could not synchronise."""
    state = mapping(status, "operationState")
    if text(state, "phase") in PHASES:
        for one in maps(mapping(state, "syncResult"), "resources"):
            key = _key(one)
            if one.get("status") == "SyncFailed" and key.kind and key.name and not text(one, "hookType"):
                why = without_empty(reason="SyncFailed", message=text(one, "message")[:LONGEST])
                compared = [text(state, "startedAt"), state.get("retryCount"), why]
                yield ObservedEvent("resource", "sync_failed", f"{entity_id}/{id_suffix(key)}", why, compared)


def _key(one: Manifest) -> ObjectKey:
    return ObjectKey(text(one, "group"), text(one, "kind"), text(one, "namespace"), text(one, "name"))
