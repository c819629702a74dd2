"""The rules that read a bundle's rollout and the errors of bundles and repositories.

Belongs here: what is kept of a rollout, what holds it back. Does not: deciding a rollout (Fleet does that), the tables.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from phaseline.machines.language.fields import reason_and_message
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import Attributes, Refusal, RuleEvent

KEPT = (
    "waiting", "partitions", "unavailable", "max_unavailable", "unavailable_partitions", "max_unavailable_partitions",
    "max_new", "targets", "paused", "commit", "behind", "behind_why", "unobserved",
)  # fmt: skip
DERIVED = ("complete", "held_back", "unplaced", "is_old")
NUMBERS = ("count", "unavailable", "max_unavailable", "waiting")
"""What is known of a partition beside its name. waiting: its targets that do not have the newest version yet."""


@rule("fleet.note_rollout", revision=4)
def note_rollout(attributes: Attributes, event: RuleEvent) -> Attributes | Refusal:
    """Notes the numbers of a rollout; what the event leaves out is not known any more."""
    found = {name: event.data[name] for name in KEPT if event.data.get(name) is not None}
    for index, partition in enumerate(found.get("partitions", ())):
        for name in NUMBERS:
            if type(number := partition.get(name, 0)) is not int or number < 0:
                text = f"data.partitions[{index}].{name} is {number!r}: write a whole number of 0 or more"
                return Refusal(text, invalid=True)
    others = {name: value for name, value in attributes.items() if name not in (*KEPT, *DERIVED)}
    unobserved = found.get("unobserved")
    after = {**others, **found, "complete": not found.get("waiting"), **({"is_old": True} if unobserved else {})}
    by = held_back(found.get("partitions", ()), found.get("max_unavailable_partitions", 0))
    derived = {
        "held_back": "held back: it is paused" if found.get("paused") else by or unobserved,
        "unplaced": "it matches no cluster" if found.get("targets") == 0 else None,
    }
    return {**after, **{name: text for name, text in derived.items() if text is not None}}


def held_back(partitions: Sequence[Mapping[str, Any]], most: int) -> str | None:
    """Which partition holds a rollout back, and why; None if none does.

    Fleet stops behind the partition with which more partitions are unavailable than `most`. A partition is unavailable
    if more of its targets are than may be. It holds something back if targets there or behind it wait.
    """
    blocked = 0
    for index, one in enumerate(partitions):
        blocked += one.get("unavailable", 0) > one.get("max_unavailable", 0)
        if blocked > most:
            return _text(index, one) if any(each.get("waiting", 1) for each in partitions[index:]) else None
    return None


def _text(index: int, one: Mapping[str, Any]) -> str:
    name = f" ({one['name']})" if one.get("name") else ""
    may_be = one.get("max_unavailable", 0)
    return (
        f"held back by partition {index + 1}{name}: {one.get('unavailable', 0)} of {one.get('count', 0)} targets are "
        f"unavailable, {may_be} may be"
    )


ERRORS = ("fetch_error", "error")
"""The attributes with the errors of a repository or bundle, of which each ends by itself."""


def _explained(attributes: Attributes) -> Attributes:
    """The attributes, with the errors that stand as the reason."""
    kept = {name: value for name, value in attributes.items() if name != "why" and (name not in ERRORS or value)}
    why = "; ".join(kept[name] for name in ERRORS if name in kept)
    return {**kept, "why": why} if why else kept


@rule("fleet.note_error", revision=4)
def note_error(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes an error of the bundle or the repository itself. What was said of it stays where an event says no more."""
    after = {name: value for name, value in attributes.items() if name != "overruled"}
    return _explained({**after, "error": reason_and_message(event) or after.get("error", "")})


@rule("fleet.note_fetch_error", revision=2)
def note_fetch_error(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Notes why the repository could not be fetched. What was said of it stays where an event says no more."""
    return _explained({**attributes, "fetch_error": reason_and_message(event) or attributes.get("fetch_error", "")})


@rule("fleet.forget_error", revision=3)
def forget_error(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Forgets the error of the bundle or the repository itself. Notes what it says beside newer words."""
    after = {name: value for name, value in attributes.items() if name != "overruled"}
    overruled = event.data.get("message")
    return _explained({**after, **({"overruled": overruled} if overruled else {}), "error": ""})


@rule("fleet.forget_fetch_error", revision=1)
def forget_fetch_error(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Forgets why the repository could not be fetched."""
    return _explained({**attributes, "fetch_error": ""})
