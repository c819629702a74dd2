"""Which partition made a record: in a bucket of LOG stand records of all partitions that have trees there.

Belongs here: telling it from a message. Does not: which partition decides which event (`schemas.partitions.divisions`).
"""

from phaseline.engine.jetstream.reader import Stored
from phaseline.engine.log.log_records import cause_of
from phaseline.schemas.partitions.divisions import Deciders


class MadeBy:
    """Says of messages of LOG whether one partition made the record in them."""

    def __init__(self, prefix: str, deciders: Deciders, number: int) -> None:
        """number: of the partition."""
        self._start, self._deciders, self._number = len(prefix) + 1, deciders, number
        self._rejections = f"{prefix}.log.{number}.rejection."

    def __call__(self, stored: Stored) -> bool:
        """Whether the partition made the record. False for messages that hold none."""
        if stored.subject.startswith(self._rejections):
            return True
        root = root_of(stored.subject[self._start :])
        return root is not None and self._deciders.of(root, cause_of(stored.data, 0)) == self._number


def root_of(subject: str) -> str | None:
    """The root in the subject of a transition or a mark, given without its prefix; None for other messages of LOG."""
    words = subject.split(".", 7)
    if len(words) > 5 and words[0] == "log" and words[2] == "transition":
        return words[6] if len(words) > 6 else None
    is_mark = len(words) > 7 and words[0] == "mark" and words[3] == "mark"
    return words[7].partition(".")[0] if is_mark else None
