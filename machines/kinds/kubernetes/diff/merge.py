"""The result of applying a desired object to a live one, as a three-way merge.

Belongs here: Kubernetes' strategic merge, which is a JSON merge where nothing is known of a type. Does not: defaults
(`defaults`), spellings (`canonical`).
"""

import base64
import binascii
from collections.abc import Collection, Mapping
from itertools import zip_longest
from typing import Any

from phaseline.machines.kinds.kubernetes.diff.canonical import Respelt
from phaseline.machines.kinds.kubernetes.diff.differences import Name, equal, named, text_of
from phaseline.machines.kinds.kubernetes.diff.types import FieldType

PLAIN = (str, int, bool, Respelt)
"""Types whose values compare with `==`."""


def applied(live: Any, last: Any, desired: Any, type_: FieldType) -> Any:
    """`live` after `desired` is applied, for a value of a known type; the same object if nothing changes.

    last: the object of the previous apply. What Git says counts even if it is empty: an empty list leaves no member,
    null removes the field. It says nothing where the server fills the field in.
    """
    if not isinstance(desired, dict) or not isinstance(live, dict):
        return live if equal(live, desired) else _without_nulls(desired)
    before = last if isinstance(last, dict) else {}
    gone = [name for name, value in before.items() if value is not None and desired.get(name) is None and name in live]
    merged: dict[str, Any] = live
    for name, value in desired.items():
        if value is None:
            if live.get(name) is not None:
                gone.append(name)
            continue
        old = live.get(name)
        if type(value) is type(old) and value.__class__ in PLAIN and value == old:
            continue
        if name in type_.allocated and is_left_to_server(name, value, type_):
            continue
        new = _member(old, before.get(name), value, type_.of(name))
        if new is not old:
            if merged is live:
                merged = dict(live)
            merged[name] = new
    if gone and (gone := [name for name in gone if name not in type_.allocated]):
        return {name: value for name, value in merged.items() if name not in gone}
    return merged


def _without_nulls(desired: Any) -> Any:
    """What an apply makes of a value where nothing is yet: null removes nothing there."""
    if isinstance(desired, dict):
        return {name: _without_nulls(value) for name, value in desired.items() if value is not None}
    return desired


def is_left_to_server(name: str, value: Any, type_: FieldType) -> bool:
    """Whether Git leaves a field to the server, or to the controller that fills it in: by an empty value."""
    if name not in type_.allocated:
        return False
    if type_.of(name).form == "bytes" and isinstance(value, str):
        try:
            return not base64.b64decode(value).strip()  # a line break stands where the server refuses an empty text
        except (binascii.Error, ValueError):
            return False
    return value in (None, "", 0, [], {}) and not type_.of(name).tells_zero


def _member(old: Any, before: Any, value: Any, type_: FieldType) -> Any:
    if value and isinstance(value, list) and isinstance(old, list):
        if type_.key is not None:
            return _merged(old, _list(before), value, type_.key, type_.item)
        if type_.open and len(old) == len(value):
            return _by_place(old, _list(before), value, type_.item)
    if type_.whole or (type_.atomic and value == {}):
        return old if equal(old, value) else value
    return applied(old, before, value, type_)


def _by_place(live: list[Any], last: list[Any], desired: list[Any], type_: FieldType) -> list[Any]:
    """Merge lists of one length member by member."""
    paired = zip_longest(live, last[: len(live)], desired)
    made = [_member(old, before, value, type_) for old, before, value in paired]
    return live if all(one is other for one, other in zip(made, live, strict=True)) else made


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _merged(live: list[Any], last: list[Any], desired: list[Any], key: str, type_: FieldType) -> list[Any]:
    """Merge lists by key: desired members in their order at the existing positions, new members at the end.

    A new member stands where the one is that took its place.
    """
    old, wanted = (dict(zip(named(found, key), found, strict=True)) for found in (live, desired))
    before = dict(zip(named(last, key), last, strict=True)) if last else {}
    new = {name: applied(old.get(name), before.get(name), value, type_) for name, value in wanted.items()}
    kept = [name for name in old if name in wanted or name not in before]
    ordered = iter([name for name in wanted if name in old])
    places = [next(ordered) if name in wanted else name for name in kept]
    if added := [name for name in wanted if name not in old]:
        places = _added(places, added, _instead(old, wanted, key), [*old])
    made = [new[name] if name in new else old[name] for name in places]
    same = len(made) == len(live) and all(one is other for one, other in zip(made, live, strict=True))
    return live if same else made


def _added(places: list[Name], added: list[Name], instead: Mapping[Name, Name], old: list[Name]) -> list[Name]:
    """The names with those that are new: in the places of those that took theirs, else at the end."""
    there, taken = {*places}, {*instead.values()}
    if lost := [name for name in instead if name not in there]:  # of what was applied last
        ranks = {name: rank for rank, name in enumerate(old)}
        for name in lost:
            after = next((at for at, other in enumerate(places) if ranks[other] > ranks[name]), len(places))
            places.insert(after, name)
    return [*(instead.get(name, name) for name in places), *(name for name in added if name not in taken)]


def _instead(old: Mapping[Name, Any], wanted: Mapping[Name, Any], key: str) -> dict[Name, Name]:
    """By live members that took the place of desired ones: those.

    Both have one name beside their key, or are equal but for the key, or stand at one place.
    """
    extra = {name: value for name, value in old.items() if name not in wanted}
    gone = {name: value for name, value in wanted.items() if name not in old}
    found: dict[Name, Name] = {}
    for same in (_calls_itself, _but_for_key):
        by_word: dict[str, list[Name]] = {}
        for name, value in extra.items():
            by_word.setdefault(same(value, key), []).append(name)
        for name, value in gone.items():
            word = same(value, key)
            others = by_word.get(word, ()) if word else ()
            if len(others) == 1:
                found.setdefault(others[0], name)
        extra, gone = _others(extra, found), _others(gone, found.values())
    if len(old) == len(wanted):
        found |= {one: name for one, name in zip(old, wanted, strict=True) if one in extra and name in gone}
    return found


def _others(members: Mapping[Name, Any], taken: Collection[Name]) -> dict[Name, Any]:
    names = {*taken}
    return {name: value for name, value in members.items() if name not in names}


def _calls_itself(member: Any, key: str) -> str:
    """The name of a member whose key is another field; empty if it has none."""
    name = member.get("name") if key != "name" and isinstance(member, dict) else None
    return name if isinstance(name, str) else ""


def _but_for_key(member: Any, key: str) -> str:
    """A text of all of a member but its key; empty if there is nothing else."""
    fields = member.items() if isinstance(member, dict) else ()
    rest = {name: value for name, value in fields if name not in key.split(",")}
    return text_of(rest) if rest else ""
