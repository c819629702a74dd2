"""The comparison of a desired and a live object.

Belongs here: the steps of one comparison, from two manifests to the paths that differ. Does not: the steps themselves
(`normalize`, `canonical`, `merge`, `defaults`), ignore rules (`ignore`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.diff.canonical import Copies, as_written, canonical, pruned
from phaseline.machines.kinds.kubernetes.diff.differences import NONE, Difference, Path, differences
from phaseline.machines.kinds.kubernetes.diff.holds import holds
from phaseline.machines.kinds.kubernetes.diff.known_types import KnownType, custom_type
from phaseline.machines.kinds.kubernetes.diff.managed_fields import claims, left_behind, without_paths
from phaseline.machines.kinds.kubernetes.diff.merge import applied
from phaseline.machines.kinds.kubernetes.diff.normalize import last_applied, normalize
from phaseline.machines.kinds.kubernetes.diff.types import ANY, FieldType, type_of
from phaseline.machines.kinds.kubernetes.diff.versions import common, identity, in_one_version
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest, group_kind, is_cluster_wide
from phaseline.machines.language.rules import Revision

COMPARISON = Revision("kubernetes.comparison", 6)
"""Raise it when two objects differ at other places than before, or when ignore rules hide others."""
CLAIMS = "volumeClaimTemplates"


def compare(
    desired: Manifest,
    live: Manifest,
    *,
    last: Manifest | None = None,
    dry_run: Manifest | None = None,
    aggregates: bool = True,
    known_types: tuple[KnownType, ...] = (),
    schema: FieldType | None = None,
    namespaced: bool = True,
) -> list[Difference]:
    """The paths at which applying `desired` would change `live`; none if they are in sync.

    last: the object of the previous apply, for a three-way merge; by default the one in the live object's annotation.
    dry_run: the API server's answer to a dry-run apply, used instead of a merge; what its webhooks add does not count.
    aggregates: leave out the rules of aggregated ClusterRoles. known_types: fields of a custom kind that have a known
    type. schema: the type of a custom kind, if its definition is known. namespaced: False for a custom kind that is
    known to be cluster-wide. Pure. The caller has already removed ignored fields from all inputs (`ignore`).
    """
    before = last or last_applied(live)
    sides = _in_one_version(desired, live, before if dry_run is None else dry_run)
    in_namespace = namespaced and all(map(_has_namespace, sides[:2])) and not is_cluster_wide(*group_kind(desired))
    wanted, found, *rest = (normalize(side, in_namespace=in_namespace, aggregates=aggregates) for side in sides)
    known = type_of(*identity(wanted))
    type_ = known or custom_type(*group_kind(wanted), known_types, schema)
    if dry_run is not None and rest:
        answered, stored = (canonical(side, type_) for side in (rest[0], found))
        pair = (pruned(answered, type_), pruned(stored, type_)) if known else (answered, stored)
        return _written(one for one in differences(*pair, type_) if one.wanted is NONE or _is_there(wanted, one.path))
    removed: Sequence[Path] = ()
    if sides[1] is live and (claimed := claims(live)):
        updates = before is None and (known is not None or schema is not None)
        removed = _not_allocated(left_behind(claimed, wanted, found, updates=updates), type_)
    if not removed and (not rest or rest[0] == wanted) and holds(wanted, found, type_):
        return []
    return _differences(_Sides(wanted, found, rest[0] if rest else None), type_, removed)


class _Sides(NamedTuple):
    """The sides of a comparison: what Git wants, what is found, what was applied last."""

    wanted: dict[str, Any]
    found: dict[str, Any]
    applied: dict[str, Any] | None


def _differences(sides: _Sides, type_: FieldType, removed: Sequence[Path]) -> list[Difference]:
    """The differences of normalised sides, by what an apply would make of the one found.

    removed: paths that an apply removes because its manager claims them.
    """
    wanted, found, last = (canonical(side, type_) for side in sides)
    if wanted.get("kind") == "StatefulSet":
        found = _without_more_claims(found, wanted)
    predicted = applied(without_paths(found, [*removed]) if removed else found, last, wanted, type_)
    if predicted is found:
        return []
    left = differences(*both_as_stored(predicted, found, type_), type_)
    return _written(
        one._replace(wanted=_spelt(one.wanted, predicted, one.path), found=_spelt(one.found, found, one.path))
        for one in left
    )


def _written(found: Iterator[Difference]) -> list[Difference]:
    """The differences with values as each side writes them."""
    return [one._replace(wanted=as_written(one.wanted), found=as_written(one.found)) for one in found]


def _not_allocated(paths: Sequence[Path], type_: FieldType) -> list[Path]:
    """The paths without those of fields that the server fills in again."""
    return [path for path in paths if path[-1] not in _type_at(type_, path[:-1]).allocated]


def _type_at(type_: FieldType, path: Path) -> FieldType:
    for step in path:
        type_ = type_.item if isinstance(step, int) else type_.of(step)
    return type_


def _spelt(value: Any, side: Any, path: Path) -> Any:
    """What a side says at a path, if it says it in words that mean nothing, such as `[]` or false."""
    if value is not NONE:
        return value
    for step in path:
        inner: Any = NONE
        if isinstance(side, Mapping):
            inner = side.get(step, NONE)
        elif isinstance(side, list) and isinstance(step, int) and step < len(side):
            inner = side[step]
        side = inner
    return side if side is not None and _says_nothing(side) else NONE


def _says_nothing(value: Any) -> bool:
    """Whether a value is empty at every depth. Another one is not what stands there: it is another member of a list."""
    if isinstance(value, Mapping):
        return all(map(_says_nothing, value.values()))
    return all(map(_says_nothing, value)) if isinstance(value, list) else not value


def _in_one_version(desired: Manifest, live: Manifest, third: Manifest | None) -> list[Manifest]:
    """The sides in one version; if no conversion is known, what has the same meaning."""
    pair = in_one_version(desired, live)
    if pair is None:
        metadata = {"metadata": desired["metadata"]} if desired.get("metadata") else {}  # the same in all versions
        return [{**common(desired, live), **metadata, "apiVersion": live.get("apiVersion")}, live]
    if third is not None and identity(third) != identity(pair[0]):
        both = in_one_version(third, pair[0])
        third = both[0] if both is not None and identity(both[0]) == identity(pair[0]) else None
    return [*pair, *([] if third is None else [third])]


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


def both_as_stored(predicted: Any, found: Any, type_: FieldType) -> tuple[Any, Any]:
    """Two canonical objects as the API server would store them.

    A part that both share is made once, and shared again, so that nobody looks for differences in it.
    """
    copies: Copies = {}
    done: set[int] = set()
    return as_stored(predicted, type_, copies, done), as_stored(found, type_, copies, done)


def as_stored(found: Any, type_: FieldType, copies: Copies | None = None, done: set[int] | None = None) -> Any:
    """A canonical object as the API server would store it: with defaults, without what says nothing.

    copies, done: of what was stored before (`pruned`, `_add`).
    """
    made = pruned(found, type_, copies)
    _add(made, type_, set() if done is None else done)
    return made


def _add(found: Any, type_: FieldType, done: set[int]) -> None:
    """Add the defaults, but not to the maps and lists in `done`, which have them."""
    if id(found) in done:
        return
    done.add(id(found))
    if type_ is ANY:
        return
    if isinstance(found, list):
        for one in found:
            if isinstance(one, dict | list):
                _add(one, type_.item, done)
    elif isinstance(found, dict):
        if type_.adds is not None:
            type_.adds(found)
        for name, value in found.items():
            if isinstance(value, dict | list):
                _add(value, type_.of(name), done)
