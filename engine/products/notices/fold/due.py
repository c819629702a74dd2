"""Which notices fall due when: of each home on its own, because each has an order of time of its own.

Belongs here: the order. Does not: what happens then (`fold`).
"""

from collections.abc import Hashable, Iterator, Mapping
from heapq import heapify, heappop, heappush

from phaseline.engine.products.notices.fold.groups import Key, NoticeGroup

FEW = 1_000
"""So many entries are kept without a look at which of them still count."""


class DueNotices:
    """Notices by the time at which they do something by themselves. groups: those under way, by name."""

    def __init__(self, groups: Mapping[Key, NoticeGroup]) -> None:
        """Nothing falls due yet."""
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

    def before(self, home: Hashable, time: int) -> Iterator[tuple[NoticeGroup, int]]:
        """What falls due before a time, in order, each with its time; also what becomes due meanwhile."""
        while (heap := self._heaps.get(home)) and heap[0][0] < time:
            due, key = heappop(heap)
            group = self._groups.get(key)
            if group is None:
                continue
            if group.noted == due:
                group.noted = None
            if group.next_due == due:
                yield group, due
        if not self._heaps.get(home):
            self._heaps.pop(home, None)
            self._most.pop(home, None)

    @property
    def homes(self) -> list[Hashable]:
        """All of which something is noted."""
        return [*self._heaps]

    @property
    def next(self) -> int | None:
        """When something may fall due next, ns; None if nothing does."""
        return min((heap[0][0] for heap in self._heaps.values() if heap), default=None)

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
