"""How a life ended: whether somebody saw that the thing is gone, or whether that is assumed.

Belongs here: the words, and what the end of a life says. Does not: ending lives (`engine.core.changeset`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.machines.language.table import OWNER_GONE, Role

END = "end"
"""The attribute of a Deleted entity that says how its life ended. A new life begins without it."""
SEEN, ASSUMED = "seen", "assumed"
"""Somebody reported that it is gone; or only what stands above it ended, or it was given up."""
ABANDON = "abandon"
"""The field of a request that gives up what cannot be seen to be gone."""


def end_of(trigger: str, role: Role, data: Mapping[str, Any]) -> str | None:
    """How a life ends with a trigger; None where its end is a decision, as that of a declaration."""
    if trigger == OWNER_GONE or (role == "intent" and data.get(ABANDON)):
        return ASSUMED
    return SEEN if role == "observation" else None


def with_end(attributes: Mapping[str, Any], end: str | None) -> Mapping[str, Any]:
    """The attributes of a life that ended so."""
    if end is None:
        return attributes
    return {**attributes, END: end} if attributes else ENDS[end]


ENDS: Mapping[str, Mapping[str, Any]] = {end: {END: end} for end in (SEEN, ASSUMED)}
"""The attributes of an entity that had none. They are shared, so that an ended life takes no room."""
