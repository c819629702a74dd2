"""A message as JSON: all that there is to know of the notice; the same as a CloudEvent.

Belongs here: the maps.
"""

from typing import Any

from phaseline.engine.products.notices.fold.bodies import wording
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage
from phaseline.schemas.records import SECOND, timestamp

KEPT = (
    "about", "state", "trigger", "said", "cause", "because", "number", "most", "below", "names", "kinds", "left",
    "since", "opened", "ended", "ended_as", "flapping", "window", "opened_by",
)  # fmt: skip
"""What the data of a notice and of a message have in common."""


def plain(message: NoticeMessage) -> dict[str, Any]:
    """The message for programs."""
    return {
        "id": message.id, "notice": message.notice, "thread": message.thread, "rule": message.rule,
        "word": message.word, "severity": message.severity, "title": wording.title(message),
        "text": wording.text(message), "due": timestamp(message.due) if message.due else "",
        "sent": timestamp(message.now), "late_seconds": message.late // SECOND, "taken_by": message.taken_by,
        **{name: message.data[name] for name in KEPT if name in message.data},
    }  # fmt: skip


def cloud_event(message: NoticeMessage, source: str) -> dict[str, Any]:
    """The message as a CloudEvent in structured mode."""
    return {
        "specversion": "1.0", "id": message.id, "source": source, "type": f"notice.{message.word}",
        "subject": f"notice/{message.notice}", "time": timestamp(message.due or message.now),
        "datacontenttype": "application/json", "data": plain(message),
    }  # fmt: skip
