"""What the records of a part are about, as a short list, so that the history of one entity skips the other parts.

Belongs here: the names of what a record is about, the list of their digests and its bytes. Does not: where it is stored
(`write_parts`), the checksum of its bytes (`check`).
An index is a file beside its part. It holds digests of four bytes, sorted: of each entity with transitions in the part,
of each with rejections, and of each tree. Two names with one digest cost a look into the part, no more. Parts of
earlier versions have no index: they are always read.
"""

import hashlib
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable

from phaseline.engine.replay.archive.last_states import MARKED

BYTES = 4
WILD = ("*", ">")
DOTS = {"transition": 4, "rejection": 3}
"""The dots in front of the root of a tree: `transition.*.*.*.c1`, `rejection.*.*.c1`."""


class PartIndex:
    """Collects the names of one part."""

    def __init__(self) -> None:
        """No record yet."""
        self._names: set[str] = set()

    def take(self, subject: str) -> None:
        """Take a record, by its subject without prefix, branch and partition. Marks are nobody's history."""
        if not subject.startswith(MARKED):
            self._names.update(names_of(subject))

    def encode(self) -> bytes:
        """The bytes of the index."""
        return _in_file_order(array("I", sorted(set(map(_digest, self._names))))).tobytes()


def names_of(subject: str) -> tuple[str, str]:
    """What a record is about: the root of its tree, and `transition.kind.tokens`. A filter has the same."""
    words = subject.split(".")
    sort, kind, tokens = words[0], words[1], words[DOTS[words[0]] :]
    return tokens[0], ".".join([sort, kind, *tokens])


def name_in(filter_: str) -> str | None:
    """The name that every record has which this filter selects; None if there is none, so that all parts may matter."""
    if filter_.count(".") < DOTS.get(filter_.partition(".")[0], sys.maxsize):
        return None
    root, entity = names_of(filter_)
    if root in WILD:
        return None
    return root if any(word in WILD for word in entity.split(".")) else entity


def may_hold(index: bytes, names: Iterable[str]) -> bool:
    """Whether a part with this index may have records with one of these names."""
    digests = array("I")
    digests.frombytes(index)
    digests = _in_file_order(digests)
    return any(_holds(digests, _digest(name)) for name in names)


def _holds(digests: "array[int]", wanted: int) -> bool:
    at = bisect_left(digests, wanted)
    return at < len(digests) and digests[at] == wanted


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=BYTES).digest())


def _in_file_order(digests: "array[int]") -> "array[int]":
    """Numbers of this machine as those of a file, and back: the file has the lowest byte first."""
    if sys.byteorder == "big":
        digests.byteswap()
    return digests
