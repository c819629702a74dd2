"""A change of the tables of a partition, as the log tells of it. Pure.

Belongs here: `TablesChange`, and the word by which its records are known. Does not: the records (`moving`).
"""

from collections.abc import Mapping
from typing import NamedTuple

WORD = "tables"
"""The first word of the `event` of such a cause, and of what follows the position in the ids of the records."""


class TablesChange(NamedTuple):
    """A change of the tables of a partition.

    position: the last event that the former tables decided. time: when the change was noted, ns. digest: of the tables
    after it. former: by kind that has changed, the version of its table before.
    """

    position: int
    time: int
    digest: str
    former: Mapping[str, str]
