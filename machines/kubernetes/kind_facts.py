"""What is known of a kind beyond its objects: whether its type has a status.

Belongs here: `KindFacts`, reading them from a CustomResourceDefinition and from the data of an event. Does not: finding
such definitions (`engine.observe`), the kinds that are built in (`known.statusless`), health (`health`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from phaseline.machines.kubernetes.manifest_id import MAPS, group_kind

CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
FIELD = "kind_facts"
"""The field of an observation in which its observer sends them."""
Manifest = Mapping[str, Any]


class KindFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an observer knows of a kind. status: False if the published type of the kind has no status."""

    status: bool = True

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "KindFacts":
        """The facts in the data of an event. A fact that is absent, or no fact, says nothing."""
        found = data.get(FIELD)
        return cls(status=not (isinstance(found, MAPS) and found.get("status") is False))


UNTOLD = KindFacts()
"""Nothing is known of a kind."""


class KindsTold:
    """The kinds whose definitions were seen, by group and kind."""

    def __init__(self, definitions: Iterable[Manifest] = ()) -> None:
        """Learn the kinds of these objects that are definitions. Others are passed over."""
        self._told: dict[tuple[str, str], KindFacts] = {}
        for one in definitions:
            self.note(one)

    def note(self, found: Manifest) -> None:
        """Learn the kind that an object defines, if it is a CustomResourceDefinition."""
        if group_kind(found) != CRD:
            return
        spec = _map(found.get("spec"))
        group, kind = spec.get("group"), _map(spec.get("names")).get("kind")
        if isinstance(group, str) and isinstance(kind, str):
            self._told[group, kind] = KindFacts(status=not _has_no_status(spec))

    def of(self, found: Manifest) -> KindFacts:
        """What is known of the kind of an object."""
        return self._told.get(group_kind(found), UNTOLD) if self._told else UNTOLD


def _has_no_status(spec: Manifest) -> bool:
    """Whether no version that is served has a status. A schema that keeps unknown fields may hold one."""
    schemas = [*_schemas(spec)]
    return bool(schemas) and spec.get("preserveUnknownFields") is not True and not any(map(_may_have, schemas))


def _schemas(spec: Manifest) -> Iterator[tuple[Manifest, Manifest]]:
    """The schema and the subresources of each version that is served."""
    versions = spec.get("versions")
    for one in versions if isinstance(versions, list) else ():
        if isinstance(one, MAPS) and one.get("served") is not False:
            yield _map(_map(one.get("schema")).get("openAPIV3Schema")), _map(one.get("subresources"))


def _may_have(version: tuple[Manifest, Manifest]) -> bool:
    schema, subresources = version
    properties = _map(schema.get("properties"))
    keeps = schema.get("x-kubernetes-preserve-unknown-fields") is True or "additionalProperties" in schema
    return keeps or not properties or "status" in properties or "status" in subresources


def _map(found: Any) -> Manifest:
    return found if isinstance(found, MAPS) else {}
