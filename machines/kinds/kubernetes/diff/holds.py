"""The quick look of a comparison: whether all that Git says plainly holds in the live object.

Belongs here: one walk over both sides that copies nothing. A yes is the answer of the whole comparison; a no says only
that it must look closely. Does not: merging, defaults, naming differences (`compare`).
"""

from typing import Any

from phaseline.machines.kinds.kubernetes.diff.canonical import SPELLINGS
from phaseline.machines.kinds.kubernetes.diff.differences import KEY_DEFAULTS, equal, is_same, several, split
from phaseline.machines.kinds.kubernetes.diff.types import ANY, FieldType


def holds(wanted: Any, found: Any, type_: FieldType) -> bool:
    """Whether each value of `wanted` is the one in `found`. Members that only `found` has do not matter."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and _members_hold(wanted, found, type_)
    if isinstance(wanted, list):
        return isinstance(found, list) and _list_holds(wanted, found, type_)
    if wanted.__class__ is found.__class__ and wanted == found:
        return True
    spell = SPELLINGS.get(type_.form)
    return is_same(wanted, found) if spell is None else is_same(spell(wanted), spell(found))


def _members_hold(wanted: dict[str, Any], found: dict[str, Any], type_: FieldType) -> bool:
    if type_.atomic and (type_.whole or not wanted) and not equal(wanted, found):
        return False
    fields, item, is_map = type_.fields, type_.item, type_.form == "map"
    for name, value in wanted.items():
        there = found.get(name)
        if there is None or value is None:
            if value is there:  # null removes nothing
                continue
            return False
        if value.__class__ is there.__class__ and value.__class__ is str and value == there:
            continue
        if not holds(value, there, item if is_map else fields.get(name, ANY)):
            return False
    return True


def _list_holds(wanted: list[Any], found: list[Any], type_: FieldType) -> bool:
    item = type_.item
    if type_.open:
        return len(wanted) == len(found) and all(
            holds(one, other, item) for one, other in zip(wanted, found, strict=True)
        )
    if type_.key is None or not wanted:
        return equal(wanted, found)
    if len(wanted) == len(found) and type_.key and _hold_by_place(wanted, found, type_):
        return True
    names = [_named(one, type_.key) for one in found]
    if None in names or len(set(names)) != len(names):
        return False
    there = iter(zip(names, found, strict=True))
    for one in wanted:  # in their order, with others between them
        name = _named(one, type_.key)
        other = next((member for known, member in there if known == name), None)
        if name is None or other is None or not holds(one, other, item):
            return False
    return True


def _hold_by_place(wanted: list[Any], found: list[Any], type_: FieldType) -> bool:
    """Whether each member holds in the one at its place, which has the same keys."""
    keys, item = split(type_.key or ""), type_.item
    for one, other in zip(wanted, found, strict=True):
        if one.__class__ is not dict or other.__class__ is not dict:
            return False
        for key in keys:
            said = one.get(key)
            if (KEY_DEFAULTS.get(key) if said is None else said) != other.get(key):
                return False
        if not holds(one, other, item):
            return False
    return True


def _named(member: Any, key: str) -> Any:
    """The name of a member of a list that merges; None if it has none that is plain."""
    if "," in key and member.__class__ is dict:
        values = several(member, key)
        for value in values:
            if value.__class__ is not str and value.__class__ is not int:
                return None
        return values
    value = member.get(key) if key and isinstance(member, dict) else member
    return value if value.__class__ in (str, int) else None
