"""Random objects of Kubernetes' own kinds, made from their published types, and changes to them by hand.

Belongs here: drawing an object, changing what it says at one place, adding what it does not say. Does not: what a
comparison says about them (the laws).
"""

from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.diff.normalize import SERVER_OWNED
from phaseline.machines.kinds.kubernetes.diff.types import ANY, FieldType, type_of

Object = dict[str, Any]
WORDS = ("a", "b", "web", "80", "true", "x/y~z")
DRAWN: dict[str, tuple[Any, ...]] = {
    "string": ("", *WORDS), "boolean": (False, True), "integer": (0, 1, 3), "number": (0, 1.5),
    "quantity": ("0", "1", "500m", "1Gi", 2, 0.25), "bytes": ("", "YQ==", "Zm9v\nYmFy\n"),
    "time": ("2026-03-02T08:00:00Z", "2026-03-02T10:00:00+02:00"), "duration": ("1h",),
    "integer or string": (0, 80, "http", "25%"), "any": ("a", 1, True, {"a": [1]}, ["b"]),
}  # fmt: skip
OTHERS: dict[str, Any] = {
    "string": "by-hand", "boolean": True, "integer": 77, "number": 7.5, "quantity": "77", "bytes": "enp6",
    "time": "2031-01-01T00:00:00Z", "duration": "77s", "integer or string": "77%", "any": {"by": ["hand"]},
}  # fmt: skip
"""A value that is never drawn."""
NEVER = (*SERVER_OWNED, "name", "namespace", "generateName", "aggregationRule")
DEEPEST = 9


def draw(chance: Random, version: str, kind: str) -> Object:
    """An object of a kind."""
    type_ = type_of(version, kind) or ANY
    made = _drawn(chance, type_, 0) if type_ is not ANY else {"spec": _any(chance, 0)}
    metadata = {name: value for name, value in made.get("metadata", {}).items() if name not in NEVER}
    for name in ("apiVersion", "kind", "metadata", "aggregationRule", "status"):
        made.pop(name, None)
    if "stringData" in made:  # it comes before `data`
        made.pop("data", None)
    return {"apiVersion": version, "kind": kind, "metadata": {**metadata, "name": "it", "namespace": "shop"}, **made}


def _any(chance: Random, depth: int) -> Any:
    if depth < 3 and chance.random() < 0.6:
        inner = [_any(chance, depth + 1) for _ in range(chance.randrange(4))]
        return dict(zip("abcd", inner, strict=False)) if chance.random() < 0.7 else inner
    return chance.choice(["", "a", 0, 1, True, False, 2.5])


def _drawn(chance: Random, type_: FieldType, depth: int) -> Any:
    if type_.form == "struct":
        names = [name for name in type_.fields if name not in ("managedFields", "status")]
        some = chance.sample(names, min(len(names), chance.randrange(1, 5))) if depth < DEEPEST else []
        return {name: _drawn(chance, type_.fields[name], depth + 1) for name in some}
    if type_.form == "map":
        return {word: _drawn(chance, type_.item, depth + 1) for word in chance.sample(WORDS, chance.randrange(3))}
    if type_.form == "list":
        return _members(chance, type_, [_drawn(chance, type_.item, depth + 1) for _ in range(chance.randrange(3))])
    return deepcopy(chance.choice(DRAWN[type_.form]))


def _members(chance: Random, type_: FieldType, drawn: list[Any]) -> list[Any]:
    """The members, with keys of their own where the list merges."""
    if type_.key is None:
        return drawn
    if not type_.key:
        return [f"{number}-{chance.choice(WORDS)}" for number in range(len(drawn))]
    form = type_.item.of(first_key(type_)).form
    keys = [number + 1 if form == "integer" else f"{number}-{chance.choice(WORDS)}" for number in range(len(drawn))]
    return [{**one, first_key(type_): key} for one, key in zip(drawn, keys, strict=True)]


def first_key(type_: FieldType) -> str:
    """The first key of the members of a list that merges."""
    return (type_.key or "").partition(",")[0]


class Place(NamedTuple):
    """A place in an object: the map or list that holds it, its name or index there, its type, that of its parent."""

    parent: Any
    step: Any
    type: FieldType
    within: FieldType
    free: bool
    """Whether nothing above it is a list whose members are compared as they are."""

    @property
    def value(self) -> Any:
        """What stands there."""
        return self.parent[self.step]


def places(found: Any, type_: FieldType, *, free: bool = True) -> Iterator[Place]:
    """Every place of an object, at every depth, without identity and what the server owns."""
    free = free and not type_.whole
    if isinstance(found, dict):
        for name, value in found.items():
            if name in NEVER or name in ("apiVersion", "kind", "status"):
                continue
            part = type_.of(name)
            if name != "metadata":
                yield Place(found, name, part, type_, free and not part.whole)
            yield from places(value, part, free=free)
    elif isinstance(found, list):
        inside = free and (type_.key is not None or type_.form == "any")
        for index, value in enumerate(found):
            yield Place(found, index, type_.item, type_, inside)
            yield from places(value, type_.item, free=inside)


def change(chance: Random, place: Place) -> bool:
    """Change what stands at a place by hand; False if this place cannot be changed in a way that means something."""
    value, type_ = place.value, place.type
    if isinstance(value, dict):
        return False  # what a map holds has places of its own
    if isinstance(value, list):
        if value and chance.random() < 0.7:
            del value[chance.randrange(len(value))]
        elif not value or type_.key is None:
            value.append(_drawn(chance, type_.item, DEEPEST) if type_.form == "list" else {"by": "hand"})
            if type_.key:
                value[-1] = {first_key(type_): 77 if type_.item.of(first_key(type_)).form == "integer" else "by-hand"}
        else:
            return False
        return True
    if type_.form == "boolean":
        place.parent[place.step] = not value
    elif type_.form == "any":
        place.parent[place.step] = "by-hand"
    else:
        place.parent[place.step] = OTHERS[type_.form]
    return True


def add(chance: Random, found: Object, type_: FieldType) -> None:
    """Add a few things that the object does not say, where additions are nobody's business."""
    spots = [(found, type_), *((one.value, one.type) for one in places(found, type_) if one.free)]
    for value, at in chance.sample(spots, min(len(spots), 3)):
        if isinstance(value, dict) and not (at.atomic and (at.whole or not value)):
            _add_to(chance, value, at)
        elif isinstance(value, list) and value and at.key:
            key = 77 if at.item.of(first_key(at)).form == "integer" else "by-hand"
            value.insert(chance.randrange(len(value) + 1), {first_key(at): key})


def _add_to(chance: Random, value: Object, at: FieldType) -> None:
    names = [name for name in at.fields if name not in ("metadata", "status", *NEVER)] or ["added"]
    name = chance.choice(names) if at.form == "struct" else "added"
    if name in value or name in ("rules", "stringData"):
        return
    part = at.of(name)
    made = _drawn(chance, part, DEEPEST - 3) if part is not ANY else {"by": "hand"}
    value[name] = made
