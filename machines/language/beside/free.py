"""Free attributes: what publishers keep of an entity under names that no table lists, such as its zone.

Belongs here: the words and the bounds. Does not: reading and merging them (`engine.core.beside.free_attributes`).
"""

from collections.abc import Mapping
from typing import Any

ATTRIBUTES = "attributes"
"""The field of every event's data, and of items of snapshots, that holds attributes by name, free ones among them."""
FREE = "free"
"""The attribute of an entity that holds its free attributes. No rule of a kind can mistake one for its own."""
MOST = 64
"""The most free attributes of an entity."""
LONGEST_NAME, LONGEST_TEXT = 128, 1_024
"""The most characters of a name, and of a text."""


def free_attributes(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The free attributes of an entity, by name."""
    found: Mapping[str, Any] = attributes.get(FREE) or {}
    return found
