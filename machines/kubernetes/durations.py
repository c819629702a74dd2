"""Durations in Go's notation (1h30m, 1.5h, 300ms), which Kubernetes and Argo CD use.

Belongs here: parsing them. Does not: times, schedules.
"""

import re
from decimal import Decimal

_SECONDS = {
    "h": Decimal(3600), "m": Decimal(60), "s": Decimal(1), "ms": Decimal("1e-3"), "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"), "μs": Decimal("1e-6"), "ns": Decimal("1e-9"),
}  # fmt: skip
_PART = r"(\d+\.?\d*|\.\d+)(h|ms|m|s|us|µs|μs|ns)"
_ALL = re.compile(rf"([+-]?)((?:{_PART})+|0)")


class NoDuration(ValueError):
    """A text is not a duration. The message says how to write one."""


def seconds(text: str) -> Decimal:
    """The exact length of a duration in seconds; raises `NoDuration`."""
    found = _ALL.fullmatch(text)
    if found is None:
        raise NoDuration(f"{text!r} is no duration: write it as in 1h30m, 1.5h or 300s (h, m, s, ms, us, ns)")
    total = sum((Decimal(number) * _SECONDS[unit] for number, unit in re.findall(_PART, found[2])), Decimal(0))
    return -total if found[1] == "-" else total
