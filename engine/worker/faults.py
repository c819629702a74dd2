"""Events on which a rule or a worker failed: logged, one line each and only so many a minute, and counted in a row.

Belongs here: `FaultLog`, and the one that this process shares; `FaultStreak`, the numbers that end a worker. Does not:
the rejection of such an event (`core.process`), ending the worker (`worker.worker`).
A single event, a single tree and a single kind never end a worker: their faults are rejected, and the others go on.
"""

import time
from collections.abc import Callable, Sequence
from types import TracebackType

from phaseline.engine import logs
from phaseline.engine.core.process import Fault, InboxEvent, in_one_line
from phaseline.machines.language.rules import declaration_of
from phaseline.schemas.errors import ScriptStopped, SetupError
from phaseline.schemas.subjects import kind_in

log = logs.get_logger(__name__)

MINUTE = 60.0
SHOWN = 20
"""How many faults are logged in a minute. Any number of events can make the same one."""
IN_A_ROW = 20
"""After so many events in a row that ended in faults, a worker ends: it or a library is broken, not an event."""
KINDS, TREES = 2, 2
"""Of at least so many kinds and so many trees: a rule belongs to one kind, and a publisher to one tree."""


class FaultLog:
    """Logs faults, and counts those that it leaves out. `clock`: seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
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
        where, (_, kind) = rule_of(error.__traceback__), tree_and_kind(event.subject)
        said = in_one_line(error)
        log.error("event_parked", position=event.sequence, subject=event.subject, kind=kind, rule=where, error=said)
        log.debug("fault_traceback", position=event.sequence, exc_info=error)


class FaultStreak:
    """The faults since the last event that this worker decided, in all its partitions."""

    def __init__(self) -> None:
        self.faults = 0
        self._kinds: set[str] = set()
        self._trees: set[str] = set()

    def take(self, events: Sequence[InboxEvent], faults: Sequence[Fault]) -> None:
        """Take in what became of some events, in order; raises `SetupError` if nothing can be decided any more."""
        if not faults:
            if self.faults:
                self._end()
            return
        failed = {fault.event.sequence: fault.error for fault in faults}
        for event in events:
            error = failed.get(event.sequence)
            if isinstance(error, ScriptStopped):
                continue  # it says nothing about this worker
            if error is not None:
                self._add(*tree_and_kind(event.subject))
            else:
                self._end()
        if self.faults >= IN_A_ROW and len(self._kinds) >= KINDS and len(self._trees) >= TREES:
            raise SetupError.worker_faults(
                faults=self.faults,
                kinds=len(self._kinds),
                trees=len(self._trees),
                problem=in_one_line(faults[-1].error),
            )

    def _add(self, tree: str, kind: str) -> None:
        self.faults += 1
        self._kinds.add(kind)
        self._trees.add(tree)

    def _end(self) -> None:
        self.faults = 0
        self._kinds.clear()
        self._trees.clear()


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


def tree_and_kind(subject: str) -> tuple[str, str]:
    """The tree and the kind in an inbox subject: `pl.inbox.0.c1.node.ready...`; empty if there are none."""
    _, _, rest = subject.partition(".inbox.") if ".inbox." in subject else subject.partition(".due.")
    _, tree, *further = (*rest.split("."), "", "")
    return tree, kind_in([tree, *further], 0)


_faults = FaultLog()
log_fault = _faults.add
