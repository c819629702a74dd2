"""Durations in Go's notation (1h30m, 1.5h, 300ms), which Kubernetes and Argo CD use.

Belongs here: parsing them.
"""

import re
from decimal import Decimal

_SECONDS = {
    "h": Decimal(3600), "m": Decimal(60), "s": Decimal(1), "ms": Decimal("1e-3"), "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"), "μs": Decimal("1e-6"), "ns": Decimal("1e-9"),
}  # fmt: skip
_PART = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(h|ms|m|s|us|µs|μs|ns)"
_ALL = re.compile(rf"([+-]?)((?:{_PART})+|0)")
LONGEST = 100
"""The most characters of a duration."""
MOST = Decimal(2**63) / 10**9
"""The longest duration in seconds, about 292 years, as in Go."""


class NoDuration(ValueError):
    """A text is not a duration. The message says how to write one."""


def seconds(text: str) -> Decimal:
    """The exact length of a duration in seconds; raises `NoDuration`."""
    found = _ALL.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        raise NoDuration(f"{text[:LONGEST]!r} is no duration: write it as in 1h30m, 1.5h or 300s (h, m, s, ms, us, ns)")
    total = sum((Decimal(number) * _SECONDS[unit] for number, unit in re.findall(_PART, found[2])), Decimal(0))
    if total >= MOST:
        raise NoDuration(f"{text!r} is too long: a duration must be shorter than 292 years")
    return -total if found[1] == "-" else total
