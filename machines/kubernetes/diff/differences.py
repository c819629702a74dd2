"""The paths at which two objects differ.

Belongs here: finding and naming them. Does not: what may differ (`merge`, `normalize`).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from phaseline.machines.kubernetes.diff.types import ANY, FieldType


class Nothing:
    """The type of `NONE`, which marks an absent side."""

    def __repr__(self) -> str:
        return "nothing"


NONE: Final = Nothing()
Path = tuple[str | int, ...]


class Difference(NamedTuple):
    """A path at which the wanted and the found value differ; either may be `NONE`."""

    path: Path
    wanted: Any
    found: Any

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer (RFC 6901), as ignore rules use it."""
        return pointer(self.path)


def pointer(path: Path) -> str:
    """A path as a JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def is_same(one: Any, other: Any) -> bool:
    """Whether two scalars are equal as JSON: true is not 1, and null equals an absent value."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if one == other:
        return True
    absent = [side is None or side is NONE for side in (one, other)]
    return all(absent) or (_is_no_number(one) and _is_no_number(other))


def _is_no_number(found: Any) -> bool:
    """Whether it is the float that is not equal to itself, which YAML can write."""
    return isinstance(found, float) and found != found  # noqa: PLR0124  # that is what it is known by


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON, recursively."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            name in other and equal(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return is_same(one, other)


def differences(wanted: Any, found: Any, type_: FieldType = ANY, path: Path = ()) -> Iterator[Difference]:
    """Each path at which they differ, as deep as possible, in the order of the wanted object."""
    if wanted is found:
        return
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for name in dict.fromkeys((*wanted, *found)):
            part = type_.of(name)
            one, other, here = wanted.get(name, NONE), found.get(name, NONE), (*path, name)
            if isinstance(one, list) and isinstance(other, list):
                yield from _of_lists(one, other, part, here)
            else:
                yield from differences(one, other, part, here)
    elif isinstance(wanted, list) and isinstance(found, list):
        yield from _of_lists(wanted, found, type_, path)
    elif not is_same(wanted, found):
        yield Difference(path, wanted, found)


def _of_lists(wanted: list[Any], found: list[Any], type_: FieldType, path: Path) -> Iterator[Difference]:
    """Differences of two lists: by the members' key, else by index if the lengths agree, else as a whole."""
    key = type_.key
    names = [named(side, key) for side in (wanted, found)] if key else None
    if names is None or names[0] == names[1]:
        if len(wanted) != len(found):
            yield Difference(path, wanted, found)
            return
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(one, other, type_.item, (*path, index))
        return
    there = [set(side) for side in names]
    if there[0] == there[1]:  # no name is there twice
        yield Difference(path, wanted, found)
    for index, one in enumerate(wanted):
        if names[0][index] not in there[1]:
            yield Difference((*path, index), one, NONE)
    for index, one in enumerate(found):
        if names[1][index] not in there[0]:
            yield Difference((*path, index), NONE, one)


def named(found: list[Any], key: str) -> list[tuple[str, int]]:
    """A name for each member: the value of its key (or the member itself), and how many equal names precede it."""
    seen: dict[str, int] = {}
    names = []
    for one in found:
        value = one.get(key) if key and isinstance(one, dict) else one
        name = value if isinstance(value, str) else repr(value)
        seen[name] = seen.get(name, -1) + 1
        names.append((name, seen[name]))
    return names
