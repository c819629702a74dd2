"""A log written to a file: states at the beginning, events, and their records where they are wanted.

Belongs here: what goes into the file, in which order. Does not: its form (`logformat`), the file (`logwriter`).
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from phaseline.engine.core.message import Message
from phaseline.engine.replay.log_format import EventItem, ExpectedItem, Header, RecordItem, StateItem
from phaseline.engine.replay.log_writer import LogWriter
from phaseline.engine.replay.recorded_log import STEP, RecordedStep, read
from phaseline.engine.replay.server_log import ServerLog, moment_of
from phaseline.schemas.records import Rejection, Transition
from phaseline.schemas.version import __version__


async def export(
    source: ServerLog, path: Path, *, records: bool, expect: bool, progress: Callable[[int], None] | None = None
) -> dict[str, int]:
    """Write what `source` holds to `path`; how many of what was written.

    records: with what the events made. expect: with the states at the end, so that the file is a test.
    progress: called with the number of events written since the last call.
    """
    export = _Export(source, records=records, expect=expect)
    header = await export.header()
    with LogWriter(path, header) as log:
        await export.begin(log)
        async for step in source.steps():
            export.put(log, step)
            if progress is not None and log.counts["event"] % STEP == 0:
                progress(STEP)
        export.finish(log)
    return dict(log.counts)


class _Export:
    def __init__(self, source: ServerLog, *, records: bool, expect: bool) -> None:
        self.source, self.records, self.expect = source, records, expect
        self.last: dict[tuple[str, str], bytes] = {}
        """The last record of each entity; at the end only where it is asked what is expected."""

    async def header(self) -> Header:
        source = self.source
        return Header(
            written_by=f"phaseline {__version__}", prefix=source.prefix, partitions=source.partitions,
            tree=source.span.root, first=source.begins, last=source.ends,
            since=await moment_of(source, source.begins), until=await moment_of(source, source.ends), records=self.records,
            eras={str(partition): [msgspec.to_builtins(era) for era in found] for partition, found in source.eras.items()},
        )  # fmt: skip

    async def begin(self, log: LogWriter) -> None:
        """The states before the first event, of all that there is then."""
        states: dict[tuple[str, str], bytes] = {}
        async for message in self.source.initial_messages():
            record = read(message)
            if not isinstance(record, Rejection):
                states[record.entity.kind, record.entity.id] = message.body
        for body in states.values():
            log.write(StateItem(body))
        if self.expect:
            self.last = states

    def put(self, log: LogWriter, step: RecordedStep) -> None:
        """An event, and what it made."""
        if step.event is not None:
            event = step.event
            branch, _, address = event.subject[len(self.source.prefix) + 1 :].split(".", 2)
            log.write(EventItem(event.sequence, event.time_ns, address, event.data, timer=branch == "due"))
        for message in step.messages:
            if self.records:
                log.write(RecordItem(self._place(message), message.body))
            if self.expect:
                record = read(message)
                if isinstance(record, Transition):
                    self.last[record.entity.kind, record.entity.id] = message.body

    def _place(self, message: Message) -> str:
        """The subject without branch and partition: `transition. ...`, `rejection. ...`; marks as if `mark` were a kind."""
        return message.subject[len(self.source.prefix) + 1 :].split(".", 2)[2]

    def finish(self, log: LogWriter) -> None:
        """What a test expects."""
        for body in self.last.values() if self.expect else ():
            log.write(ExpectedItem(body))
