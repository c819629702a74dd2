"""Sets of times: half-open spans in ns that do not touch, in order.

Belongs here: union, difference, overlap, and how much of a set lies between two times. Does not: what a set means
(`spared`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

Span = tuple[int, int]
"""From a time, up to another, which is not part of it. In ns."""


class Spans:
    """A set of times. How much of it lies between two times takes the logarithm of its size."""

    __slots__ = ("_before", "_begins", "_ends")

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        """spans: in any order; they may overlap. Empty ones count for nothing."""
        joined = list(_joined(spans))
        self._begins = [begin for begin, _ in joined]
        self._ends = [end for _, end in joined]
        self._before = [0, *accumulate(end - begin for begin, end in joined)]

    def __iter__(self) -> Iterator[Span]:
        return zip(self._begins, self._ends, strict=True)

    def __len__(self) -> int:
        return len(self._begins)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spans) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]  # nothing keeps sets of them

    def within(self, begin: int, end: int) -> int:
        """How many ns of the set lie between two times."""
        return self._up_to(end) - self._up_to(begin) if self._begins and end > begin else 0

    def _up_to(self, time: int) -> int:
        """How many ns of the set lie before a time."""
        at = bisect_right(self._begins, time)
        return self._before[at] - max(0, self._ends[at - 1] - time) if at else 0

    def __or__(self, other: "Spans") -> "Spans":
        return Spans([*self, *other]) if other else self

    def __sub__(self, other: "Spans") -> "Spans":
        return Spans(_without(self, other)) if self and other else self

    def __and__(self, other: "Spans") -> "Spans":
        return self - (self - other) if self and other else Spans()

    def clipped(self, begin: int, end: int) -> "Spans":
        """What of the set lies between two times."""
        return self & Spans([(begin, end)])

    def touching(self, begin: int, end: int) -> Iterator[Span]:
        """The spans that have a part between two times, whole."""
        for at in range(bisect_right(self._ends, begin), bisect_left(self._begins, end)):
            yield self._begins[at], self._ends[at]


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans in order, those that overlap or touch as one."""
    held: Span | None = None
    for begin, end in sorted(one for one in spans if one[0] < one[1]):
        if held is not None and begin <= held[1]:
            held = held[0], max(held[1], end)
            continue
        if held is not None:
            yield held
        held = begin, end
    if held is not None:
        yield held


def _without(spans: Spans, taken: Spans) -> Iterator[Span]:
    """What is left of spans without those that are taken."""
    for begin, end in spans:
        at = begin
        for other, until in taken.touching(begin, end):
            yield at, other
            at = max(at, until)
        yield at, end
