"""What is shown of a Secret: its fields and their names, never a value.

Belongs here: manifests, differences and messages without values of Secrets. Does not: refusing events that hold them
(`secret_values`), removing them from what is observed (`products.observe.generic`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.machines.kinds.kubernetes.diff.differences import NONE, Difference
from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreEffect
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest
from phaseline.machines.kinds.kubernetes.secret_values import COPIES, FIELDS, raw_secret_in

MASKED = "(secret)"
"""Stands for a value of a Secret."""
UNTOLD = "it fails on this object; the reason is left out, because it may show a value of the Secret"


def is_secret(*sides: Any) -> bool:
    """Whether one of the sides calls itself a Secret, of whatever group and version."""
    return any(isinstance(side, Mapping) and side.get("kind") == "Secret" for side in sides)


def masked(found: Manifest) -> Manifest:
    """An object for rules that may repeat what they read: of a Secret without values and without copies of itself."""
    if found.get("kind") != "Secret":  # each rule asks this, for each object
        return found
    made = {name: _masked_values(value) if name in FIELDS else value for name, value in found.items()}
    metadata = found.get("metadata")
    if isinstance(metadata, Mapping) and "annotations" in metadata:
        notes = metadata["annotations"]
        kept = {n: v for n, v in notes.items() if n not in COPIES} if isinstance(notes, Mapping) else None
        made["metadata"] = {**metadata, "annotations": kept}
    return made


def shown(found: Manifest | None) -> Manifest | None:
    """An object as a result may hold it: without values of Secrets, also if one stands inside it."""
    if found is None or is_secret(found):
        return None if found is None else masked(found)
    if raw_secret_in(found) is None:
        return found
    return {name: found[name] for name in ("apiVersion", "kind") if name in found}


def _masked_values(found: Any) -> Any:
    if isinstance(found, Mapping):
        return {name: value if value in ("", None) else MASKED for name, value in found.items()}
    return found if found in ("", None) else MASKED


def masked_differences(found: Sequence[Difference], sides: Sequence[Any]) -> list[Difference]:
    """The differences without values of Secrets. sides: the objects that were compared."""
    if not found:
        return []
    if not is_secret(*sides) and all(raw_secret_in(side) is None for side in sides):
        return [*found]
    return [one._replace(wanted=_shown(one.wanted, one), found=_shown(one.found, one)) for one in found]


def _shown(value: Any, one: Difference) -> Any:
    """A side of a difference between objects with a Secret in them, as it may be shown."""
    if value is NONE:
        return value
    is_value = any(step in FIELDS or step in COPIES for step in one.path)
    return MASKED if is_value or raw_secret_in(value) is not None or _has_copy(value) else value


def _has_copy(found: Any) -> bool:
    """Whether the name of a Secret's field, or of an annotation with a copy of it, stands in a value."""
    if isinstance(found, Mapping):
        return any(name in FIELDS or name in COPIES or _has_copy(value) for name, value in found.items())
    if isinstance(found, list):
        return any(map(_has_copy, found))
    return isinstance(found, str) and any(name in found for name in FIELDS)


def masked_effects(found: Sequence[IgnoreEffect]) -> list[IgnoreEffect]:
    """The effects of ignore rules on a Secret, without the messages of programs that read it."""
    return [
        one._replace(problem=UNTOLD) if one.how == "jq" and one.problem and not one.broken else one for one in found
    ]
