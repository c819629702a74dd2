"""A few results that were made lately and may be asked for again.

Belongs here: `Kept`. Does not: what is kept.
"""

from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Kept(Generic[K, V]):
    """The results that were used last, `most` of them."""

    def __init__(self, most: int) -> None:
        """Nothing is kept yet."""
        self._most = most
        self._found: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The result, if it is still kept."""
        found = self._found.get(key)
        if found is not None:
            self._found.move_to_end(key)
        return found

    def put(self, key: K, value: V) -> None:
        """Keep a result; the one that was not used for longest goes."""
        self._found[key] = value
        self._found.move_to_end(key)
        while len(self._found) > self._most:
            self._found.popitem(last=False)
