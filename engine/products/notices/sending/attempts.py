"""What came of one try to send a message, and when to try again.

Belongs here: `Attempt`, waiting times.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple

DAY = 86_400.0
FIRST, LONGEST = 2.0, 3_600.0
"""Seconds until the second try, and the most seconds between two; each wait is twice the one before."""
GIVE_UP = DAY
"""Seconds after the first failure after which no further try is made."""


class Attempt(NamedTuple):
    """What came of a try.

    outcome: `sent`; `failed`, a later try may help; `refused`, none will. said: what the receiver said, or what went
    wrong; it may be shown. wait: the seconds that the receiver asks for. handle: of the message, where it can be
    changed. about_message: whether the failure is about this message only, so that others may be sent meanwhile.
    """

    outcome: Literal["sent", "failed", "refused"]
    said: str
    wait: float = 0.0
    handle: Mapping[str, Any] | None = None
    about_message: bool = False


def pause(failures: int) -> float:
    """Seconds until the next try after so many in a row that failed."""
    return min(LONGEST, FIRST * 2.0 ** min(failures - 1, 30)) if failures > 0 else 0.0


def retry_after(header: str, now: float) -> float:
    """The seconds that a header `Retry-After` asks for, a day at most; 0 if it asks for nothing. now: POSIX time."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(DAY, float(text[:9]))
    try:
        until = parsedate_to_datetime(text)
        until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
        return min(DAY, max(0.0, (until - datetime.fromtimestamp(now, UTC)).total_seconds()))
    except (ValueError, TypeError, OverflowError):
        return 0.0
