"""Which notices fall due when: of each home on its own, because each has an order of time of its own.

Belongs here: the order. Does not: what happens then (`fold`).
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush

from phaseline.engine.products.notices.fold.groups import EVERYWHERE, Key, NoticeGroup

FEW = 1_000
"""So many entries are kept without a look at which of them still count."""


class DueNotices:
    """Notices by the time at which they do something by themselves. groups: those under way, by name."""

    def __init__(self, groups: Mapping[Key, NoticeGroup]) -> None:
        self._groups = groups
        self._heaps: dict[Hashable, list[tuple[int, Key]]] = {}
        self._most: dict[Hashable, int] = {}

    def note(self, group: NoticeGroup) -> None:
        """Note when a notice under way falls due next. What was noted of it before counts no more."""
        due = group.next_due
        if due is None or due == group.noted or group.key not in self._groups:
            return
        group.noted = due
        heap = self._heaps.setdefault(group.home, [])
        heappush(heap, (due, group.key))
        if len(heap) > self._most.get(group.home, FEW):
            self._tidy(group.home, heap)

    def before(self, home: Hashable, more: Iterable[Hashable], time: int) -> Iterator[tuple[NoticeGroup, int]]:
        """What falls due before a time in some homes, in order, each with its time; also what becomes due meanwhile.

        more: other homes, which may change meanwhile.
        """
        while (first := self._first((home, *more))) is not None and (heap := self._heaps[first])[0][0] < time:
            due, key = heappop(heap)
            if not heap:
                del self._heaps[first]
                self._most.pop(first, None)
            group = self._groups.get(key)
            if group is None:
                continue
            if group.noted == due:
                group.noted = None
            if group.next_due == due:
                yield group, due

    def _first(self, homes: Iterable[Hashable]) -> Hashable | None:
        """The home in which something falls due first; None if nothing does in any."""
        known = [home for home in homes if home in self._heaps]
        return min(
            known, key=lambda home: (self._heaps[home][0][0], home != EVERYWHERE, self._heaps[home][0]), default=None
        )

    @property
    def homes(self) -> list[Hashable]:
        """All of which something is noted."""
        return [*self._heaps]

    @property
    def next(self) -> int | None:
        """When something may fall due next, ns; None if nothing does."""
        return min((heap[0][0] for heap in self._heaps.values()), default=None)

    def _tidy(self, home: Hashable, heap: list[tuple[int, Key]]) -> None:
        """Forget the entries that count no more."""
        kept = set[tuple[int, Key]]()
        for due, key in heap:
            group = self._groups.get(key)
            if group is not None and group.next_due == due:
                kept.add((due, key))
            elif group is not None and group.noted == due:
                group.noted = None
        heap[:] = kept
        heapify(heap)
        self._most[home] = max(FEW, 2 * len(heap))
