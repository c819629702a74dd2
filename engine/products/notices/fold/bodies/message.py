"""A notice as it is when somebody is told, and what is told of it.

Belongs here: `NoticeMessage`, which word fits what is so now, its stable id. Does not: how it reads (`wording`).
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from phaseline.schemas.records import SECOND, nanoseconds

MessageWord = Literal["begin", "flapping", "change", "reminder", "given_back", "end", "past", "happened"]
"""What a message is about. given_back: who took it did not deal with it. past: it began and ended before it could be
told. happened: there is nothing to end."""
OVER: tuple[MessageWord, ...] = ("end", "past", "happened")
"""After these nothing follows, until the notice begins anew."""
LATE = 60 * SECOND
"""From when on a message says that it is late, ns."""


class NoticeMessage(NamedTuple):
    """What one receiver is told. Times in ns.

    notice: the id. data: what the notice says (`fold.telling`). due: when it was to be told, by the log.
    now: when it is sent. taken_by: who takes care of it.
    """

    notice: str
    receiver: str
    word: MessageWord
    data: Mapping[str, Any]
    due: int
    now: int
    taken_by: str = ""

    @property
    def rule(self) -> str:
        """The name of the rule."""
        return self.notice.partition("/")[0]

    @property
    def severity(self) -> str:
        """As the rule says."""
        return next((one for one in ("info", "critical") if one == self.data.get("severity")), "warning")

    @property
    def is_over(self) -> bool:
        """Whether the notice is closed."""
        return self.word in OVER

    @property
    def late(self) -> int:
        """How late it is, ns; 0 if it is in time."""
        return self.now - self.due if self.due and self.now - self.due >= LATE else 0

    @property
    def thread(self) -> str:
        """The same for all messages of one notice from its begin to its end."""
        return _digest(self.notice, self.data.get("opened", ""))

    @property
    def id(self) -> str:
        """The same each time that the same is told to the same receiver."""
        return _digest(self.notice, self.receiver, self.word, str(self.due), self.data.get("opened", ""))


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode(errors="replace"), digest_size=16).hexdigest()


def word_now(
    asked: str, told: str, data: Mapping[str, Any], *, is_closed: bool, is_given_back: bool = False
) -> MessageWord:
    """What to tell. asked: when it was queued. told: what the receiver heard of it last; empty for nothing."""
    has_heard = told not in ("", *OVER)
    if is_closed:
        if has_heard:
            return "end"
        return "past" if data.get("ended_as") else "happened"
    if not has_heard:
        return "flapping" if data.get("flapping") else "begin"
    if is_given_back and told != "given_back":
        return "given_back"
    return next((one for one in ("reminder", "flapping") if one == asked), "change")


def time_of(data: Mapping[str, Any], name: str) -> int:
    """A time in the data of a notice, ns; 0 if it is not there."""
    found = data.get(name)
    try:
        return nanoseconds(found) if isinstance(found, str) and found else 0
    except (ValueError, OverflowError):
        return 0
