"""The identity of a manifest: its group and kind, and whether it belongs to an entity's id.

Belongs here: reading the identity, which types are maps. Does not: anything else a manifest says.
"""

from collections.abc import Mapping
from typing import Any

MAPS = (dict, Mapping)
"""For `isinstance`: a map of any type. The usual one stands first, because to ask for the other takes long."""


def group_kind(found: Mapping[str, Any]) -> tuple[str, str]:
    """The group (empty for core) and kind of an object."""
    version, kind = found.get("apiVersion"), found.get("kind")
    group, slash, _ = version.partition("/") if isinstance(version, str) else ("", "", "")
    return (group if slash else ""), kind if isinstance(kind, str) else ""


def mismatch(found: Mapping[str, Any], entity_id: str) -> str:
    """Why a manifest is not the object of an id that ends in `<group:Kind>/<namespace>/<name>`; empty if it is."""
    kind, namespace, name = entity_id.rsplit("/", 3)[-3:]
    group, own = group_kind(found)
    metadata = found.get("metadata")
    named = metadata if isinstance(metadata, MAPS) else {}
    if f"{group or 'core'}:{own}" != kind:
        return f"is of {group or 'core'}:{own}, the id is of {kind}"
    if named.get("name") not in (None, name):
        return f"is called {named['name']!r:.60}, the id says {name!r}"
    if named.get("namespace") not in (None, "", namespace):
        return f"is in namespace {named['namespace']!r:.60}, the id says {namespace!r}"
    return ""
