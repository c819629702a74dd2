"""The comparison of a desired and a live object.

Belongs here: the steps of one comparison, from two manifests to the paths that differ. Does not: the steps themselves
(`normalize`, `canonical`, `merge`, `defaults`), ignore rules (`ignore`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.kubernetes.diff.builtin_kinds import BUILTIN_KINDS
from phaseline.machines.kubernetes.diff.canonical import canonical
from phaseline.machines.kubernetes.diff.differences import NONE, Difference, Path, differences
from phaseline.machines.kubernetes.diff.known_types import KnownType, canonical_fields
from phaseline.machines.kubernetes.diff.merge import custom, strategic
from phaseline.machines.kubernetes.diff.merge_schema import NO_SCHEMA, OTHER_KIND, SCHEMAS, MergeSchema
from phaseline.machines.kubernetes.diff.normalize import last_applied, normalize
from phaseline.machines.kubernetes.manifest_id import group_kind
from phaseline.machines.language.rules import Revision

COMPARISON = Revision("kubernetes.comparison", 2)
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
    known_types: tuple[KnownType, ...] = (),
) -> list[Difference]:
    """The paths at which applying `desired` would change `live`; none if they are in sync.

    last: the object of the previous apply, for a three-way merge; by default the one in the live object's annotation.
    dry_run: the API server's answer to a dry-run apply, used instead of a merge; what its webhooks add does not count.
    aggregates: leave out the rules of aggregated ClusterRoles. known_types: fields of a custom kind that have a known
    type. Pure. The caller has already removed ignored fields from all inputs (`ignore`).
    """
    before = last or last_applied(live)
    in_namespace = all(_has_namespace(side) for side in (desired, live))
    sides = [
        normalize(side, in_namespace=in_namespace, aggregates=aggregates)
        for side in (desired, live, before)
        if side is not None
    ]
    is_known = (str(desired.get("apiVersion")), str(desired.get("kind"))) in BUILTIN_KINDS
    if dry_run is not None:
        answered = normalize(dry_run, in_namespace=in_namespace, aggregates=aggregates)
        pair = [canonical(side) if is_known else canonical_fields(side, known_types) for side in (answered, sides[1])]
        return [one for one in differences(*pair) if one.wanted is NONE or _is_there(sides[0], one.path)]
    sides = [canonical(side) if is_known else canonical_fields(side, known_types) for side in sides]
    wanted, found, applied = sides[0], sides[1], sides[2] if before is not None else None
    if not is_known:
        return [*differences(custom(found, applied, wanted), found)]
    schema = SCHEMAS.get(group_kind(desired), OTHER_KIND)
    if desired["kind"] == "StatefulSet":
        found = _without_more_claims(found, wanted)
    predicted = strategic(found, applied, wanted, schema)
    if predicted is found:
        return []
    return [*differences(as_stored(predicted, schema), as_stored(found, schema), schema)]


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
    """The live object with its claim templates (which cannot change) cut to the fields of the desired ones."""
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


def as_stored(found: Any, schema: MergeSchema) -> Any:
    """An object as the API server would store it: with defaults, in canonical form."""
    made = _copied(found)
    _add(made, schema)
    return canonical(made)


def _copied(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _copied(value) if isinstance(value, dict | list) else value for name, value in found.items()}
    if isinstance(found, list):
        return [_copied(value) if isinstance(value, dict | list) else value for value in found]
    return found


def _add(found: Any, schema: MergeSchema) -> None:
    if isinstance(found, list):
        for one in found:
            _add(one, schema)
    elif isinstance(found, dict):
        if schema.adds is not None:
            schema.adds(found)
        for name, part in schema.has.items():
            if part is not NO_SCHEMA and name in found:
                _add(found[name], part)
