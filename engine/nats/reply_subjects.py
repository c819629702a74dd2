"""Which reply subjects a worker answers to: inboxes only.

The server does not check the reply subject of a request, and answers are sent with the rights of the worker. So a
request could have an answer stored in the log, or make it a call of the JetStream API.
Belongs here: the shape of an inbox, counting and logging the requests that name something else.
"""

import time

from phaseline.engine import logs

INBOXES = ("_INBOX.", "_INBOX_", "_R_.")
"""The beginnings of inboxes: plain ones, those with a user's prefix, and those of requests from another account."""
QUIET = 60.0
"""Seconds in which one refusal is logged."""

log = logs.get_logger(__name__)


class ReplySubjects:
    """Says which replies may be answered, and counts the others."""

    def __init__(self, inbox_prefix: str) -> None:
        """`inbox_prefix`: the prefix of the inboxes that workers of this installation use."""
        self._inboxes = (*INBOXES, f"{inbox_prefix}.")
        self.refused = 0
        self._logged = -QUIET

    def may_answer(self, subject: str, reply: str) -> bool:
        """Whether a request on `subject` that names `reply` is answered. If not, it is counted, and logged at times."""
        if reply.startswith(self._inboxes):
            return True
        self.refused += 1
        if time.monotonic() - self._logged >= QUIET:
            self._logged = time.monotonic()
            log.warning("reply_refused", subject=subject, reply=reply, refused=self.refused)
        return False
