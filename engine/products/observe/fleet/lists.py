"""What the lists and the numbers of a BundleDeployment say about its resources (docs/spec/fleet.md, Cut lists).

Belongs here: reading `resources`, `nonReadyStatus`, `modifiedStatus` and `resourceCounts` together. Does not: events
(`objects`). Fleet cuts two of the lists after ten entries; the numbers are exact. Its flag `incompleteState` is never
set back, so it is looked at only where there are no numbers.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from phaseline.engine.products.observe.events import Manifest, id_suffix, mapping, maps, named_key, text

LENGTH = 10
"""After how many entries Fleet cuts its lists of resources that are not ready, or modified."""
NUMBERS = {
    "ready": "ready", "not_ready": "notReady", "modified": "modified", "missing": "missing", "orphaned": "orphaned",
    "wait_applied": "waitApplied", "unknown": "unknown",
}  # fmt: skip
LIVING = ("ready", "not_ready", "modified", "wait_applied", "unknown")
"""The words for resources of the list `resources`, of which only some are named elsewhere."""
FIELDS = ("resources", "nonReadyStatus", "modifiedStatus", "resourceCounts")
HIDDEN = "what it holds is another than Git says; as it is a Secret, the difference is not shown"
"""What is said of a Secret that was modified: Fleet's patch would show the values."""
UNTOLD = "its deployment counts it, and Fleet's lists are cut before its state"


class NamedResource(NamedTuple):
    """A resource whose state is known: the trigger that reports it, and why."""

    trigger: str
    why: str = ""


class FleetLists(NamedTuple):
    """What a BundleDeployment says about its resources.

    named: by the end of the id. counted: resources that are counted beside them, by word. names: how many of those have
    a name; their trigger is `counted`. living: the ends of those that exist and belong to this bundle.
    """

    named: dict[str, NamedResource]
    counted: dict[str, int]
    names: int
    living: list[str]


def read_lists(status: Mapping[str, Any]) -> FleetLists | None:
    """What the status says; None if it says nothing about resources."""
    if not any(name in status for name in FIELDS):
        return None
    living = list(dict.fromkeys(filter(None, map(_end, maps(status, "resources")))))
    modified = [one for one in maps(status, "modifiedStatus") if _end(one)]
    unready = [one for one in maps(status, "nonReadyStatus") if _end(one)]
    named = {_end(one): NamedResource("not_ready", _summary(one)) for one in unready}
    named.update({_end(one): _changed(one) for one in modified})
    numbers = _numbers(status, any_listed=bool(living or named))
    if numbers is None:
        cut = status.get("incompleteState") is True and max(len(unready), len(modified)) >= LENGTH
        rest = NamedResource("unknown", "Fleet's lists are cut before its state") if cut else NamedResource("ready")
        named.update({end: rest for end in living if end not in named})
        return FleetLists(named, {}, 0, living)
    beyond = {word: max(0, number - _listed(word, named.values(), modified)) for word, number in numbers.items()}
    both = _reconsider(named, numbers, beyond, unready, modified)
    untold = [end for end in living if end not in named]
    pool = {word: beyond[word] for word in LIVING if beyond[word]}
    counted = {word: beyond[word] for word in ("missing", "orphaned") if beyond[word]}
    names = 0
    if not pool or (len(pool) == 1 and sum(pool.values()) >= len(untold) and not both):
        word = next(iter(pool), "ready")
        named.update({end: NamedResource("unknown" if word == "wait_applied" else word) for end in untold})
        pool = {word: pool.get(word, 0) - len(untold)}
    else:
        names = len(untold)
        named.update({end: NamedResource("counted", UNTOLD) for end in untold})
        pool["unknown"] = pool.get("unknown", 0) + max(0, names - sum(pool.values()))
    counted = {word: number for word, number in {**pool, **counted}.items() if number > 0}
    return FleetLists(named, counted, names, living)


def _numbers(status: Mapping[str, Any], *, any_listed: bool) -> dict[str, int] | None:
    """The exact numbers by our words; None if there are none. Zeros beside lists come from an agent without numbers."""
    given = mapping(status, "resourceCounts")
    numbers = {word: _whole(given, theirs) for word, theirs in NUMBERS.items()}
    if (not any(numbers.values()) and any_listed) or "resourceCounts" not in status:
        return None
    declared = sum(numbers.values()) - numbers["orphaned"]
    numbers["unknown"] += max(0, _whole(given, "desiredReady") - declared)
    return numbers


def _whole(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    return value if type(value) is int and value > 0 else 0


def _listed(word: str, named: Iterable[NamedResource], modified: list[Manifest]) -> int:
    """How many entries of the lists count under a word. An object that is listed twice as missing counts twice."""
    if word == "missing":
        return sum(_changed(one).trigger in {"missing", "not_owned"} for one in modified)
    return sum(one.trigger == word for one in named)


def _reconsider(
    named: dict[str, NamedResource], numbers: Mapping[str, int], beyond: dict[str, int],
    unready: list[Manifest], modified: list[Manifest],
) -> bool:  # fmt: skip
    """Take those back that are named as not ready, and counted as modified behind the end of that list.

    Fleet counts a resource that is both as modified. The list of modified resources is in order, so only those behind
    its last entry can be meant. Returns whether some of them may be both and stay named as not ready, because that list
    may be cut as well: then the numbers do not tell what the others are.
    """
    surplus = sum(one.trigger == "not_ready" for one in named.values()) - numbers["not_ready"]
    if not modified or not beyond["modified"]:
        return False
    last = max(map(_order, modified))
    behind = [one for one in unready if named[_end(one)].trigger == "not_ready" and _order(one) > last]
    if surplus <= 0:
        return bool(behind) and len(unready) >= LENGTH
    for one in behind:
        if len(behind) == surplus:
            named[_end(one)] = NamedResource("modified", _summary(one))
            beyond["modified"] = max(0, beyond["modified"] - 1)
        else:
            del named[_end(one)]
    if len(behind) != surplus:
        beyond["not_ready"] = max(0, numbers["not_ready"] - sum(one.trigger == "not_ready" for one in named.values()))
    return len(behind) != surplus


def _order(one: Manifest) -> str:
    return "/".join(text(one, name) for name in ("apiVersion", "kind", "namespace", "name"))


def _changed(one: Manifest) -> NamedResource:
    if one.get("missing"):
        return NamedResource("not_owned") if one.get("exist") else NamedResource("missing")
    if one.get("delete"):
        return NamedResource("orphaned")
    return NamedResource("modified", HIDDEN if text(one, "kind") == "Secret" else text(one, "patch"))


def _summary(one: Manifest) -> str:
    """The state and the messages of the summary of a resource that is not ready."""
    summary = mapping(one, "summary")
    messages = summary.get("message")
    listed = [one for one in messages if isinstance(one, str)] if isinstance(messages, list) else []
    return ": ".join(filter(None, [text(summary, "state"), *listed]))


def _end(one: Manifest) -> str:
    """The end of the resource's id; empty if the entry names no object."""
    key = named_key(one)
    return id_suffix(key) if key.kind and key.name else ""
