"""An observation of a Kubernetes object, as the data of an `observed` event holds it.

Belongs here: reading both manifests from the data, checking that they belong to the entity, assessing them; the
attributes that name the object behind an entity. Does not: the states that follow (the tables of `gitops` and `fleet`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from phaseline.machines.kinds.kubernetes.assess import Assessment, Manifest, assess
from phaseline.machines.kinds.kubernetes.kind_facts import FIELD, UNTOLD, KindFacts
from phaseline.machines.kinds.kubernetes.manifest_id import NO_NAMESPACE, ManifestId
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.language.fields import Field, Refusal
from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.records import SECOND
from phaseline.schemas.templates.shared_values import SHARED

OBSERVER = (
    Field("observer",    str, "the `phaseline observe --cluster` that watches its object: its source, the cluster, the "
                              "namespace"),
    Field("observed_as", str, "that object: `<namespace>/<name>`"),
)  # fmt: skip
"""The attributes of an entity that is a Kubernetes object itself, so that its observer can tell when that is gone."""
KIND_FACTS = Field(
    FIELD,
    dict,
    "what its observer knows of its kind: `status` is false if the type of the kind has no status, "
    "`namespaced` is false if its objects have no namespace, `schema` is the part of its schema that Git uses",
)
"""The field of an `observed` event beside the manifests."""
SEEN_BY = tuple(field.name for field in OBSERVER)


class ObservedPair(NamedTuple):
    """The manifests of an observed object; None if not there. is_known: whether `desired` is known.

    facts: what the observer knows of the kind.
    """

    live: Manifest | None
    desired: Manifest | None
    is_known: bool
    facts: KindFacts = UNTOLD

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "ObservedPair":
        """The manifests in the data of an event; without `desired`, it is not known what Git declares."""
        return cls(data.get("live"), data.get("desired"), "desired" in data, KindFacts.of(data))

    def mismatch(self, entity_id: str) -> Refusal | None:
        """Why the event cannot be taken: a manifest is not that of the entity."""
        end = entity_id.rsplit("/", 3)[-3:]
        live = None if self.live is None else ManifestId.of(self.live)
        if live is not None and (wrong := live.mismatch(*end)):
            return Refusal(f"data.live {wrong}", invalid=True)
        desired = None if self.desired is None else SHARED.once(self.desired, "id", ManifestId.of)
        if desired is None or desired == live:
            return None
        if end[1] == NO_NAMESPACE and (not self.facts.namespaced or (live is not None and not live.namespace)):
            desired = msgspec.structs.replace(desired, namespace=None)  # its kind is cluster-wide
        wrong = desired.mismatch(*end)
        return Refusal(f"data.desired {wrong}", invalid=True) if wrong else None

    def assess(
        self,
        overrides: Overrides,
        scripts: ScriptRunner,
        time_ns: int,
        *,
        compares: bool = True,
        explains: bool = False,
    ) -> Assessment:
        """Assess the pair as of the event's time. compares: False leaves out the comparison."""
        known = self.is_known and compares
        return assess(
            self.live,
            self.desired,
            overrides,
            scripts,
            now=time_ns // SECOND,
            is_known=known,
            explains=explains,
            facts=self.facts,
        )


def gone(*, is_known: bool) -> Mapping[str, Any] | Refusal:
    """The answer for an object that is neither in Git nor in the cluster. is_known: whether the entity exists."""
    if is_known:
        return {"gone": True}
    return Refusal("it is neither in Git nor in the cluster: there is nothing to observe")
