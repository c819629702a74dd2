"""The extension attributes of an event: those beside the ones that CloudEvents and Phaseline define.

Records keep them in their cause, so that a trace goes on behind the transition.
Belongs here: which of them are kept. Does not: the other attributes (`schemas.envelope`).
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

Extension = str | int | bool
"""The types that attributes of CloudEvents have."""
FIRST = ("traceparent", "tracestate", "correlationid", "causationid")
"""The attributes that are kept before any other."""
MOST, MOST_BYTES = 16, 1_024
"""How many attributes of an event are kept, and the bytes of their names and texts together."""
_NAME = re.compile(r"[a-z0-9]{1,64}\Z")


def is_name(name: str) -> bool:
    """Whether CloudEvents allows an attribute of this name."""
    return _NAME.match(name) is not None


def kept_extensions(body: Mapping[str, Any], known: AbstractSet[str]) -> dict[str, Extension]:
    """The extension attributes in an event's map that records keep. `known`: the names that are no extensions.

    Beyond the bounds, and where CloudEvents allows no such name or type, an attribute is left out.
    """
    found: dict[str, Extension] = {}
    room = MOST_BYTES
    for name in (*FIRST, *sorted(body.keys() - known - {*FIRST})):
        value = body.get(name)
        if type(value) not in (str, int, bool) or not is_name(name):
            continue
        size = len(name) + (len(value.encode()) if isinstance(value, str) else 8)
        if size <= room and len(found) < MOST:
            found[name], room = value, room - size  # type: ignore[assignment]  # its type was checked above
    return found
