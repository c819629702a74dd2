"""Whether what Git says still holds in the cluster (spec: GitOps, Sync).

Belongs here: one comparison, from two manifests to the places that differ. Does not: its parts (`normal`, `values`, `merge`,
`defaults`), what people want ignored (`ignoring`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.compare.differences import NONE, Difference, Path, differences
from phaseline.machines.compare.known import KNOWN
from phaseline.machines.compare.merge import custom, strategic
from phaseline.machines.compare.normal import group_of, last_applied, normal
from phaseline.machines.compare.shapes import NOTHING, OTHER, SHAPES, Shape
from phaseline.machines.compare.typed import Typed, told
from phaseline.machines.compare.values import told_once
from phaseline.machines.rules import Revision

__all__ = ["COMPARISON", "NONE", "SHAPES", "Difference", "compare", "whole"]

COMPARISON = Revision("kubernetes.comparison", 1)
"""Raise it when two objects differ at other places than before, or when ignore rules hide others."""
Manifest = Mapping[str, Any]
CLAIMS = "volumeClaimTemplates"


def compare(
    desired: Manifest,
    live: Manifest,
    *,
    last: Manifest | None = None,
    dry_run: Manifest | None = None,
    aggregates: bool = True,
    typed: tuple[Typed, ...] = (),
) -> list[Difference]:
    """The places at which the live object is not what the desired one, applied to it, would make of it; none: in sync.

    last: what was applied before (three-way); the live object's own word where None; two-way without either.
    dry_run: what the API server says that applying would make; then nothing is computed, and what its webhooks add does not count.
    aggregates: the rules of aggregated ClusterRoles do not count. typed: fields of a custom kind that are of a known type.
    Pure; of what people want ignored, the caller has made all sides free (`ignoring`).
    """
    before = last or last_applied(live)
    in_namespace = all(_has_namespace(side) for side in (desired, live))
    sides = [
        normal(side, in_namespace=in_namespace, aggregates=aggregates)
        for side in (desired, live, before)
        if side is not None
    ]
    is_known = (str(desired.get("apiVersion")), str(desired.get("kind"))) in KNOWN
    if dry_run is not None:
        answered = normal(dry_run, in_namespace=in_namespace, aggregates=aggregates)
        told_ = [told_once(side) if is_known else told(side, typed) for side in (answered, sides[1])]
        return [one for one in differences(*told_) if one.wanted is NONE or _is_there(sides[0], one.path)]
    sides = [told_once(side) if is_known else told(side, typed) for side in sides]
    wanted, found, applied = sides[0], sides[1], sides[2] if before is not None else None
    if not is_known:
        return [*differences(custom(found, applied, wanted), found)]
    shape = SHAPES.get((group_of(desired), str(desired["kind"])), OTHER)
    if desired["kind"] == "StatefulSet":
        found = _without_more_claims(found, wanted)
    predicted = strategic(found, applied, wanted, shape)
    if predicted is found:
        return []
    return [*differences(whole(predicted, shape), whole(found, shape), shape)]


def _is_there(found: Any, path: Path) -> bool:
    for step in path:
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif not (isinstance(found, list) and isinstance(step, int)):
            return False
        elif step < len(found):
            found = found[step]
    return True


def _has_namespace(side: Manifest) -> bool:
    metadata = side.get("metadata")
    return isinstance(metadata, Mapping) and bool(metadata.get("namespace"))


def _without_more_claims(found: dict[str, Any], wanted: Manifest) -> dict[str, Any]:
    """The live object with no more in its claim templates, which cannot be changed, than the desired one has there."""
    spec, asked = found.get("spec"), wanted.get("spec")
    if not isinstance(spec, Mapping) or not isinstance(asked, Mapping):
        return found
    cut = _cut(spec.get(CLAIMS), asked.get(CLAIMS))
    return {**found, "spec": {**spec, CLAIMS: cut}} if cut is not None else found


def _cut(found: Any, wanted: Any) -> Any:
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        return {name: _cut(value, wanted[name]) for name, value in found.items() if name in wanted}
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        return [_cut(one, other) for one, other in zip(found, wanted, strict=True)]
    return found


def whole(found: Any, shape: Shape) -> Any:
    """An object as the API server would keep it."""
    made = _copied(found)
    _add(made, shape)
    return told_once(made)


def _copied(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _copied(value) if isinstance(value, dict | list) else value for name, value in found.items()}
    if isinstance(found, list):
        return [_copied(value) if isinstance(value, dict | list) else value for value in found]
    return found


def _add(found: Any, shape: Shape) -> None:
    if isinstance(found, list):
        for one in found:
            _add(one, shape)
    elif isinstance(found, dict):
        if shape.adds is not None:
            shape.adds(found)
        for name, part in shape.has.items():
            if part is not NOTHING and name in found:
                _add(found[name], part)
