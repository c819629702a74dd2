"""Fields that a manager owns, as a live object's `managedFields` has them (spec: GitOps, Ignore rules).

Belongs here: reading them, taking those that differ out of both sides. Does not: which managers are trusted (`ignoring`).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from phaseline.machines.compare.differences import NONE, Path, is_same

Owned = Mapping[str, Any]


def trusted(manager: str, desired: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Path]:
    """Paths that the manager owns in `live`, and that `desired` has too, but not the same."""
    metadata = live.get("metadata")
    entries = metadata.get("managedFields") if isinstance(metadata, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if (
            isinstance(entry, Mapping)
            and entry.get("manager") == manager
            and isinstance(entry.get("fieldsV1"), Mapping)
        ):
            yield from _differing(entry["fieldsV1"], desired, live, ())


def _differing(owned: Owned, desired: Any, live: Any, path: Path) -> Iterator[Path]:
    inner = {name: part for name, part in owned.items() if name != "."}
    if not inner:
        if path and live is not NONE and desired is not NONE and not is_same(desired, live):
            yield path
        return
    for name, part in inner.items():
        for step, one, other in _members(name, desired, live):
            if isinstance(part, Mapping):
                yield from _differing(part, one, other, (*path, step))


def _members(name: str, desired: Any, live: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """What a name in managedFields (`f:` a field, `k:` the member with these keys, `v:` that value) names on both sides."""
    how, _, what = name.partition(":")
    if how == "f" and isinstance(live, Mapping):
        yield what, desired.get(what, NONE) if isinstance(desired, Mapping) else NONE, live.get(what, NONE)
    elif how in ("k", "v") and isinstance(live, list):
        try:
            wanted = json.loads(what)
        except ValueError:
            return
        others = desired if isinstance(desired, list) else []
        for place, one in enumerate(live):
            if _is_it(one, wanted, how):
                yield place, next((other for other in others if _is_it(other, wanted, how)), NONE), one


def _is_it(member: Any, wanted: Any, how: str) -> bool:
    if how == "v":
        return is_same(member, wanted)
    # The API server fills in a protocol that a manifest may leave out.
    return isinstance(member, Mapping) and isinstance(wanted, Mapping) and all(
        member.get(name, value) == value for name, value in wanted.items()
    )  # fmt: skip


def without(found: Any, paths: list[Path]) -> Any:
    """A copy without what is at these paths."""
    ends = {path[0] for path in paths if len(path) == 1}
    inner: dict[Any, list[Path]] = {}
    for path in paths:
        if len(path) > 1:
            inner.setdefault(path[0], []).append(path[1:])
    if isinstance(found, Mapping):
        return {name: without(value, inner.get(name, [])) for name, value in found.items() if name not in ends}
    if isinstance(found, list):
        return [without(value, inner.get(place, [])) for place, value in enumerate(found) if place not in ends]
    return found
