"""Checks of what the latest events said: rejected observations, fields that nothing reads, clocks that are ahead.

Belongs here: counting both by source in the latest records. Does not: what a record says of its event (`engine.core`).
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from phaseline.engine.core.reading.unread import says_unread
from phaseline.engine.log.event_order import ahead
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.log_records import record_in_log
from phaseline.engine.nats.direct_get import last_sequence
from phaseline.engine.nats.stream_reader import read_all
from phaseline.engine.publish.source_counts import NOT_READ
from phaseline.engine.surfaces.doctor.check_result import CheckResult, warning
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import SECOND, Record, Rejection

LOOKED_AT = 2_000
"""How many messages of LOG are looked at, the latest ones."""
HARMLESS = ("stale", "repeat")
"""The reasons of rejections that say that something newer is known."""
NAMED = 3
"""How many sources, or fields, are named."""


@dataclass(slots=True)
class LatestEvents:
    """What records say of the events of each source.

    unread: how many events had fields that nothing reads. fields: these fields, as far as records list them. clocks: by
    how many seconds its clock was ahead, at most. rejected: how many observations were rejected, though they are
    neither older than what is known nor told before; reasons: why.
    """

    unread: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    clocks: dict[str, float] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record, kinds: Kinds) -> None:
        """Add what one record says."""
        source = record.cause.source
        if isinstance(record, Rejection) and record.reason not in HARMLESS and not _asks(record, kinds):
            self.rejected[source or NOT_READ] += 1
            self.reasons[record.reason] += 1
        if says_unread(record):
            self.unread[source] += 1
            self.fields.update(() if isinstance(record, Rejection) else record.noted.unread)
        if (seconds := ahead(record.cause.time_text, record.time_ns) / SECOND) > 0:
            self.clocks[source] = max(seconds, self.clocks.get(source, 0))

    @property
    def findings(self) -> list[CheckResult]:
        """One finding for each sort of trouble; none where there is none."""
        found = []
        if self.rejected:
            said = _named(f"{source} ({count:,})" for source, count in self.rejected.most_common())
            reasons = ", ".join(reason for reason, _ in self.reasons.most_common(NAMED))
            found.append(warning(
                "rejected", f"observations among the latest events were rejected ({reasons}); by source: {said}",
                "`phaseline rejections` shows them, and `phaseline rejections show` a way out of one",
            ))  # fmt: skip
        if self.unread:
            fields = ", ".join(f"data.{name}" for name, _ in self.fields.most_common(NAMED))
            such = f", such as {fields}" if fields else ""
            said = _named(f"{source} ({count:,})" for source, count in self.unread.most_common())
            found.append(warning(
                "fields", f"the latest events have fields that nothing reads{such}; by source: {said}",
                "look at their names, and at the version of the source (Fields that nothing reads, docs/bad-input.md)",
            ))  # fmt: skip
        if self.clocks:
            clocks = sorted(self.clocks.items(), key=lambda one: -one[1])
            said = _named(f"{source} ({seconds:,.0f} s)" for source, seconds in clocks)
            found.append(warning(
                "clocks", f"clocks of publishers are more than 5 minutes ahead of the server's: {said}",
                "set these clocks; until then the times of such events count for nothing",
            ))  # fmt: skip
        return found


async def events(installation: Installation) -> list[CheckResult]:
    """What is wrong with the latest events by what their records say."""
    wire, log, prefix, said = installation.wire, installation.layout.log, installation.prefix, LatestEvents()
    marks = f"{installation.subjects.marks('*')}.>"
    filters = [f"{prefix}.log.*.transition.>", f"{prefix}.log.*.rejection.>", marks]
    last = await last_sequence(wire, log)
    async for messages in read_all(wire, log, filters, max(1, last - LOOKED_AT + 1)):
        for message in messages:
            if (record := record_in_log(log, message)) is not None:
                said.add(record, installation.kinds)
    return said.findings


def _asks(record: Rejection, kinds: Kinds) -> bool:
    """Whether a rejection answers a request: who asked has been told."""
    return record.kind in kinds and record.trigger in kinds[record.kind].table.intents


def _named(texts: Iterable[str]) -> str:
    found = list(texts)
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    return f"{', '.join(found[:NAMED])}{more}"
