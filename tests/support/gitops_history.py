"""Histories of GitOps applications, written with few words.

Belongs here: making manifests and events, and playing them. Does not: the tests.
"""

from typing import Any, Self

from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Rejection, Transition, own_facets
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.manifests import Manifest
from tests.support.strategies import History, HistoryStep, event

KINDS = BUILT_IN_KINDS
SET, APP = "shop", "shop/shop"
NOW = 1_772_409_600
"""2026-03-02 00:00:00 UTC."""


def resource_id(found: Manifest, app: str = APP) -> str:
    """The id of the resource that a manifest is about."""
    group, slash, _ = found["apiVersion"].partition("/")
    metadata = found["metadata"]
    return "/".join(
        [app, f"{group if slash else 'core'}:{found['kind']}", metadata.get("namespace") or "-", metadata["name"]]
    )


class GitOpsHistory:
    """A history, event by event, with a clock in seconds."""

    def __init__(self, kinds: Kinds = KINDS) -> None:
        self.history = History(kinds)

    def say(self, kind: str, trigger: str, entity_id: str, **data: Any) -> HistoryStep:
        return self.history.take(event(kind, trigger, entity_id, data))

    def do(self, kind: str, trigger: str, entity_id: str, **data: Any) -> Self:
        step = self.say(kind, trigger, entity_id, **data)
        assert step.accepted, step.records
        return self

    def refused(self, kind: str, trigger: str, entity_id: str, **data: Any) -> Rejection:
        [record] = self.say(kind, trigger, entity_id, **data).records
        assert isinstance(record, Rejection), record
        return record

    def configure(self, entity_id: str = APP, **data: Any) -> Self:
        return self.do("application" if "/" in entity_id else "application_set", "configure", entity_id, **data)

    def observe(self, found: Manifest, **data: Any) -> Self:
        """Report that `found` is in the cluster. `desired=` is the manifest in Git."""
        return self.do("resource", "observed", resource_id(found), live=found, **data)

    def lacks(self, desired: Manifest) -> Self:
        """Report an object that Git declares and the cluster lacks."""
        return self.do("resource", "observed", resource_id(desired), live=None, desired=desired)

    def states(self, kind: str = "application", entity_id: str = APP) -> tuple[str, ...]:
        """The states of health and sync."""
        return tuple(str(facet.state) for facet in own_facets(self.history.tree.entities[kind][entity_id]))

    def attributes(self, kind: str, entity_id: str) -> dict[str, Any]:
        return dict(self.history.tree.entities[kind][entity_id].attributes)


def messages(step: HistoryStep) -> dict[str, str | None]:
    """The message of each transition of a step, by kind and facet."""
    return {f"{r.entity.kind} {r.facet}": r.message for r in step.records if isinstance(r, Transition)}
