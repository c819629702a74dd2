"""The errors about what a read covers.

Belongs here: times, ranges and depths that cannot be. Does not: what is not there (`engine.errors`).
"""

from phaseline.engine.errors import InvalidInput


class StartAfterEnd(InvalidInput):
    """nothing can be read from {start} to {end}, because that is earlier: exchange them, or give an earlier start"""

    start: str
    end: str


class NoSuchTime(InvalidInput):
    """the time {when!r} is outside of the years 1678 to 2261: no log can hold it"""

    when: str


class BadDepth(InvalidInput):
    """the depth {depth} is no number of levels: give 0 or more, or none for all levels"""

    depth: int
