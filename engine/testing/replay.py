"""A recorded log as a test: its events folded again, and the states at its end held against those it expects.

Belongs here: that comparison and its words. Does not: writing such logs (`phaseline export --as-test`), reading them (`filelog`).
"""

from collections.abc import Iterator
from pathlib import Path

from phaseline.engine.core.message import Message
from phaseline.engine.core.tree import evolve
from phaseline.engine.replay.file_log import FileLog
from phaseline.engine.replay.recorded_log import Processors, read
from phaseline.engine.testing.histories import Offered, kinds_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Entity, Rejection, Transition

SHOWN = 20
"""Differences told; the rest is counted."""


class Replayed:
    """What the events of a log led to. `entities`: by kind and id; `transitions`, `rejections`: how many were made."""

    def __init__(self, path: Path, kinds: Kinds) -> None:
        """Fold it; raises `BadLogFile` where the file is none, or not whole."""
        log = FileLog(path)
        processors = Processors(kinds, log)
        self.events = self.transitions = self.rejections = 0
        for record in log.read_initial():
            if not isinstance(record, Rejection):
                evolve(processors.for_entity(record.entity.id).tree, record)
        for step in log.read_steps():
            assert step.event is not None
            self.events += 1
            for record in processors.answer(step.partition, step.event):
                evolve(processors[step.partition].tree, record)
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
        """In words, each entity that is not in the state, or has not the attributes, that the log expects."""
        for key in sorted(self.entities.keys() | self.expected.keys()):
            found, wanted = _shape(self.entities.get(key)), _shape(self.expected.get(key))
            if found != wanted:
                yield f"{key[0]} {key[1]}: expected {wanted}, found {found}"

    def assert_as_expected(self) -> None:
        """Raise `AssertionError` telling the differences; also where the log expects nothing."""
        __tracebackhide__ = True
        if not self.expected:
            raise AssertionError(f"{self.path} expects nothing: write it with `phaseline export --as-test`")
        differences = list(self.differences())
        if differences:
            more = [f"... and {len(differences) - SHOWN} more"] if len(differences) > SHOWN else []
            lines = "\n".join(["", *differences[:SHOWN], *more])
            raise AssertionError(f"{self.path}: {len(differences)} of {len(self.expected)} entities differ{lines}")


def _shape(entity: Entity | None) -> str:
    if entity is None:
        return "unknown"
    states = ", ".join(f"{name} {facet.state}" for name, facet in zip(entity.names, entity.facets, strict=True))
    return f"{states} {dict(entity.attributes)}" if entity.attributes else states


def replay(path: Path | str, kinds: Offered = None) -> Replayed:
    """Fold a log that `phaseline export` wrote through these tables (those installed, where none are named)."""
    return Replayed(Path(path), kinds_of(kinds))
