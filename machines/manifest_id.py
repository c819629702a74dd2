"""Whether a manifest is that of the resource whose id ends in `<group:Kind>/<namespace>/<name>`.

Belongs here: that one question. Does not: what the manifest says.
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.health import group_kind


def another(found: Mapping[str, Any], entity_id: str) -> str:
    """Why a manifest is none of the resource of that id; empty where it is."""
    kind, namespace, name = entity_id.split("/")[-3:]
    group, own = group_kind(found)
    metadata = found.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    if f"{group or 'core'}:{own}" != kind:
        return f"is of {group or 'core'}:{own}, the id is of {kind}"
    if named.get("name") not in (None, name):
        return f"is called {named['name']!r:.60}, the id says {name!r}"
    if named.get("namespace") not in (None, "", namespace):
        return f"is in namespace {named['namespace']!r:.60}, the id says {namespace!r}"
    return ""
