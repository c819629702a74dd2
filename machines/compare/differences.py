"""Where two objects differ. Belongs here: the paths. Does not: what may differ (`merge`, `normal`)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from phaseline.machines.compare.shapes import NOTHING, Shape


class Nothing:
    """What stands where there is nothing."""

    def __repr__(self) -> str:
        return "nothing"


NONE: Final = Nothing()
Path = tuple[str | int, ...]


class Difference(NamedTuple):
    """A place at which what is wanted is not what there is; either may be `NONE`."""

    path: Path
    wanted: Any
    found: Any

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer (RFC 6901), as ignore rules take it."""
        return pointer(self.path)


def pointer(path: Path) -> str:
    """A path as a JSON pointer."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: true is not 1, and null is as nothing."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    absent = [side is None or side is NONE for side in (one, other)]
    return all(absent) or bool(one == other)


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same as JSON, all the way down."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            name in other and equal(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return is_same(one, other)


def differences(wanted: Any, found: Any, shape: Shape = NOTHING, path: Path = ()) -> Iterator[Difference]:
    """Each place at which they differ, as deep as it can be said; in the order of what is wanted."""
    if wanted is found:
        return
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for name in dict.fromkeys((*wanted, *found)):
            part = shape.has.get(name, NOTHING)
            one, other, here = wanted.get(name, NONE), found.get(name, NONE), (*path, name)
            if isinstance(one, list) and isinstance(other, list):
                yield from _of_lists(one, other, shape.keys.get(name), part, here)
            else:
                yield from differences(one, other, part, here)
    elif isinstance(wanted, list) and isinstance(found, list):
        yield from _of_lists(wanted, found, None, shape, path)
    elif not is_same(wanted, found):
        yield Difference(path, wanted, found)


def _of_lists(wanted: list[Any], found: list[Any], key: str | None, shape: Shape, path: Path) -> Iterator[Difference]:
    """Members of lists by their key where they have one; otherwise lists of one length by place, others as a whole."""
    names = [named(side, key) for side in (wanted, found)] if key else None
    if names is None or names[0] == names[1]:
        if len(wanted) != len(found):
            yield Difference(path, wanted, found)
            return
        for place, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(one, other, shape, (*path, place))
        return
    if sorted(names[0]) == sorted(names[1]):
        yield Difference(path, wanted, found)
    for place, one in enumerate(wanted):
        if names[0][place] not in names[1]:
            yield Difference((*path, place), one, NONE)
    for place, one in enumerate(found):
        if names[1][place] not in names[0]:
            yield Difference((*path, place), NONE, one)


def named(found: list[Any], key: str) -> list[tuple[str, int]]:
    """What names each member: the value of its key (itself where the key is empty), and how many before it have the same."""
    seen: dict[str, int] = {}
    names = []
    for one in found:
        value = one.get(key) if key and isinstance(one, dict) else one
        name = value if isinstance(value, str) else repr(value)
        seen[name] = seen.get(name, -1) + 1
        names.append((name, seen[name]))
    return names
