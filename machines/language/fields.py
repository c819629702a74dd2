"""Fields of events and attributes of entities, and the values that rules get and return.

Belongs here: `Field`, `RuleEvent`, `Refusal`, and the fields that every event may have (`COMMON`), every observation
(`UID`, `LOG`) and every request (`IF_VERSION`, `LOG`); the words and bounds of free attributes: what publishers keep of
an entity under names that no table lists.
Does not: states and rows (`table`), reading an event from the wire (`engine.core.intake`), merging free attributes
(`engine.core.beside.free_attributes`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from phaseline.schemas.value import Value


class Field(Value, frozen=True):
    """A field of an event's data, or an attribute of an entity.

    name: its name, in lower case with digits and `_`.
    type: the type of its value: str, int, float, bool or dict.
    doc: what it means, as a phrase for people.
    options: the values that are allowed; empty for every value of the type.
    default: the value of an attribute that no event has set yet. For a field of data, it is documentation.
    many: whether the value is a list of values of the type.
    required: whether an event without the field is rejected.
    null: whether a required field may be null.
    least: the smallest number that is allowed.
    numbers: of a map of numbers, the names that it takes; empty for every other field.
    pattern: a regular expression that a text must match as a whole; None for every text.
    was: what earlier tables called an attribute. Entities get its new name when the tables change.
    known: for a required field of which a rule accepts some values only: those that may fit, by the entity's
        attributes. Rejections use them to say what is legal; nothing else depends on them.
    """

    name: str
    type: type
    doc: str
    options: tuple[str, ...] = ()
    default: Any = None
    many: bool = False
    required: bool = False
    null: bool = False
    least: float | None = None
    numbers: tuple[str, ...] = ()
    pattern: str | None = None
    known: Callable[[Mapping[str, Any]], Iterable[Any]] | None = None
    was: tuple[str, ...] = ()


COMMON = (
    Field(
        "reason", str, "a word for programs: up to 64 letters, digits, `_`, `-`, `.`, `:`; anything else is a message"
    ),
    Field("message", str, "a sentence for people"),
)
"""The fields that the data of every event may have. The transition that follows has them too."""
ANOTHER = "another"
"""A field that the engine adds to the data of an observation at a declared place: whether it names another thing than
the one that stands there."""
UID, UID_VERSION, IF_VERSION = "uid", "uid_version", "if_version"
"""The fields of an observation that say which thing it is about, and which version of it; that of a request: for which
version it was meant."""
IDENTITY = r"[a-z][a-z0-9._-]{0,31}:[!-~]{1,200}"
"""What the identity of a thing looks like: `<scheme>:<text>`, such as `k8s:0f2c...` or `aws:i-0abc`."""
LOG = "log"
"""The field that says in which log the positions and versions of an event count."""
BY_ROLE: Mapping[str, tuple[Field, ...]] = {
    "observation": (
        Field(
            LOG,
            int,
            "the identity of the log in which `seen` and `answers` count; those of another log are left out",
            least=1,
        ),
        Field(
            UID_VERSION,
            int,
            "which version of that thing it tells of, where its makers count them up; an older one "
            "than what is known of it is `stale`",
            least=0,
        ),
        Field(UID, str, "which thing it is about, as its makers name it: `<scheme>:<text>`", pattern=IDENTITY),
    ),
    "intent": (
        Field(LOG, int, "the identity of the log in which `if_version` counts", least=1),
        Field(
            IF_VERSION, int, "the version of the entity that the request is meant for; 0: unknown or Deleted", least=0
        ),
    ),
    "derived": (),
}
"""By role, the further fields that the data of an event may have whatever its trigger. A field of that name which the
table gives to a trigger is the table's."""
MAX_TEXT = 4096
"""The largest number of characters of a string in an event's data."""


class RuleEvent(NamedTuple):
    """The event that a rule is called for.

    data: the event's data, with the fields that an interpretation added.
    sequence: the event's position in the stream EVENTS.
    time: when the server stored the event, in nanoseconds since 1970.
    """

    data: Mapping[str, Any]
    sequence: int
    time: int


def reason_and_message(event: RuleEvent) -> str:
    """The reason and the message in an event's data, as one text; empty if it has neither."""
    return ": ".join(text for text in (event.data.get("reason"), event.data.get("message")) if text)


class Refusal(NamedTuple):
    """A rule returns it in place of a result when the event cannot be taken. The event is rejected.

    message: why, as a sentence for the publisher.
    invalid: True if the event's data is wrong, False if the entity's situation does not allow the event.
    stale: True if the event is older than what is known.
    """

    message: str
    invalid: bool = False
    stale: bool = False


Attributes = Mapping[str, Any]
"""The attributes of an entity, by name."""
ComputeRule = Callable[[Attributes, RuleEvent], Attributes | Refusal]
"""A function that returns an entity's new attributes, given the present ones and the event."""

ATTRIBUTES = "attributes"
"""The field of every event's data, and of items of snapshots, that holds attributes by name, free ones among them."""
FREE = "free"
"""The attribute of an entity that holds its free attributes. No rule of a kind can mistake one for its own."""
MOST_FREE = 64
"""The most free attributes of an entity."""
LONGEST_FREE_NAME, LONGEST_FREE_TEXT = 128, 1_024
"""The most characters of a name, and of a text."""


UNWATCHED = "unwatched"
"""The free attribute that names what of an entity nobody may look at now: how the ids of these things go on."""


def free_attributes(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The free attributes of an entity, by name."""
    found: Mapping[str, Any] = attributes.get(FREE) or {}
    return found
