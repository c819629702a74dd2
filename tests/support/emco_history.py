"""Histories of EMCO's resources, written with few words.

Belongs here: making events and playing them. Does not: the tests.
"""

from typing import Any

from phaseline.schemas.records import Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.strategies import History, HistoryStep, event

KINDS = BUILT_IN_KINDS
GROUP = "p+app+v1+group"
CTX, NEW = "c1", "c2"


def context(name: str = CTX, root: str = GROUP) -> str:
    return f"{root}/{name}"


def cluster(name: str = "edge1", app: str = "web", ctx: str = CTX) -> str:
    return f"{context(ctx)}/{app}/pv+{name}"


def resource(token: str = "dep+Deployment", where: str = "edge1", app: str = "web", ctx: str = CTX) -> str:
    return f"{cluster(where, app, ctx)}/{token}"


class EmcoHistory:
    """A history, event by event. The last step holds the rejection of a rejected event."""

    def __init__(self) -> None:
        self.history = History(KINDS)

    def say(self, kind: str, trigger: str, entity_id: str, /, **data: Any) -> HistoryStep:
        return self.history.take(event(kind, trigger, entity_id, data))

    def do(self, kind: str, trigger: str, entity_id: str, /, **data: Any) -> "EmcoHistory":
        step = self.say(kind, trigger, entity_id, **data)
        assert step.accepted, step.records
        return self

    def refused(self, kind: str, trigger: str, entity_id: str, /, **data: Any) -> Rejection:
        [record] = self.say(kind, trigger, entity_id, **data).records
        assert isinstance(record, Rejection), record
        return record

    def state(self, kind: str, entity_id: str, facet: int = 0) -> str:
        return str(self.history.tree.entities[kind][entity_id].facets[facet].state)

    def base(self, kind: str, entity_id: str, facet: int = 0) -> str:
        return str(self.history.tree.entities[kind][entity_id].facets[facet].base)

    def attributes(self, kind: str, entity_id: str) -> dict[str, Any]:
        return dict(self.history.tree.entities[kind][entity_id].attributes)

    # ---- the usual beginnings

    def group(self, **data: Any) -> "EmcoHistory":
        return self.do("emco_resource", "create", GROUP, **data).do("emco_resource", "approve", GROUP)

    def context(self, *resources: str, ctx: str = CTX, **data: Any) -> "EmcoHistory":
        """A created context with these resources."""
        self.do("app_context", "create", context(ctx), **data)
        for name in resources:
            self.do("rsync_resource", "add", name)
        return self

    def each(self, trigger: str, *resources: str) -> "EmcoHistory":
        for name in resources:
            self.do("rsync_resource", trigger, name)
        return self


def instantiated(*resources: str) -> EmcoHistory:
    return EmcoHistory().group().context(*resources).do("emco_resource", "instantiate", GROUP, context=CTX)


def told(step: HistoryStep) -> list[tuple[str, str, str, str]]:
    """For each record: the entity, the new state, the trigger, and the kind of cause."""
    return [
        (f"{r.entity.kind} {r.entity.id.rpartition('/')[2]} {r.facet}", str(r.after), r.trigger, r.cause.by)
        for r in step.records
        if isinstance(r, Transition)
    ]
