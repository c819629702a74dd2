"""Logs the events on which a rule failed.

Belongs here: `log_fault`. Does not: the rejection of such an event (`core.process`).
"""

import traceback

import structlog

from phaseline.engine.core.process import InboxEvent

log = structlog.get_logger(__name__)


def log_fault(event: InboxEvent, error: Exception) -> None:
    """Log an event that was rejected because a rule raised `error`, which is a bug."""
    last = traceback.format_exception_only(error)[-1].strip()
    log.error("event_parked", position=event.sequence, subject=event.subject, error=last, exc_info=error)
