"""What events bring along and entities keep: fields, attributes, how the one becomes the other.

Belongs here: their shapes, which tables are written in (`table` has them by name). Does not: states, rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event's data, or an attribute of an entity."""

    name: str
    type: type
    doc: str
    options: tuple[str, ...] = ()
    default: Any = None
    many: bool = False
    """Whether it is a list of that type."""
    required: bool = False
    null: bool = False
    """Whether one that is required may be null."""


COMMON = (Field("reason", str, "a word for machines"), Field("message", str, "a sentence for people"))
"""What the data of every event may hold; the transition repeats them."""
MAX_TEXT = 4096
"""Characters that a string in an event's data may have."""


class RuleEvent(NamedTuple):
    """An event, as far as attributes may depend on it. `sequence` and `time` (ns) are the stream's."""

    data: Mapping[str, Any]
    sequence: int
    time: int


def why(happened: RuleEvent) -> str:
    """The event's reason and message, as one text."""
    return ": ".join(word for word in (happened.data.get("reason"), happened.data.get("message")) if word)


class Refusal(NamedTuple):
    """Why an event cannot be taken, in a sentence. invalid: for what its data is, not for what the entity is in."""

    message: str
    invalid: bool = False


Attributes = Mapping[str, Any]
ComputeRule = Callable[[Attributes, RuleEvent], Attributes | Refusal]
