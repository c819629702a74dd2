"""Values that many bodies hold unchanged, decoded once: a manifest in Git, the specification of a live object.

Bytes decide only whether a value is found here, never what it is: equal bytes are equal values.
Belongs here: keeping decoded values, and what follows from them, within a bound. Does not: decoding (`codec`), which
values are kept (`envelope`). Nobody may change a value that is kept.
"""

import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from phaseline.schemas import codec

T = TypeVar("T")
MOST = 4 << 20
"""The most bytes of encoded values that are kept. Decoded, they take about ten times as much memory."""
LEAST = 64
"""The fewest bytes of a value that is worth keeping."""


class _Kept:
    """A decoded value, and what was worked out from it."""

    __slots__ = ("results", "size", "value")

    def __init__(self, value: Any, size: int) -> None:
        self.value, self.size = value, size
        self.results: dict[Any, Any] = {}


class SharedValues:
    """The values used last, by their bytes."""

    def __init__(self, most: int = MOST) -> None:
        """most: the most bytes of encoded values that are kept."""
        self._most, self._size = most, 0
        self._by_bytes: dict[bytes, _Kept] = {}
        self._by_identity: dict[int, _Kept] = {}

    def value(self, raw: bytes, decode: Callable[[bytes], Any]) -> Any:
        """The value of these bytes, which `decode` decodes if it is not kept."""
        if len(raw) < LEAST:
            return decode(raw)
        found = self._by_bytes.pop(raw, None)
        if found is None:
            value = decode(raw)
            if len(raw) > self._most or type(value) not in (dict, list):
                return value
            found = _Kept(value, len(raw))
            self._by_identity[id(value)] = found
            self._size += found.size
        self._by_bytes[raw] = found  # the last one that is used stands last
        while self._size > self._most:
            oldest = self._by_bytes.pop(next(iter(self._by_bytes)))
            del self._by_identity[id(oldest.value)]
            self._size -= oldest.size
        return found.value

    def once(self, value: Any, key: Any, work: Callable[[Any], T]) -> T:
        """What `work` makes of a value; done once for a value that is kept. key: names the work, and what it uses."""
        kept = self._by_identity.get(id(value))
        if kept is None or kept.value is not value:
            return work(value)
        if key not in kept.results:
            kept.results[key] = work(value)
        found: T = kept.results[key]
        return found


def digest(value: Any) -> str:
    """Sixteen hexadecimal digits of a value."""
    return hashlib.blake2b(codec.encode(value), digest_size=8).hexdigest()


SHARED = SharedValues()
"""Those of this process."""
