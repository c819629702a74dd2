"""Operations of an Argo CD Application: the last one and the one that is asked for, hydrations, what was deployed.

Belongs here: reading their states, and the resources that failed. Does not: settings and conditions of an Application
(`objects`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from phaseline.engine.products.observe.events import (
    LONGEST_OF_MANY,
    Manifest,
    ObservedEvent,
    id_suffix,
    mapping,
    maps,
    named_key,
    text,
    without_empty,
)
from phaseline.machines.kinds.gitops.controller import HYDRATIONS
from phaseline.machines.kinds.gitops.waves import rank
from phaseline.schemas.records import nanoseconds

PHASES = ("Running", "Terminating", "Succeeded", "Failed", "Error")
AT_WORK = ("Running", "Terminating")
LONGEST, MOST = 4_096, 100
"""The most characters of a message, and the most members of a list, that are told."""
DEPLOYMENTS = 10
"""How many deployments are told, the last ones."""


def operation(manifest: Manifest) -> dict[str, Any]:
    """The attributes of the last operation, and of the one that is asked for; none if there was none."""
    state = mapping(manifest, "status", "operationState")
    phase, waits = text(state, "phase"), mapping(manifest, "operation")
    asked_for = {"operation_asked": _request(waits)} if waits and phase not in AT_WORK else {}
    return {**asked_for, **(_last(state, phase) if phase in PHASES else {})}


def _last(state: Manifest, phase: str) -> dict[str, Any]:
    asked, result = mapping(state, "operation"), mapping(state, "syncResult")
    revision = text(result, "revision") or text(mapping(asked, "sync"), "revision")
    several = revisions_in(result) or revisions_in(mapping(asked, "sync"))
    retries = state.get("retryCount")
    return without_empty(
        operation=phase, operation_began=_time(state, "startedAt"), operation_ended=_time(state, "finishedAt"),
        operation_message=text(state, "message")[:LONGEST], revision=revision,
        automatic=mapping(asked, "initiatedBy").get("automated") is True,
        retries=retries if type(retries) is int else None,
        revisions={str(n): one for n, one in enumerate(several, 1)}, hooks=_hooks(result),
        operation_request=_request(asked),
    )  # fmt: skip


def revisions_in(found: Manifest) -> list[str]:
    """The revisions of several sources."""
    several = found.get("revisions")
    return [one for one in several[:MOST] if isinstance(one, str)] if isinstance(several, list) else []


def revision_of(found: Manifest) -> str:
    """The revision, or those of several sources in order: `abc, 1.2`."""
    return ", ".join(revisions_in(found))[:LONGEST_OF_MANY] or text(found, "revision")


def _request(asked: Manifest) -> dict[str, Any]:
    """What was asked of an operation, and by whom."""
    by, sync = mapping(asked, "initiatedBy"), mapping(asked, "sync")
    strategy = next((name for name in ("apply", "hook") if name in mapping(sync, "syncStrategy")), "")
    only = [id_suffix(named_key(one)) for one in maps(sync, "resources")]
    notes = [f"{text(one, 'name')}: {text(one, 'value')}"[:LONGEST_OF_MANY] for one in maps(asked, "info")]
    return without_empty(
        by=text(by, "username"), automatic=by.get("automated") is True or None, revision=revision_of(sync),
        prune=sync.get("prune") is True or None, dry_run=sync.get("dryRun") is True or None, strategy=strategy,
        force=mapping(sync, "syncStrategy", strategy).get("force") is True or None, options=options_in(sync),
        resources=only[:MOST], resources_left_out=max(0, len(only) - MOST) or None, info=notes[:MOST],
    )  # fmt: skip


def options_in(found: Manifest) -> list[str]:
    """The options of a synchronisation, such as `SkipHooks=true`."""
    options = found.get("syncOptions")
    return [one for one in options[:MOST] if isinstance(one, str)] if isinstance(options, list) else []


def hydration(status: Manifest) -> dict[str, Any]:
    """How far the hydration of the manifests is, and which revisions were hydrated last."""
    state = mapping(status, "sourceHydrator")
    now, last = mapping(state, "currentOperation"), mapping(state, "lastSuccessfulOperation")
    revisions = without_empty(
        dry=text(last, "drySHA"), hydrated=text(last, "hydratedSHA"), compared=text(state, "lastComparedDryRevision")
    )
    phase = text(now, "phase")
    if phase not in HYDRATIONS:
        return without_empty(hydrated=revisions)
    since, dry = text(now, "finishedAt") or text(now, "startedAt"), text(now, "drySHA")
    of = f" of {dry}" if dry else ""
    words = f"the hydration{of} is {phase}{f' since {since}' if since else ''}"
    before = f"; hydrated before: {revisions['dry']} as {revisions.get('hydrated', '?')}" if "dry" in revisions else ""
    said = text(now, "message")[:LONGEST_OF_MANY]
    return without_empty(
        hydration=phase, hydrated=revisions,
        hydration_message=f"{words}{f': {said}' if said else ''}{before if phase != 'Hydrated' else ''}",
    )  # fmt: skip


def deployments(status: Manifest) -> list[Mapping[str, Any]]:
    """What was deployed, the newest last: of each the revision, when, and who asked for it."""
    found = [*maps(status, "history")][-DEPLOYMENTS:]
    return [
        without_empty(
            id=one.get("id") if type(one.get("id")) is int else None, revision=revision_of(one),
            deployed=text(one, "deployedAt"), by=text(mapping(one, "initiatedBy"), "username"),
            automatic=mapping(one, "initiatedBy").get("automated") is True or None,
        )
        for one in found
    ]  # fmt: skip


def _time(state: Manifest, name: str) -> int | None:
    try:
        return nanoseconds(text(state, name)) if text(state, name) else None
    except ValueError:
        return None


def _hooks(result: Manifest) -> list[dict[str, str]]:
    """The hooks of an operation, in the order in which they ran."""
    found = [
        without_empty(
            phase=text(one, "syncPhase") or text(one, "hookType"), resource=id_suffix(named_key(one)),
            result=text(one, "hookPhase"), message=text(one, "message")[:LONGEST_OF_MANY],
        )
        for one in maps(result, "resources") if text(one, "hookType")
    ]  # fmt: skip
    return sorted(found, key=lambda one: rank(one.get("phase", "")))[:MOST]


def resource_failures(status: Manifest, entity_id: str) -> Iterator[ObservedEvent]:
    """The events of the resources that the last operation could not synchronise."""
    state = mapping(status, "operationState")
    if text(state, "phase") in PHASES:
        for one in maps(mapping(state, "syncResult"), "resources"):
            key = named_key(one)
            if one.get("status") == "SyncFailed" and key.kind and key.name and not text(one, "hookType"):
                why = without_empty(reason="SyncFailed", message=text(one, "message")[:LONGEST])
                compared = [text(state, "startedAt"), state.get("retryCount"), why]
                yield ObservedEvent("resource", "sync_failed", f"{entity_id}/{id_suffix(key)}", why, compared)
