"""A recorded log as a test: decides its events again and compares the final states with those that the log expects.

Belongs here: that comparison and its texts. Does not: writing such logs (`replay.export_log`), reading them
(`replay.file_log`).
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from phaseline.engine.core.message import Message
from phaseline.engine.core.tree import evolve
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.recorded_log import Processors, erased, read
from phaseline.engine.surfaces.testing.histories import KindsLike, kinds_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Entity, Rejection, Transition, facets_of

MAX_SHOWN = 20
"""The most differences that an error lists. It gives the number of the others."""


class Replayed:
    """The result of a log's events under the given tables.

    path: the file. events, transitions, rejections: numbers. entities: every entity at the end, by kind and id.
    expected: the entities that the log expects, by kind and id.
    """

    def __init__(self, path: Path, kinds: Kinds) -> None:
        """Decide the events of the log; raises `BadLogFile` if the file is not a log, or is damaged."""
        log = FileLog(path)
        processors = Processors(kinds, log)
        self.events = self.transitions = self.rejections = 0
        for record in log.read_initial():
            if not isinstance(record, Rejection):
                evolve(processors.for_entity(record.entity.id).tree, record)
        for step in chain.from_iterable(log.read_steps()):
            if step.event is None:
                for gone in erased(step):
                    evolve(processors[step.partition].tree, gone)
                self.transitions += sum(map(len, processors.moved(step)))
                continue
            self.events += 1
            for record in processors.take(step, step.event, None):
                self.transitions += isinstance(record, Transition)
                self.rejections += isinstance(record, Rejection)
        self.path = path
        self.entities = {(entity.kind, entity.id): entity for entity in processors.entities()}
        self.expected: dict[tuple[str, str], Entity] = {}
        for body in log.expected:
            record = read(Message("expected", body))
            if not isinstance(record, Rejection):
                self.expected[record.entity.kind, record.entity.id] = record.entity

    def differences(self) -> Iterator[str]:
        """One line for each entity whose states or attributes differ from those that the log expects."""
        for key in sorted(self.entities.keys() | self.expected.keys()):
            found, wanted = _text(self.entities.get(key)), _text(self.expected.get(key))
            if found != wanted:
                yield f"{key[0]} {key[1]}: expected {wanted}, found {found}"

    def assert_as_expected(self) -> None:
        """Raise `AssertionError` with the differences if there are any, or if the log expects nothing."""
        __tracebackhide__ = True
        if not self.expected:
            raise AssertionError(f"{self.path} holds no expected states: write it by `phaseline log export --as-test`")
        differences = list(self.differences())
        if differences:
            more = [f"... and {len(differences) - MAX_SHOWN} more"] if len(differences) > MAX_SHOWN else []
            lines = "\n".join(["", *differences[:MAX_SHOWN], *more])
            raise AssertionError(f"{self.path}: {len(differences)} of {len(self.expected)} entities differ{lines}")


def _text(entity: Entity | None) -> str:
    if entity is None:
        return "unknown"
    states = ", ".join(f"{name} {facet.state}" for name, facet in facets_of(entity))
    return f"{states} {dict(entity.attributes)}" if entity.attributes else states


def replay(path: Path | str, kinds: KindsLike = None) -> Replayed:
    """Decide the events of a log file that `phaseline log export` wrote, by these kinds.

    kinds: as for `given`; left out, all installed kinds. Raises `BadLogFile` if the file is not a log, or is damaged.
    """
    return Replayed(Path(path), kinds_of(kinds))
