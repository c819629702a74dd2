"""Conversion of records that earlier versions wrote into the current shape.

Belongs here: one step from each version of the maps to the next. Does not: what the maps mean (`wire_codec`).
The folder tests/golden keeps bytes that each version wrote; they stay readable.
"""

from collections.abc import Callable
from typing import Any

from phaseline.schemas.errors import NewerRecord

RECORD_VERSION = 2
"""The version of the records that this package writes."""


def _name_tables(body: dict[str, Any]) -> dict[str, Any]:
    """1 -> 2: records did not name the version of the table that made them."""
    return {**body, "tableversion": ""}


STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _name_tables}
"""By version, the function that makes the map of the next version."""


def upcast(body: dict[str, Any]) -> dict[str, Any]:
    """The map of a record in the shape of `RECORD_VERSION`; raises `NewerRecord`."""
    found: int = body["schemaversion"]
    if found > RECORD_VERSION:
        raise NewerRecord(version=found, known=RECORD_VERSION)
    for version in range(found, RECORD_VERSION):
        body = STEPS[version](body)
    return {**body, "schemaversion": RECORD_VERSION}
