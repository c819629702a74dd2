"""What is known of a kind beyond its objects: whether it has a status and is cluster-wide, the schema of its objects.

Belongs here: `KindFacts`, reading them from a CustomResourceDefinition and from the data of an event. Does not: finding
such definitions (`products.observe`), the kinds that are built in (`known.table`, `manifest_id`), health (`health`).
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from phaseline.machines.kinds.kubernetes.diff.schemas import cut, type_of_schema
from phaseline.machines.kinds.kubernetes.diff.types import FieldType
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS, Manifest, group_kind, is_cluster_wide
from phaseline.schemas.templates.shared_values import SHARED

CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")
FIELD = "kind_facts"
"""The field of an observation in which its observer sends them."""
LONGEST = 100_000
"""The most characters of a schema in an event, as JSON. A longer one is left out."""


class KindFacts(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """What an observer knows of a kind.

    status: False if the published type of the kind has no status. namespaced: False if its objects have no namespace.
    schema: that of its objects (OpenAPI v3, as a CustomResourceDefinition holds it), or a part of it.
    """

    status: bool = True
    namespaced: bool = True
    schema: Manifest | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "KindFacts":
        """The facts in the data of an event. A fact that is absent, or no fact, says nothing."""
        found = data.get(FIELD)
        if not isinstance(found, MAPS):
            return UNTOLD
        schema = found.get("schema")
        return cls(
            status=found.get("status") is not False,
            namespaced=found.get("namespaced") is not False,
            schema=schema if isinstance(schema, MAPS) and schema else None,
        )

    @cached_property
    def type(self) -> FieldType | None:
        """The type of its objects; None if its schema is not known."""
        return None if self.schema is None else SHARED.once(self.schema, "type", type_of_schema)

    def about(self, desired: Manifest | None) -> dict[str, Any]:
        """The facts as an event with this object of Git holds them; empty if nothing is known."""
        told: dict[str, Any] = {} if self.status else {"status": False}
        if self.schema is not None and desired is not None:
            schema = cut(self.schema, [desired])
            told |= {"schema": schema} if len(msgspec.json.encode(schema)) <= LONGEST else {}
        return told


UNTOLD = KindFacts()
"""Nothing is known of a kind."""


class KindsTold:
    """The kinds whose definitions were seen, and those of which an object was seen that has no namespace."""

    def __init__(self, objects: Iterable[Manifest] = ()) -> None:
        """Learn the kinds of these objects that are definitions."""
        self._told: dict[tuple[str, str], _Definition] = {}
        self._cluster_wide: set[tuple[str, str]] = set()
        for one in objects:
            self.note(one)

    def note(self, found: Manifest) -> None:
        """Learn the kind that an object defines, if it is a CustomResourceDefinition; that the API server made one."""
        if group_kind(found) != CRD:
            return
        spec = _map(found.get("spec"))
        group, kind = spec.get("group"), _map(spec.get("names")).get("kind")
        if isinstance(group, str) and isinstance(kind, str):
            self._told[group, kind] = _Definition(spec)

    def note_scope(self, group: str, kind: str, *, namespaced: bool) -> None:
        """Learn whether the objects of a kind have a namespace."""
        (self._cluster_wide.discard if namespaced else self._cluster_wide.add)((group, kind))

    def of(self, found: Manifest) -> KindFacts:
        """What is known of the kind of an object, in the version of that object."""
        sort = group_kind(found)
        told = self._told.get(sort)
        if told is not None:
            return told.facts(str(found.get("apiVersion")).rpartition("/")[2])
        return CLUSTER_WIDE if sort in self._cluster_wide else UNTOLD

    def is_cluster_wide(self, group: str, kind: str) -> bool:
        """Whether the objects of a kind have no namespace, as far as that is known."""
        if is_cluster_wide(group, kind) or (group, kind) in self._cluster_wide:
            return True
        told = self._told.get((group, kind))
        return told is not None and not told.namespaced


CLUSTER_WIDE = KindFacts(namespaced=False)


class _Definition:
    """A CustomResourceDefinition."""

    def __init__(self, spec: Manifest) -> None:
        self._spec = spec
        self._facts: dict[str, KindFacts] = {}
        self.namespaced = spec.get("scope") != "Cluster"

    def facts(self, version: str) -> KindFacts:
        """What it says of its kind in a version."""
        if version not in self._facts:
            status, schema = not _has_no_status(self._spec), self._schema(version)
            self._facts[version] = KindFacts(status, self.namespaced, schema)
        return self._facts[version]

    def _schema(self, version: str) -> Manifest | None:
        """The schema of a version, if unknown fields are not kept anyway."""
        if self._spec.get("preserveUnknownFields") is True:
            return None
        versions = self._spec.get("versions")
        for one in versions if isinstance(versions, list) else ():
            if isinstance(one, MAPS) and one.get("name") == version:
                return _map(_map(one.get("schema")).get("openAPIV3Schema")) or None
        return None


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
