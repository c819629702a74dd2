"""How the trees of an installation are divided among its partitions, now and before.

Belongs here: the numbers of partitions, which of them decides a tree, and which of them decided an event. Does not:
where divisions are noted (`engine.log.division`).

The division that an installation is made with gives each tree its *bucket*. It stands in the subjects of all that is
stored about the tree, and never changes. A later division changes who decides a tree, and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import gcd

import msgspec

from phaseline.schemas.subjects import partition_of

STRIDE = 1_000
"""The distance between the numbers of two divisions: the partitions of the second one are 1000, 1001 and so on."""


class Division(msgspec.Struct, frozen=True):
    """A division of the trees. generation: how many came before it. count: how many partitions it has."""

    generation: int
    count: int

    @classmethod
    def of(cls, number: int, count: int) -> "Division":
        """The division of the partition with that number. count: how many partitions it has."""
        return cls(number // STRIDE, count)

    @property
    def numbers(self) -> range:
        """The numbers of its partitions. No other division has any of them."""
        return range(self.generation * STRIDE, self.generation * STRIDE + self.count)

    def number_of(self, root: str) -> int:
        """The partition of the tree whose root has the encoded token `root`."""
        return self.generation * STRIDE + partition_of(root, self.count)

    def reach(self, number: int, buckets: int) -> int | None:
        """The one bucket that holds all trees of a partition; None if there is no such one."""
        return number % STRIDE % buckets if self.count % buckets == 0 else None

    def sources(self, number: int, former: "Division") -> Iterator[int]:
        """The partitions of the former division from which trees come to a partition."""
        common = gcd(self.count, former.count)
        return (one for one in former.numbers if (one % STRIDE - number % STRIDE) % common == 0)


def divisions_of(buckets: int, later: Sequence[int]) -> list[Division]:
    """All divisions, oldest first. later: the numbers of partitions of those after the first one."""
    return [Division(generation, count) for generation, count in enumerate((buckets, *later))]


class Deciders:
    """Which partition decides an event, or has decided it.

    closed: by the number of a partition, the position up to which it decided before it was closed for good.
    """

    def __init__(self, divisions: Sequence[Division], closed: Mapping[int, int]) -> None:
        """divisions: all, oldest first."""
        self.divisions, self.closed = divisions, closed

    @property
    def last(self) -> Division:
        """The present division."""
        return self.divisions[-1]

    def of(self, root: str, position: int) -> int:
        """The partition that decides the event at a position, of the tree with the encoded token `root`."""
        for division in self.divisions[:-1]:
            number = division.number_of(root)
            if number not in self.closed or position <= self.closed[number]:
                return number
        return self.last.number_of(root)
