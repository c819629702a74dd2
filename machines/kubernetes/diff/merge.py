"""The result of applying a desired object to a live one, as a three-way merge.

Belongs here: Kubernetes' strategic merge for built-in kinds, JSON merge for custom kinds. Does not: defaults
(`defaults`), spellings (`canonical`).
"""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from phaseline.machines.kubernetes.diff.differences import equal, named
from phaseline.machines.kubernetes.diff.types import FieldType

PLAIN = (str, int, bool)
"""Types whose values compare with `==`."""


def strategic(live: Any, last: Any, desired: Any, type_: FieldType) -> Any:
    """`live` after `desired` is applied, for a value of a known type; the same object if nothing changes.

    last: the object of the previous apply. What Git says counts even if it is empty: an empty list leaves no member.
    """
    if not isinstance(desired, dict) or not isinstance(live, dict):
        return live if equal(live, desired) else desired
    before = last if isinstance(last, dict) else {}
    gone = [name for name, value in before.items() if value is not None and desired.get(name) is None and name in live]
    merged: dict[str, Any] = {name: value for name, value in live.items() if name not in gone} if gone else live
    for name, value in desired.items():
        if value is None:
            continue
        old = live.get(name)
        if type(value) is type(old) and value.__class__ in PLAIN:
            if value == old:
                continue
            new = value
        else:
            new = _member(old, before.get(name), value, type_.of(name))
        if new is not old:
            if merged is live:
                merged = dict(live)
            merged[name] = new
    return merged


def _member(old: Any, before: Any, value: Any, type_: FieldType) -> Any:
    if isinstance(value, list) and isinstance(old, list) and type_.key is not None and value:
        return _merged(old, _list(before), value, type_.key, type_.item)
    if type_.whole or (type_.atomic and value == {}):
        return old if equal(old, value) else value
    return strategic(old, before, value, type_)


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _merged(live: list[Any], last: list[Any], desired: list[Any], key: str, type_: FieldType) -> list[Any]:
    """Merge lists by key: desired members in their order at the existing positions, new members at the end."""
    old, wanted = (dict(zip(named(found, key), found, strict=True)) for found in (live, desired))
    before = dict(zip(named(last, key), last, strict=True)) if last else {}
    new = {name: strategic(old.get(name), before.get(name), value, type_) for name, value in wanted.items()}
    kept = [name for name in old if name in wanted or name not in before]
    ordered = iter([name for name in wanted if name in old])
    places = [next(ordered) if name in wanted else name for name in kept]
    places += [name for name in wanted if name not in old]
    made = [new[name] if name in new else old[name] for name in places]
    same = len(made) == len(live) and all(one is other for one, other in zip(made, live, strict=True))
    return live if same else made


def custom(live: Any, last: Any, desired: Any) -> Any:
    """`live` after `desired` is applied, for a custom kind: lists have no keys, an empty list is a value."""
    if isinstance(desired, Mapping) and isinstance(live, Mapping):
        before = last if isinstance(last, Mapping) else {}
        merged = {name: value for name, value in live.items() if name not in before or name in desired}
        for name, value in desired.items():
            if value is None:
                merged.pop(name, None)
            else:
                merged[name] = custom(merged.get(name), before.get(name), value)
        return merged
    if isinstance(desired, list) and isinstance(live, list) and len(desired) == len(live):
        paired = zip_longest(live, _list(last)[: len(live)], desired)
        return [custom(old, before, value) for old, before, value in paired]
    return desired
