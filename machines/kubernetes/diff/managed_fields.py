"""Fields that a manager owns, from a live object's managedFields.

Belongs here: reading them, removing paths from an object. Does not: which managers are ignored (`ignore`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from phaseline.machines.kubernetes.diff.differences import NONE, Path, is_same
from phaseline.schemas import codec

Owned = Mapping[str, Any]


def differing_paths(manager: str, desired: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Path]:
    """Paths that the manager owns in `live`, and that have another value in `desired`."""
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
    """The members that a name in managedFields selects: `f:` a field, `k:` a member by keys, `v:` a value."""
    how, _, what = name.partition(":")
    if how == "f" and isinstance(live, Mapping):
        yield what, desired.get(what, NONE) if isinstance(desired, Mapping) else NONE, live.get(what, NONE)
    elif how in ("k", "v") and isinstance(live, list):
        try:
            wanted = codec.decode_text(what)
        except codec.Undecodable:
            return
        others = desired if isinstance(desired, list) else []
        for index, one in enumerate(live):
            if _is_it(one, wanted, how):
                yield index, next((other for other in others if _is_it(other, wanted, how)), NONE), one


def _is_it(member: Any, wanted: Any, how: str) -> bool:
    if how == "v":
        return is_same(member, wanted)
    # The API server adds a protocol that a manifest may leave out.
    return isinstance(member, Mapping) and isinstance(wanted, Mapping) and all(
        member.get(name, value) == value for name, value in wanted.items()
    )  # fmt: skip


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
