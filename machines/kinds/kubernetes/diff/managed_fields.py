"""Fields that a manager owns, from a live object's managedFields.

Belongs here: reading them, which manager applies what Git says, removing paths from an object. Does not: which managers
are ignored (`ignore`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.diff.differences import NONE, Path, is_same
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS
from phaseline.schemas import codec

Owned = Mapping[str, Any]


_NO_MEMBERS: list[Any] = []  # lives as long as any index of it
MOST = 1_000_000
"""How many members of lists are looked at for one manager. What further names select is taken as not owned."""


APPLY = "Apply"
"""The operation of a server-side apply."""
APPLIERS = frozenset({
    "argocd-controller", "argocd-application-controller", "gitops-engine", "kustomize-controller", "helm-controller", "flux",
    "fleetagent", "fleet-agent",
})  # fmt: skip
"""The names under which Argo CD, Flux and Fleet apply what Git says."""
MARKS = frozenset({
    "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by", "meta.helm.sh/release-name", "meta.helm.sh/release-namespace",
    "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace", "kustomize.toolkit.fluxcd.io/name",
    "kustomize.toolkit.fluxcd.io/namespace", "kustomize.toolkit.fluxcd.io/checksum", "objectset.rio.cattle.io/hash",
    "objectset.rio.cattle.io/applied", "objectset.rio.cattle.io/id", "objectset.rio.cattle.io/owner-gvk",
    "objectset.rio.cattle.io/owner-name", "objectset.rio.cattle.io/owner-namespace", "objectset.rio.cattle.io/inputid",
    "kubectl.kubernetes.io/last-applied-configuration", "fleet.cattle.io/bundle-id", "field.cattle.io/projectId",
})  # fmt: skip
"""Labels and annotations that appliers add to what Git says."""


class FieldClaim(NamedTuple):
    """The fields that a manager claims by one sort of operation."""

    manager: str
    operation: str
    fields: Owned


def claims(live: Mapping[str, Any]) -> list[FieldClaim]:
    """Who claims which fields of an object, those of its status aside."""
    metadata = live.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, MAPS) else None
    found = []
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, MAPS) and isinstance(owned := entry.get("fieldsV1"), MAPS):
            manager, operation = entry.get("manager"), entry.get("operation")
            if entry.get("subresource") != "status" and isinstance(manager, str) and isinstance(operation, str):
                found.append(FieldClaim(manager, operation, owned))
    return found


def may_apply(claim: FieldClaim) -> bool:
    """Whether a claim may be that of the applier of Git."""
    return claim.operation == APPLY or claim.manager in APPLIERS


def left_behind(claimed: Sequence[FieldClaim], desired: Mapping[str, Any], live: Any, *, updates: bool) -> list[Path]:
    """The paths in `live` that only the applier of Git claims, and that Git does not say: its next apply removes them.

    The applier is one of `APPLIERS`; if none is there, each manager that applies, and claims most of what Git says.
    updates: what an applier of Git updated, without a server-side apply, counts as well, if it applied nothing so.
    """
    named = [one for one in claimed if one.manager in APPLIERS]
    applying = [one for one in named or claimed if one.operation == APPLY]
    if named:
        applying = applying or (named if updates else [])
    else:
        applying = [one for one in applying if _claims_most(one.fields, desired)]
    own = named or applying
    others = [one.fields for one in claimed if one not in own] if applying else []
    search = _Search()
    found: dict[Path, None] = {}
    for one in applying:
        found |= dict.fromkeys(_unsaid(search, one.fields, others, desired, live, ()))
    return [*found]


def _claims_most(owned: Owned, desired: Any) -> bool:
    """Whether at least half of what Git says is claimed, the identity of the object aside."""
    said = claimed = 0
    for name, value in desired.items() if isinstance(desired, Mapping) else ():
        if name not in ("apiVersion", "kind"):
            is_metadata = name == "metadata" and isinstance(value, Mapping)
            inner = {n: v for n, v in value.items() if n not in ("name", "namespace")} if is_metadata else value
            one, other = _counted(owned.get(f"f:{name}"), inner) if inner or not is_metadata else (0, 0)
            said, claimed = said + one, claimed + other
    return bool(said) and 2 * claimed >= said


def _counted(owned: Any, said: Any) -> tuple[int, int]:
    """How many values are said, lists as one, and how many of them are claimed."""
    if not isinstance(said, Mapping) or not said:
        return 1, int(owned is not None)
    inner = owned if isinstance(owned, Mapping) else {}
    if owned is not None and not (inner.keys() - {"."}):  # a map that is claimed whole
        inner = {f"f:{name}": {} for name in said}
    pairs = [_counted(inner.get(f"f:{name}"), value) for name, value in said.items()]
    return sum(one for one, _ in pairs), sum(other for _, other in pairs)


def _unsaid(
    search: "_Search", owned: Owned, others: Sequence[Any], desired: Any, live: Any, path: Path
) -> Iterator[Path]:
    for name, part in owned.items():
        if name == "." or not isinstance(part, Mapping):
            continue
        theirs = [one[name] for one in others if isinstance(one, Mapping) and name in one]
        for step, one, other in _members(search, name, desired, live):
            here = (*path, step)
            if other is NONE or (step in MARKS and len(path) == 2 and path[0] == "metadata"):
                continue
            if one is NONE and not theirs and not _has_mark(here, part):
                yield here
            elif one is not NONE or part.keys() - {"."}:
                yield from _unsaid(search, part, theirs, {} if one is NONE else one, other, here)


def _has_mark(path: Path, owned: Owned) -> bool:
    """Whether labels or annotations hold a mark of an applier."""
    return path[:1] == ("metadata",) and any(name.removeprefix("f:") in MARKS for name in owned)


def differing_paths(manager: str, desired: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Path]:
    """Paths that the manager owns in `live`, and that have another value in `desired`."""
    metadata = live.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, Mapping) else None
    search = _Search()
    for entry in entries if isinstance(entries, list) else ():
        if (
            isinstance(entry, Mapping)
            and entry.get("manager") == manager
            and isinstance(entry.get("fieldsV1"), Mapping)
        ):
            yield from _differing(search, entry["fieldsV1"], desired, live, ())


class _Search:
    """Finds members of lists by their keys, without comparing each with each."""

    def __init__(self) -> None:
        self._left = MOST
        self._indexes: dict[tuple[int, tuple[str, ...]], tuple[dict[Any, list[int]], list[int]]] = {}

    def find(self, members: list[Any], how: str, wanted: Any) -> list[int]:
        """The indexes of the members that are meant, in their order; none if too many were looked at already."""
        names = tuple(sorted(wanted)) if isinstance(wanted, Mapping) else ()
        if how == "k" and not isinstance(wanted, Mapping):
            return []
        by_key, others = self._index(members, how, names)
        key = _key(wanted, how, names)
        may_be = others if key is None else [*by_key.get(key, ()), *others]
        if key is None:
            may_be = [*range(len(members))]
        self._left -= len(may_be)
        return sorted(index for index in may_be if _is_it(members[index], wanted, how)) if self._left > 0 else []

    def _index(self, members: list[Any], how: str, names: tuple[str, ...]) -> tuple[dict[Any, list[int]], list[int]]:
        """The indexes of members by the values of these keys, and of those that lack a key or hold no plain value."""
        asked = (id(members), (how, *names))
        if asked not in self._indexes:
            self._left -= len(members)
            by_key: dict[Any, list[int]] = {}
            others: list[int] = []
            for index, member in enumerate(members) if self._left > 0 else ():
                key = _key(member, how, names)
                (others if key is None else by_key.setdefault(key, [])).append(index)
            self._indexes[asked] = by_key, others
        return self._indexes[asked]


def _key(member: Any, how: str, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The values by which a member is found; None if it has not all of them, or one is a map or a list."""
    if how == "v":
        values: tuple[Any, ...] = (member,)
    elif isinstance(member, Mapping) and all(name in member for name in names):
        values = tuple(member[name] for name in names)
    else:
        return None
    return values if all(isinstance(value, str | int | float) for value in values) else None


def _differing(search: _Search, owned: Owned, desired: Any, live: Any, path: Path) -> Iterator[Path]:
    inner = {name: part for name, part in owned.items() if name != "."}
    if not inner:
        if path and live is not NONE and desired is not NONE and not is_same(desired, live):
            yield path
        return
    for name, part in inner.items():
        for step, one, other in _members(search, name, desired, live):
            if isinstance(part, Mapping):
                yield from _differing(search, part, one, other, (*path, step))


def _members(search: _Search, name: str, desired: Any, live: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """The members that a name in managedFields selects: `f:` a field, `k:` a member by keys, `v:` a value."""
    how, _, what = name.partition(":")
    if how == "f" and isinstance(live, Mapping):
        yield what, desired.get(what, NONE) if isinstance(desired, Mapping) else NONE, live.get(what, NONE)
    elif how in ("k", "v") and isinstance(live, list):
        try:
            wanted = codec.decode_text(what)
        except codec.Undecodable:
            return
        others: list[Any] = desired if isinstance(desired, list) else _NO_MEMBERS
        there = next(iter(search.find(others, how, wanted)), None)
        for index in search.find(live, how, wanted):
            yield index, NONE if there is None else others[there], live[index]


def _is_it(member: Any, wanted: Any, how: str) -> bool:
    if how == "v":
        return is_same(member, wanted)
    # The API server adds a protocol that a manifest may leave out.
    return isinstance(member, Mapping) and all(member.get(name, value) == value for name, value in wanted.items())


def without_paths(found: Any, paths: list[Path]) -> Any:
    """A copy without these paths."""
    ends = {path[0] for path in paths if len(path) == 1}
    inner: dict[Any, list[Path]] = {}
    for path in paths:
        if len(path) > 1:
            inner.setdefault(path[0], []).append(path[1:])
    if isinstance(found, Mapping):
        return {name: without_paths(value, inner.get(name, [])) for name, value in found.items() if name not in ends}
    if isinstance(found, list):
        return [without_paths(value, inner.get(index, [])) for index, value in enumerate(found) if index not in ends]
    return found
