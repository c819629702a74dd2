"""What Kubernetes says of an object beside its status: its Events, as the latest reasons of an entity.

Belongs here: their shape in data and attributes, joining what is told with what is known. Does not: reading Events
(`products.observe`), the states (which no Event decides).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Field, RuleEvent

KEPT = 8
"""How many Events an entity keeps: those that happened last."""
LONGEST = 512
"""The most characters of a message."""
TEXTS = ("type", "reason", "message", "first", "last", "by")
"""What is kept of each beside `count`. first, last: RFC 3339 in UTC, so that they compare as texts."""
MOST_COUNTED = 10**12


HAPPENINGS = Field(
    "events",
    dict,
    f"the last {KEPT} Kubernetes Events about it: type, reason, message, count, first, last, by",
    many=True,
)
"""The attribute. `events_seen` brings it as `events`, with the `uid` of the object that the Events are about."""
SEEN = (
    Field("uid", str, "the uid of the object that they are about; those of another life are left out"),
    Field("events", dict, "the Events: type, reason, message, count, first, last, by", required=True, many=True),
)  # fmt: skip


@rule("gitops.note_events", revision=1)
def note_events(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Joins Events with those that are known: of one reason and message the higher count. The last ones stay."""
    whose, known = event.data.get("uid"), attributes.get("uid")
    if whose is not None and known is not None and whose != known:
        return attributes
    events = joined(attributes.get("events", ()), event.data.get("events", ()))
    return {**attributes, "events": events} if events else attributes


def joined(known: Sequence[Any], told: Sequence[Any]) -> list[Mapping[str, Any]]:
    """Both, the last first; whatever came in which order, and how often, the result is the same."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in filter(None, map(_read, (*known, *told))):
        key = (one.get("type", ""), one.get("reason", ""), one.get("message", ""))
        before = found.get(key)
        found[key] = one if before is None else _both(before, one)
    latest = sorted(found.items(), key=lambda pair: (pair[1].get("last", ""), pair[0]), reverse=True)
    return [one for _, one in latest[:KEPT]]


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two states of one Event: the one that counts more, from the first time to the last."""
    ahead = max(one, other, key=lambda each: (each.get("count", 1), each.get("last", ""), each.get("by", "")))
    first = min(filter(None, (one.get("first"), other.get("first"))), default=None)
    last = max(filter(None, (one.get("last"), other.get("last"))), default=None)
    return {**ahead, **({"first": first} if first else {}), **({"last": last} if last else {})}


def _read(one: Any) -> dict[str, Any] | None:
    """An Event as it is kept; None without a reason."""
    if not isinstance(one, Mapping):
        return None
    texts = {name: one[name][:LONGEST] for name in TEXTS if isinstance(one.get(name), str) and one[name]}
    count = one.get("count")
    counted = {"count": min(count, MOST_COUNTED)} if type(count) is int and count > 0 else {}
    return {**texts, **counted} if texts.get("reason") or texts.get("message") else None


def of_this_life(attributes: Attributes, uid: object) -> Attributes:
    """The attributes without the Events of an earlier life, if the object has another uid than before."""
    if "events" not in attributes or uid is None or attributes.get("uid") in (None, uid):
        return attributes
    return {name: value for name, value in attributes.items() if name != "events"}
