"""Values that many bodies hold unchanged, decoded once: a manifest in Git, the specification of a live object.

Bytes decide only whether a value is found here, never what it is: equal bytes are equal values.
A body that has the large values of the one before it is abridged, so that little is left to read. A mark stands in the
place of each, which is a whole msgpack value. The bytes of a mark occur nowhere else in the body: where a decoder finds
one as a value, the large one stands there. If it does not find it so, that stands inside of another value, and the body
has to be read as it is.
Belongs here: keeping decoded values, and what follows from them, within a bound; `AbridgedBody`. Does not: decoding
(`codec`), which values are kept and noted (`envelope`). Nobody may change a value that is kept.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from phaseline.schemas import codec

T = TypeVar("T")
MOST = 4 << 20
"""The most bytes of encoded values that are kept. Decoded, they take about ten times as much memory."""
LEAST = 64
"""The fewest bytes of a value that is worth keeping."""


_MARK = b"\xc7\x10\x7fphaseline part "
"""The head of a msgpack extension with 16 bytes; the last of them follows."""
MARKS = tuple(_MARK + digit for digit in (b"0", b"1", b"2", b"3"))
"""What stands for values that are left out of a body: at most so many."""
_SHOWN = 8
"""By how many of its first bytes a value is looked for."""


class AbridgedBody(msgspec.Struct, frozen=True):
    """A body with marks. left_out: the values that belong in their places, by mark."""

    body: bytes
    left_out: dict[bytes, Any]


class _Kept:
    """A decoded value, what was worked out from it, and the subject whose last body holds it."""

    __slots__ = ("results", "size", "subject", "value")

    def __init__(self, value: Any, size: int) -> None:
        self.value, self.size = value, size
        self.results: dict[Any, Any] = {}
        self.subject = ""


class SharedValues:
    """The values used last, by their bytes. Several threads may use it: each change of a dict is one call."""

    def __init__(self, most: int = MOST) -> None:
        """most: the most bytes of encoded values that are kept."""
        self._most, self._size = most, 0
        self._by_bytes: OrderedDict[bytes, _Kept] = OrderedDict()
        self._by_identity: dict[int, _Kept] = {}
        self._noted: dict[str, list[tuple[bytes, bytes]]] = {}
        """By subject, the names and bytes of values in its last body. No value is noted for two subjects."""

    def value(self, raw: bytes, decode: Callable[[bytes], Any]) -> Any:
        """The value of these bytes, which `decode` decodes if it is not kept."""
        if len(raw) < LEAST:
            return decode(raw)
        found = self._by_bytes.get(raw)
        if found is None:
            value = decode(raw)
            if len(raw) > self._most or type(value) not in (dict, list):
                return value
            found = self._keep(raw, _Kept(value, len(raw)))
        self._use(raw)
        return found.value

    def _keep(self, raw: bytes, new: _Kept) -> _Kept:
        """Keep a value, and give up those that are over the bound; returns what another thread has kept meanwhile."""
        self._by_identity[id(new.value)] = new
        found = self._by_bytes.setdefault(raw, new)
        if found is not new:
            del self._by_identity[id(new.value)]
            return found
        self._size += new.size
        with suppress(KeyError):  # another thread is giving up the last one
            while self._size > self._most:
                _, oldest = self._by_bytes.popitem(last=False)
                self._size -= oldest.size
                self._by_identity.pop(id(oldest.value), None)
                self._noted.pop(oldest.subject, None)
        return new

    def _use(self, raw: bytes) -> None:
        """Let the value that is used last stand last."""
        with suppress(KeyError):  # another thread has given it up
            self._by_bytes.move_to_end(raw)

    def note(self, subject: str, named: Iterable[tuple[str, bytes]]) -> None:
        """Note the names and bytes of values in the last body of a subject, as far as they are kept."""
        self._noted.pop(subject, None)
        noted = []
        for name, raw in named:
            found = self._by_bytes.get(raw)
            if found is not None:
                if found.subject != subject:
                    self._noted.pop(found.subject, None)
                found.subject = subject
                noted.append((codec.encode(name), raw))
        if noted:
            self._noted[subject] = noted

    def abridge(self, subject: str, body: bytes) -> AbridgedBody | None:
        """A body without the values that are noted for its subject; None unless it has them all."""
        left_out: dict[bytes, Any] = {}
        for mark, (name, raw) in zip(MARKS, self._noted.get(subject, ()), strict=False):
            at = body.find(name + raw[:_SHOWN]) + len(name)
            kept = self._by_bytes.get(raw) if body.startswith(raw, at) else None
            if kept is None:
                return None
            self._use(raw)
            body = b"".join((body[:at], mark, body[at + len(raw) :]))
            left_out[mark] = kept.value
        return AbridgedBody(body, left_out) if left_out and body.count(_MARK) == len(left_out) else None

    def once(self, value: Any, key: Any, work: Callable[[Any], T]) -> T:
        """What `work` makes of a value; done once for a value that is kept. key: names the work, and what it uses."""
        kept = self._by_identity.get(id(value))
        if kept is None or kept.value is not value:
            return work(value)
        results: dict[Any, T] = kept.results
        if key not in results:
            results[key] = work(value)
        return results[key]


def digest(value: Any) -> str:
    """Sixteen hexadecimal digits of a value."""
    return hashlib.blake2b(codec.encode(value), digest_size=8).hexdigest()


SHARED = SharedValues()
"""Those of this process."""
