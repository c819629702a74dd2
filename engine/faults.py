"""Logs the events on which a rule failed: one line each, and only so many a minute.

Belongs here: `FaultLog`, and the one that this process shares. Does not: the rejection of such an event
(`core.process`).
"""

import time
from collections.abc import Callable
from types import TracebackType

from phaseline.engine import logs
from phaseline.engine.core.process import InboxEvent, in_one_line
from phaseline.machines.language.rules import declaration_of

log = logs.get_logger(__name__)

MINUTE = 60.0
SHOWN = 20
"""How many faults are logged in a minute. Any number of events can make the same one."""


class FaultLog:
    """Logs faults, and counts those that it leaves out. `clock`: seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """No minute has begun yet."""
        self._clock = clock
        self._began = -MINUTE
        self._shown = self._left_out = 0

    def add(self, event: InboxEvent, error: Exception) -> None:
        """Log an event that was rejected because a rule raised `error`, which is a bug."""
        now = self._clock()
        if now - self._began >= MINUTE:
            if self._left_out:
                log.error("faults_left_out", faults=self._left_out)
            self._began, self._shown, self._left_out = now, 0, 0
        if self._shown >= SHOWN:
            self._left_out += 1
            return
        self._shown += 1
        where, kind = rule_of(error.__traceback__), _kind_of(event.subject)
        said = in_one_line(error)
        log.error("event_parked", position=event.sequence, subject=event.subject, kind=kind, rule=where, error=said)
        log.debug("fault_traceback", position=event.sequence, exc_info=error)


def rule_of(trace: TracebackType | None) -> str:
    """The declared name of the rule that failed; the innermost function of a traceback if none was declared."""
    found = ""
    innermost = ""
    while trace is not None:
        code, module = trace.tb_frame.f_code, trace.tb_frame.f_globals
        innermost = f"{module.get('__name__', '?')}.{code.co_qualname}"
        declared = declaration_of(module.get(code.co_qualname.partition(".")[0]))
        found = declared.revision.name if declared is not None else found
        trace = trace.tb_next
    return found or innermost


def _kind_of(subject: str) -> str:
    """The kind in an inbox subject: `pl.inbox.0.c1.node.ready...`; empty if there is none."""
    _, _, rest = subject.partition(".inbox.") if ".inbox." in subject else subject.partition(".due.")
    return next(iter(rest.split(".")[2:3]), "")


_faults = FaultLog()
log_fault = _faults.add
