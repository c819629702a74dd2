"""Histories of Fleet's bundles and their counts."""

from typing import Any, Self

from phaseline.engine.products.fleet.counts import FleetCounts, counts
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from tests.support.gitops_history import GitOpsHistory

BUNDLE = "infra/web"
ON = f"{BUNDLE}/c1"


def part(number: int, where: str = ON) -> str:
    return f"{where}/core:ConfigMap/shop/r{number}"


class FleetHistory(GitOpsHistory):
    def __init__(self) -> None:
        super().__init__()
        self.observer = Observer("/fleet")

    def see(self, *objects: dict[str, Any], gone: bool = False) -> Self:
        """Observe objects one after the other, and take all events of each."""
        for found in objects:
            for event in self.observer.see(ObjectChange(found, gone)):
                kind, trigger = event["type"].split(".")
                self.do(kind, trigger, event["subject"].partition("/")[2], **(event.get("data") or {}))
        return self

    def restart(self) -> Self:
        """Go on with an observer that remembers nothing."""
        self.observer = Observer("/fleet")
        return self

    def put(self, where: str = ON, parts: int = 2, ident: str = "v1") -> Self:
        """Make an applied deployment with this many ready resources."""
        self.do("bundle_deployment", "target", where, deployment_id=ident)
        for number in range(parts):
            self.do("bundle_resource", "declared", part(number, where))
        self.do("bundle_deployment", "applied", where, deployment_id=ident)
        for number in range(parts):
            self.do("bundle_resource", "ready", part(number, where))
        return self

    def state(self, kind: str, entity_id: str) -> str:
        return self.states(kind, entity_id)[0]

    def counts(self, kind: str, entity_id: str) -> FleetCounts:
        tree = self.history.tree
        top = tree.entities[kind][entity_id]
        return counts(
            top,
            [
                one
                for found in tree.entities.values()
                for one in found.values()
                if one.id.startswith(f"{entity_id}/") or one is top
            ],
        )
