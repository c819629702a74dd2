"""A notice as an alert of Alertmanager, whose API takes states, not messages: what is not sent again is over.

Belongs here: the alert, its times. Does not: sending it again (`engine.products.notices.sending`).
"""

from collections.abc import Mapping
from typing import Any

from phaseline.engine.products.notices.fold.bodies import wording
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage, time_of
from phaseline.schemas.records import SECOND, timestamp

AGAIN = 60
"""Seconds after which an open notice is sent again."""
LASTS = 4 * AGAIN * SECOND
"""For how long an alert is open when nobody sends it again, as long as Prometheus lets it be, ns."""
AFTER = 15 * 60 * SECOND
"""For how long the end of one is sent again, as Prometheus does, ns."""


def alert(message: NoticeMessage, labels: Mapping[str, str]) -> dict[str, Any]:
    """The alert of a notice as it is. Its labels never change, or it would be another alert.

    What has happened and has no end is open for as long as one that is not sent again.
    """
    data, opened = message.data, time_of(message.data, "opened") or message.due or message.now
    ended = time_of(data, "ended") if message.word in ("end", "past") else message.now + LASTS
    said = message._replace(word="end" if message.word in ("end", "past") else "begin", due=message.now)
    return {
        "labels": {**labels, "alertname": message.rule, "notice": message.notice, "severity": message.severity},
        "annotations": {
            "summary": wording.title(said), "description": wording.text(said),
            "about": wording.short(str(data.get("about") or ""), wording.LINE),
        },
        "startsAt": timestamp(opened), "endsAt": timestamp(max(ended, opened)),
    }  # fmt: skip
