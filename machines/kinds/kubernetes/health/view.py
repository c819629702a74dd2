"""What the tests of a row read of an object: its fields by path, its conditions by type.

Belongs here: `ObjectView`, paths. Does not: what a value means (`general`, the rows of `kubernetes.known`). An object
may hold anything: a field of another type than expected reads as absent.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from phaseline.machines.kinds.kubernetes.health.result import Evidence
from phaseline.machines.kinds.kubernetes.health.words import GIVEN_UP, NOT_NOW, OBSERVED_IN, PAST, YES_NO
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS, Manifest

Get = Callable[["ObjectView"], Any]
NAMES = (
    ("name",), ("parentRef", "name"), ("ancestorRef", "name"), ("branch",), ("clusterName",), ("clustername",),
    ("templateMeta", "name"), ("key",), ("domain",), ("type",),
)  # fmt: skip
"""Where an item of a list has its name, the first that is there."""
STATUSES = ("True", "False", "Unknown")
_STEP = re.compile(r"\.?([\w$-]+)|\[([^\]]*)\]")


class ObjectView:
    """An object as rules and the tests of rows see it. item: the item of a list that a row with `each` looks at."""

    __slots__ = ("_all", "_conditions", "_items", "item", "key", "live", "status")

    def __init__(self, live: Manifest, item: Any = None, key: str = "") -> None:
        """Look at `live`, or at one item in it. key: the item's key in a map."""
        self.live, self.item, self.key = live, item, key
        status = live.get("status")
        self.status: Manifest = (
            status if isinstance(status, MAPS) else {"conditions": status} if isinstance(status, list) else {}
        )
        self._all: list[Manifest] | None = None
        self._items: dict[str, list[ObjectView]] = {}
        self._conditions: dict[str, Manifest] | None = None

    def items(self, path: str, steps: list[str | int]) -> "list[ObjectView]":
        """The views of the items that a path leads to; made once, however many rows look at them."""
        if path not in self._items:
            self._items[path] = [ObjectView(self.live, item, key) for item, key in members(self.live, steps)]
        return self._items[path]

    @property
    def generation(self) -> int | None:
        """The generation that is asked for; None if the object does not say."""
        metadata = self.live.get("metadata")
        return number(metadata.get("generation")) if isinstance(metadata, MAPS) else None

    @property
    def all_conditions(self) -> list[Manifest]:
        """The conditions of the item, or else of the object; each has a type."""
        if self._all is None:
            above = self.status if self.item is None else self.item
            self._all = conditions_in(above)
        return self._all

    def every_condition(self) -> "Iterator[Manifest]":
        """The conditions of the object, and those of the parts of its status, and of the parts of these."""
        yield from self.all_conditions
        yield from _more_conditions(self.status)
        for part in _parts_with_conditions(self.status):
            yield from _conditions_below(part, 2)

    @property
    def conditions(self) -> Mapping[str, Manifest]:
        """Its conditions by type; the first of each type."""
        if self._conditions is None:
            listed = self.all_conditions
            self._conditions = {one["type"]: one for one in (listed if len(listed) < 2 else reversed(listed))}
        return self._conditions

    def is_current(self, condition: Manifest) -> bool:
        """Whether a condition is of the object's present generation, as far as it says."""
        seen = number(condition.get("observedGeneration"))
        return seen is None or self.generation is None or seen >= self.generation

    @property
    def observed(self) -> int | None:
        """The generation that the status is of; None if it does not say.

        By another name than `observedGeneration` only where that is not there: it may be of one sort of work alone.
        The last of none (0) says nothing.
        """
        if (own := number(self.status.get("observedGeneration"))) is not None:
            return own
        fields = [(name, number(value)) for name, value in self.status.items() if _is_observed_in(name)]
        seen = [one for name, one in fields if one is not None and not (one == 0 and name.startswith("last"))]
        return min(seen, default=None)

    @property
    def is_observed(self) -> bool | None:
        """Whether the status is of the object's present generation; None if it does not say."""
        seen = self.observed
        return None if seen is None or self.generation is None else seen >= self.generation

    @property
    def unobserved(self) -> Evidence | None:
        """What says that the present generation has not been observed; None if it was, or nothing says so."""
        if self.is_observed is not False:
            return None
        seen = text(self.observed)
        said = f"generation {self.generation} has not been observed yet, the last one that was is {seen}"
        return Evidence("observedGeneration", seen, message=said)

    @property
    def name(self) -> str:
        """The name of the item; empty for the object itself."""
        if self.item is None or self.key:
            return self.key
        for path in NAMES:
            found: Any = self.item
            for step in path:
                found = found.get(step) if isinstance(found, MAPS) else None
            if isinstance(found, str) and found:
                return found
        return ""


def _conditions_below(part: list[Any] | dict[str, Any], levels: int) -> Iterator[Manifest]:
    """The conditions of a part of a status, in a map or in the members of a list, and so many levels below it."""
    if isinstance(part, dict):
        yield from _all_conditions(part)
    for one in _parts_with_conditions(part):
        if isinstance(one, dict):
            yield from _all_conditions(one)
        if levels > 1:
            for below in _parts_with_conditions(one):
                yield from _conditions_below(below, levels - 1)


def _parts_with_conditions(part: Manifest | list[Any]) -> Iterator[dict[str, Any] | list[Any]]:
    """The maps and lists in a part of a status, but for those of another time, or of an API that is given up."""
    return (one for name, one in parts_of(part) if name not in GIVEN_UP)


def parts_of(part: Manifest | list[Any]) -> Iterator[tuple[str, Any]]:
    """The maps and lists in a part of a status, each with its name: without conditions, and without what is over."""
    named = part.items() if isinstance(part, MAPS) else (("", one) for one in part)
    for name, one in named:
        if name != "conditions" and isinstance(one, list | dict) and not is_past(name):
            yield name, one


def _all_conditions(part: dict[str, Any]) -> Iterator[Manifest]:
    if "conditions" in part:
        yield from conditions_in(part)
    yield from _more_conditions(part)


def _more_conditions(part: Manifest) -> Iterator[Manifest]:
    """Conditions under another name: a single one (`condition`), or those of something (`nodeConditions`)."""
    for name, found in part.items():
        if _holds_conditions(name) and isinstance(found, list | dict):
            yield from conditions_in({"conditions": [found] if isinstance(found, dict) else found})


@lru_cache(maxsize=8192)
def _holds_conditions(name: str) -> bool:
    past = is_past(name) or any(fnmatchcase(name, glob) for glob in NOT_NOW)
    return name == "condition" or (name.endswith("Conditions") and not past)


@lru_cache(maxsize=8192)
def _is_observed_in(name: str) -> bool:
    """Whether a field of a status says of which generation it is."""
    low = name.lower()
    return low.endswith("generation") and low.removeprefix("last").removesuffix("generation") in OBSERVED_IN


@lru_cache(maxsize=8192)
def is_past(name: str) -> bool:
    """Whether a field holds what is over."""
    low = name.lower()
    return any(fnmatchcase(low, glob) for glob in PAST)


def conditions_in(found: Any) -> list[Manifest]:
    """The conditions in a map, those that have a type. A status is a word: True also where true, TRUE or 1 stands."""
    listed = found.get("conditions") if isinstance(found, MAPS) else None
    if not isinstance(listed, list):
        return []
    typed: list[Manifest] = []
    for one in listed:
        if isinstance(one, MAPS) and type(one.get("type")) is str:
            status = one.get("status")
            plain = type(status) is str and status in STATUSES
            typed.append(
                one if plain else {**one, "status": _as_status(one.get("state") if status is None else status)}
            )
    return typed


def _as_status(found: Any) -> str:
    word = text(found)
    return YES_NO.get(word.lower(), word)


def evidence_of(condition: Manifest) -> Evidence:
    """A condition as evidence."""
    get = condition.get
    since = get("lastTransitionTime") or get("lastUpdateTime")
    words = (get("type"), get("status"), get("reason"), get("message"), since)
    return Evidence(*[word if isinstance(word, str) else text(word) for word in words])


def number(found: Any) -> int | None:
    """A whole number, which may be written as text; None if it is none."""
    if type(found) is int:
        return found
    if isinstance(found, float) and found.is_integer():
        return int(found)
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 19:
        return int(found)
    return None


def text(found: Any) -> str:
    """A plain value as a word: `true`, `3`, `Ready`; empty for anything else."""
    if isinstance(found, str):
        return found
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, int | float):
        whole = number(found)
        return str(found if whole is None else whole)
    return ""


def steps_of(path: str) -> list[str | int]:
    """The steps of a path such as `.status.parents[].name`: names, indexes, and "" for every member."""
    found: list[str | int] = []
    place = 0
    while place < len(path):
        step = _STEP.match(path, place)
        if step is None:
            raise ValueError(f"{path!r}: write a path such as .status.phase or .metadata.labels[app]")
        inner = step[2]
        found.append(step[1] if inner is None else int(inner) if re.fullmatch(r"-?\d+", inner) else inner)
        place = step.end()
    return found


def getter(path: str) -> Get:
    """What reads a path of an object (`.status.phase`), or of an item (`@.phase`)."""
    in_item, steps = path.startswith("@"), steps_of(path.removeprefix("@"))
    if "" in steps:
        return lambda view: [found for found, _ in members(view.item if in_item else view.live, steps)]
    if not in_item and len(steps) == 2 and steps[0] == "status" and isinstance(steps[1], str):
        name = steps[1]
        return lambda view: view.status.get(name)
    return lambda view: _walk(view.item if in_item else view.live, steps)


def _walk(found: Any, steps: list[str | int]) -> Any:
    for step in steps:
        if isinstance(step, str):
            found = found.get(step) if type(found) is dict or isinstance(found, MAPS) else None
        else:
            inside = isinstance(found, list) and -len(found) <= step < len(found)
            found = found[step] if inside else None
        if found is None:
            return None
    return found


def members(found: Any, steps: list[str | int]) -> Iterator[tuple[Any, str]]:
    """The values that a path with `[]` leads to, each with its key if it stands in a map."""
    at = steps.index("") if "" in steps else len(steps)
    found = _walk(found, steps[:at])
    if at == len(steps):
        if found is not None:
            yield found, ""
        return
    inside = (
        found.items() if isinstance(found, MAPS) else (("", one) for one in found) if isinstance(found, list) else ()
    )
    for key, one in inside:
        for value, below in members(one, steps[at + 1 :]):
            yield value, key or below
