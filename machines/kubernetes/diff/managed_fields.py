"""Fields that a manager owns, from a live object's managedFields.

Belongs here: reading them, removing paths from an object. Does not: which managers are ignored (`ignore`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from phaseline.machines.kubernetes.diff.differences import NONE, Path, is_same
from phaseline.schemas import codec

Owned = Mapping[str, Any]


_NO_MEMBERS: list[Any] = []  # lives as long as any index of it
MOST = 1_000_000
"""How many members of lists are looked at for one manager. What further names select is taken as not owned."""


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
        others = desired if isinstance(desired, list) else _NO_MEMBERS
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
