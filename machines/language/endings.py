"""How a life ended: whether somebody saw that the thing is gone, whether that is assumed, or contradicted.

Belongs here: the words, what the end of a life says and what is said of it later, the names and the class of such an
end, what is still known of what is above. Does not: ending lives (`engine.core.changeset`), judging what is reported
afterwards (`engine.core.after_end`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.machines.language.fields import Field
from phaseline.machines.language.predicates import Scene, living
from phaseline.machines.language.signals import TOLD as STANDING
from phaseline.machines.language.table import DELETED, OWNER_GONE, Label, Role
from phaseline.schemas.records import SIGNALS, State, timestamp

END = "end"
"""The attribute of a Deleted entity that says how its life ended. A new life begins without it."""
SEEN, ASSUMED, CONTRADICTED = "seen", "assumed", "contradicted"
"""Somebody reported that it is gone; or only what stands above it ended, or it was given up; or that was assumed, and
somebody reported since that it is still there: it is left behind."""
SHOWS = "shows"
"""The attribute of a Deleted entity that may still be there: what was reported of it last. See `ReportAfterEnd`."""
ABANDON = "abandon"
"""The field of a request that gives up what cannot be seen to be gone."""
MOVED = Field("moved", bool, "whether it only left this place: nobody saw that it is gone, and it may come back")
"""The field of an observation that something is there no more, of kinds whose things change their places."""

Attributes = Mapping[str, Any]


class ReportAfterEnd(NamedTuple):
    """What was reported of an entity that is Deleted. event: the position of the event that said so. time: its, ns."""

    phase: str
    conditions: Sequence[str]
    event: int
    time: int

    def as_map(self) -> dict[str, Any]:
        """It, as the attribute `SHOWS` holds it."""
        conditions, time = list(self.conditions), timestamp(self.time)
        return {"phase": self.phase, "conditions": conditions, "time": time, "event": self.event}


def end_of(trigger: str, role: Role, data: Mapping[str, Any]) -> str | None:
    """How a life ends with a trigger; None where its end is a decision, or where the thing is at another place."""
    if trigger == OWNER_GONE or (role == "intent" and data.get(ABANDON)):
        return ASSUMED
    return SEEN if role == "observation" and not data.get(MOVED.name) else None


def with_end(attributes: Attributes, end: str | None) -> Attributes:
    """The attributes of a life that ended so."""
    if end is None:
        return attributes
    return {**attributes, END: end} if attributes else ENDS[end]


def seen_gone(attributes: Attributes) -> Attributes:
    """The attributes of a life whose end was assumed or contradicted, and is seen now."""
    rest = {name: value for name, value in attributes.items() if name not in (END, SHOWS)}
    return with_end(rest, SEEN)


def still_there(attributes: Attributes, shown: ReportAfterEnd) -> Attributes:
    """The attributes of a life whose end is contradicted."""
    return {**attributes, END: CONTRADICTED, SHOWS: shown.as_map()}


def is_unseen(attributes: Attributes) -> bool:
    """Whether nobody saw that an entity whose life is over is gone."""
    return attributes.get(END) in (ASSUMED, CONTRADICTED)


def is_seen_gone(phase: str, attributes: Attributes) -> bool:
    """Whether an entity is Deleted, and somebody saw that what it was is gone."""
    return phase == DELETED and attributes.get(END) == SEEN


def is_left_behind(phase: str, attributes: Attributes) -> bool:
    """Whether an entity is Deleted, and was reported to be there still."""
    return phase == DELETED and SHOWS in attributes


def shown_state(attributes: Attributes) -> State:
    """What was reported last of an entity that is left behind."""
    found = attributes[SHOWS]
    return State(found["phase"], tuple(found["conditions"]))


ENDS: Mapping[str, Attributes] = {end: {END: end} for end in (SEEN, ASSUMED)}
"""The attributes of an entity that had none. They are shared, so that an ended life takes no room."""

TOLD: Mapping[str, State] = {
    ASSUMED: State(DELETED, ("NotSeen",)),
    CONTRADICTED: State(DELETED, ("LeftBehind",)),
}
"""By `end`, what stands for the state Deleted where people are told of it. No record holds it."""
LABELS: Mapping[State, Label] = {
    TOLD[ASSUMED]: Label(DELETED, "NotSeen", "Deleted (not seen)", {"zh": "已删除（未确认）"}),
    TOLD[CONTRADICTED]: Label(
        DELETED, "LeftBehind", "Deleted (not seen), left behind", {"zh": "已删除（未确认），仍残留"}, state_class="bad",
        advice={
            "en": "It still reports: remove it where it runs, then report it gone.",
            "zh": "它仍在上报：请在其运行处清理，然后上报其已不存在。",
        },
    ),
}  # fmt: skip


def state_for_people(state: State, attributes: Attributes) -> State:
    """A state as people are told of it: with how the life ended, if nobody saw that; with the signals that stand."""
    if state.phase == STANDING and SIGNALS in attributes:
        return State(STANDING, tuple(attributes[SIGNALS]))
    return TOLD.get(attributes.get(END, ""), state) if state.phase == DELETED else state


def known_of(scene: Scene, entity_id: str, kind: str) -> Attributes:
    """The attributes of the ancestor of that kind; none of an unknown one, or one whose life is over."""
    found = living(scene, entity_id, kind)
    return {} if found is None else found.attributes
