"""What an apply would make of a live object: the desired one merged into it, and what was desired before taken out.

Belongs here: Kubernetes' strategic merge for kinds we know, JSON's for all others, each three-way (spec: GitOps, Comparing;
behaviour 3.1). Does not: defaults, spellings (`defaults`, `values`).
"""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from phaseline.machines.compare.differences import equal, named
from phaseline.machines.compare.shapes import NOTHING, Shape

PLAIN = (str, int, bool)
"""Types of values whose equality needs no second look."""


def strategic(live: Any, last: Any, desired: Any, shape: Shape) -> Any:
    """`live` after `desired` is applied, of a kind whose shape is known; the same object where nothing changes.

    last: what was applied before.
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
            new = _member(name, old, before.get(name), value, shape)
        if new is not old:
            if merged is live:
                merged = dict(live)
            merged[name] = new
    return merged


def _member(name: str, old: Any, before: Any, value: Any, shape: Shape) -> Any:
    key, part = shape.keys.get(name), shape.has.get(name, NOTHING)
    if isinstance(value, list) and isinstance(old, list) and key is not None:
        return _merged(old, _list(before), value, key, part)
    if name in shape.whole:
        return old if equal(old, value) else value
    return strategic(old, before, value, part)


def _list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _merged(live: list[Any], last: list[Any], desired: list[Any], key: str, shape: Shape) -> list[Any]:
    """Lists whose members are known by a key: those desired in their order, at the places that they have; new ones at the end."""
    old, wanted = (dict(zip(named(found, key), found, strict=True)) for found in (live, desired))
    before = dict(zip(named(last, key), last, strict=True)) if last else {}
    new = {name: strategic(old.get(name), before.get(name), value, shape) for name, value in wanted.items()}
    kept = [name for name in old if name in wanted or name not in before]
    ordered = iter([name for name in wanted if name in old])
    places = [next(ordered) if name in wanted else name for name in kept]
    places += [name for name in wanted if name not in old]
    made = [new[name] if name in new else old[name] for name in places]
    same = len(made) == len(live) and all(one is other for one, other in zip(made, live, strict=True))
    return live if same else made


def custom(live: Any, last: Any, desired: Any) -> Any:
    """`live` after `desired` is applied, of a kind of which nothing is known: lists have no keys, an empty one is a value."""
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
