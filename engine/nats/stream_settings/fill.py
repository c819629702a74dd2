"""How much a stream holds, and how near it is to its limit.

Belongs here: `Fill`, the share from which people are warned, sizes for people.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

KEPT_BYTES = "phaseline.max_bytes"
"""In the metadata of LOG: the bytes above which workers commit nothing."""
ALMOST_FULL = 0.8
"""The share of its limit from which a stream is worth a warning: early enough to make room."""
FULL = 0.98
"""The share from which a stream may refuse the next message."""


class Fill(NamedTuple):
    """What a stream holds, in bytes. limit: the most that it may hold; 0 if there is no limit."""

    bytes: int
    limit: int

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> Self:
        """The fill of a stream, from the answer to STREAM.INFO."""
        config = info["config"]
        kept = kept_bytes(config) or 0
        return cls(int(info["state"]["bytes"]), kept or max(0, int(config.get("max_bytes", -1))))

    @property
    def share(self) -> float:
        """The share of the limit that is used; 0 without a limit."""
        return self.bytes / self.limit if self.limit else 0.0

    @property
    def percent(self) -> int:
        """The share, rounded down."""
        return int(100 * self.share)

    @property
    def is_almost_full(self) -> bool:
        """Whether it is time to make room."""
        return self.share >= ALMOST_FULL

    @property
    def is_full(self) -> bool:
        """Whether the next message may be refused."""
        return self.share >= FULL


def kept_bytes(config: Mapping[str, Any]) -> int | None:
    """The limit that workers keep, from the configuration of a stream; None if it has none."""
    found = str((config.get("metadata") or {}).get(KEPT_BYTES, ""))
    return int(found) if found.isdecimal() else None


def size(count: int) -> str:
    """A number of bytes for people: `1.2 GB`."""
    amount, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    return f"{amount:.0f} {units[0]}" if units[0] == "bytes" else f"{amount:.1f} {units[0]}"
