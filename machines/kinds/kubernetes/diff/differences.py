"""The paths at which two objects differ.

Belongs here: finding and naming them. Does not: what may differ (`merge`, `normalize`).
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from phaseline.machines.kinds.kubernetes.diff.types import ANY, FieldType


class Nothing:
    """The type of `NONE`, which marks an absent side."""

    def __repr__(self) -> str:
        return "nothing"


NONE: Final = Nothing()
Path = tuple[str | int, ...]
Name = tuple[str, int]
"""The name of a member of a list, and how many of that name stand before it."""


NO_FIELD = "this kind has no such field"
ORDER, IN_ORDER = "the same items in another order", "in another order"
REPLACED = "another item took its place"
REMOVED = "would be removed"
"""What there may be to say of a difference, beside both sides."""


class Difference(NamedTuple):
    """A path at which the wanted and the found value differ; either may be `NONE`. note: what there is to say of it."""

    path: Path
    wanted: Any
    found: Any
    note: str = ""

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
            elif other is NONE and type_.form == "struct" and name not in type_.fields and one is not None:
                yield Difference(here, one, other, NO_FIELD)
            else:
                yield from differences(one, other, part, here)
    elif isinstance(wanted, list) and isinstance(found, list):
        yield from _of_lists(wanted, found, type_, path)
    elif not is_same(wanted, found):
        yield Difference(path, wanted, found, REMOVED if wanted is NONE else "")


def _of_lists(wanted: list[Any], found: list[Any], type_: FieldType, path: Path) -> Iterator[Difference]:
    """Differences of two lists: by the members' key, else by index if the lengths agree, else as a whole."""
    names = [named(side, type_.key) for side in (wanted, found)] if type_.key is not None else None
    if type_.orderless:
        if not _in_another_order(wanted, found):
            yield from _of_members(
                wanted, found, type_, path, [unaimed(side, type_.orderless) for side in (wanted, found)]
            )
    elif names is not None and names[0] != names[1]:
        yield from _of_members(wanted, found, type_, path, names)
    elif len(wanted) != len(found):
        yield Difference(path, wanted, found)
    elif names is None and _in_another_order(wanted, found):
        yield Difference(path, wanted, found, ORDER)
    else:
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(one, other, type_.item, (*path, index))


def _in_another_order(wanted: list[Any], found: list[Any]) -> bool:
    """Whether two lists of one length that may differ hold the same members in another order."""
    return (
        len(wanted) > 1 and not equal(wanted, found) and Counter(map(text_of, wanted)) == Counter(map(text_of, found))
    )


def text_of(found: Any) -> str:
    """A text that is the same for values that are equal as JSON."""
    try:
        return json.dumps(found, sort_keys=True, default=str)
    except TypeError:  # a name that is no text, as YAML can write it
        return repr(found)


def _of_members(
    wanted: list[Any], found: list[Any], type_: FieldType, path: Path, names: Sequence[Sequence[Name]]
) -> Iterator[Difference]:
    """Differences of two lists whose members have names, which are not the same, or not in one order."""
    indexes = [{name: index for index, name in enumerate(side)} for side in names]
    there = [name for name in names[0] if name in indexes[1]]
    inside: list[Difference] = []
    for name in there:
        at = indexes[0][name], indexes[1][name]
        inside += differences(wanted[at[0]], found[at[1]], type_.item, (*path, at[1]))
    if not type_.orderless and there != [name for name in names[1] if name in indexes[0]]:
        same = not inside and len(names[0]) == len(names[1]) == len(there)
        yield Difference(path, wanted, found, ORDER if same else IN_ORDER)
    yield from inside
    gone = {index: wanted[index] for name, index in indexes[0].items() if name not in indexes[1]}
    new = {index: found[index] for name, index in indexes[1].items() if name not in indexes[0]}
    for index, one in gone.items():
        note = _replaced(one, new[index], type_.key or "") if index in new else ""
        yield Difference((*path, index), one, new.get(index, NONE), note)
    yield from (Difference((*path, index), NONE, one, REMOVED) for index, one in new.items() if index not in gone)


def _replaced(wanted: Any, found: Any, key: str) -> str:
    """`another item took its place: port 83 instead of 80`; without what is instead of what where no key says it."""
    keys = key.split(",")
    sides = [several(one, key) if isinstance(one, dict) else (one,) * len(keys) for one in (found, wanted)]
    said = [one for one in zip(keys, *sides, strict=True) if one[1] != one[2]]
    if not said:
        return REPLACED
    names, new, old = (" ".join(map(str, one)) for one in zip(*said, strict=True))
    return f"{REPLACED}: {f'{names} {new}'.strip():.90} instead of {old:.60}"


def named(found: list[Any], key: str) -> list[Name]:
    """A name for each member: the values of its key (or the member itself), and how many equal names precede it."""
    values = [
        (one.get(key) if "," not in key else several(one, key)) if key and isinstance(one, dict) else one
        for one in found
    ]
    return _numbered(value if isinstance(value, str) else repr(value) for value in values)


def unaimed(found: list[Any], aim: str) -> list[Name]:
    """A name for each member: what it says beside `aim`, at every depth."""

    def without(part: Any) -> Any:
        return {name: without(one) for name, one in part.items() if name != aim} if isinstance(part, dict) else part

    return _numbered(text_of(without(one)) for one in found)


def _numbered(texts: Iterable[str]) -> list[Name]:
    """Each with how many equal ones precede it."""
    seen: dict[str, int] = {}
    names = []
    for text in texts:
        seen[text] = seen.get(text, -1) + 1
        names.append((text, seen[text]))
    return names


KEY_DEFAULTS: Mapping[str, str] = {"protocol": "TCP"}
"""What a key of a member is that does not say it."""


def several(member: Mapping[str, Any], key: str) -> tuple[Any, ...]:
    """The values of a member's keys."""
    return tuple([member.get(each) or KEY_DEFAULTS.get(each) for each in split(key)])


@lru_cache(maxsize=256)
def split(key: str) -> tuple[str, ...]:
    """The keys of the members of a list that merges."""
    return tuple(key.split(","))
