"""Records of earlier versions, read as if they were written today.

Belongs here: one step from each version of the records' maps to the next. Does not: what the maps mean (`wire_codec`).
Bytes that every version wrote are kept in tests/golden, and stay readable.
"""

from collections.abc import Callable
from typing import Any

RECORD_VERSION = 2
"""The version of the records this package writes."""


class NewerRecord(ValueError):
    """A record that a newer Phaseline wrote."""


def _name_tables(body: dict[str, Any]) -> dict[str, Any]:
    """1 -> 2: which tables made a record was not said."""
    return {**body, "tableversion": ""}


STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _name_tables}


def upcast(body: dict[str, Any]) -> dict[str, Any]:
    """The map of a record as version `RECORD_VERSION` has it; raises `NewerRecord`."""
    found: int = body["schemaversion"]
    if found > RECORD_VERSION:
        raise NewerRecord(f"a record of version {found}; this Phaseline reads up to {RECORD_VERSION}: update it")
    for version in range(found, RECORD_VERSION):
        body = STEPS[version](body)
    return {**body, "schemaversion": RECORD_VERSION}
