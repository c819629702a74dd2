"""The results of replays, for people and for programs.

Belongs here: tables, lines and JSON of audits, what-ifs and rebuilt states. Does not: the replay
(`phaseline.engine.replay`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

import msgspec

from phaseline.engine.log.foreign import Foreign
from phaseline.engine.replay.audit import AuditReport, Divergence
from phaseline.engine.replay.recorded_log import Rebuilt
from phaseline.engine.replay.whatif import FinalDifference, Occurrences, RejectionSort, TransitionSort, WhatIfReport
from phaseline.engine.surfaces.cli import render, terminal
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.render import counted
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.client import maps
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Loss, State, timestamp

SHOWN = 50
"""The largest number of rows of a table for people. JSON has all."""


def show_start(begins: int, undecided: int) -> None:
    """Print where the replay began, and what it left out."""
    if begins > 1:
        terminal.say(f"the replay begins at event {begins}; earlier states are taken from the log")
    if undecided:
        terminal.say(f"{counted(undecided, 'event')} left out: not decided yet")


def show_foreign(messages: Sequence[Foreign]) -> None:
    """Print the messages that no worker wrote."""
    for one in messages[:SHOWN]:
        terminal.say(f"foreign: {one.subject}, number {one.sequence} of {one.stream}: {one.size} bytes of no worker")
    if len(messages) > SHOWN:
        terminal.say(f"{counted(len(messages) - SHOWN, 'more foreign message')}; --json shows all")


def in_short(numbers: Sequence[int]) -> str:
    """Numbers that rise, in words: `0 to 12, 15, 17 to 31`."""
    spans = list[list[int]]()
    for one in numbers:
        if spans and one == spans[-1][-1] + 1:
            spans[-1][1:] = [one]
        else:
            spans.append([one])
    return ", ".join(" to ".join(map(str, span)) for span in spans)


def show_missing(report: AuditReport) -> None:
    """Print what is missing, in EVENTS, STATE and LOG."""
    alike: dict[str, list[int]] = {}
    for loss in report.losses:
        where = f" between the positions {loss.first} and {loss.last}" if loss.what == "events" else ""
        noted = f"noted by {loss.worker} at {timestamp(loss.time_ns)}" if loss.time_ns else "not noted by a worker yet"
        what = {
            "events": "events that were never decided",
            "states": "entities",
            "log": "records",
            "restored": "records after a backup",
        }[loss.what]
        alike.setdefault(f"{loss.count} {what}{where}, {noted}", []).append(loss.partition)
    for said, partitions in list(alike.items())[:SHOWN]:
        many = len(partitions) > 1
        terminal.say(
            f"lost: in {'each of the partitions' if many else 'partition'} {in_short(sorted(partitions))}, {said}"
        )
    for partition in report.emptied:
        terminal.say(f"the log of partition {partition} was emptied: STATE has copied a checkpoint that it lacks")
    if report.without_state:
        terminal.say(f"STATE lacks {counted(report.without_state, 'entity', 'entities')} of the log")


def show_audit(report: AuditReport, *, output: Output) -> None:
    """Print the result of an audit, and the first difference of each entity."""
    differences = list(report.divergences.values())
    if output.is_data:
        divergences = [difference._asdict() for difference in differences]
        output.show(
            {
                **asdict(report), "holds": report.holds, "divergences": divergences,
                "foreign": [found._asdict() for found in report.foreign],
                "losses": [_loss_map(loss) for loss in report.losses],
            }
        )  # fmt: skip
        return
    output.table(DIVERGENCES, differences)
    output.flush()
    show_start(report.begins, report.undecided)
    if report.by_others:
        made = (counted(count, f"record of {one}", f"records of {one}") for one, count in sorted(report.older.items()))
        of_kinds = f" ({', '.join(made)})" if report.older else ""
        terminal.say(f"{counted(report.by_others, 'event')} decided by older rules{of_kinds}, not compared")
    if report.erased or report.purged:
        terminal.say(
            f"erased events: {report.erased:,} with a raw Secret, {report.purged:,} purged; their records are taken "
            "from the log"
        )
    show_missing(report)
    show_foreign(report.foreign)
    if report.reworded:
        terminal.say(f"{counted(report.reworded, 'record')} with another wording only, which does not count")
    entities = counted(report.entities, "entity", "entities")
    sums = f"{counted(report.events, 'event')}, {counted(report.records, 'record')}, {entities}"
    differing = counted(len(differences), "entity differs", "entities differ")
    equal = "the log equals the replay" if report.holds else "the log or STATE is incomplete"
    result = differing if differences else equal
    output.line(Text(f"{sums}: {result}", "green" if report.holds else "red"))
    output.flush()


DIVERGENCES: Final[tuple[Column[Divergence], ...]] = (
    Column("KIND", lambda one: Text(one.kind), worth=60),
    Column("ID", lambda one: Text(one.id)),
    Column("EVENT", lambda one: Text(str(one.sequence))),
    Column("REPLAY", lambda one: Text(one.expected or "nothing"), wraps=True),
    Column("LOG", lambda one: Text(one.found or "nothing"), wraps=True),
)


def _loss_map(loss: Loss) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.structs.asdict(loss)
    del found["time_ns"]
    return {**found, "time": timestamp(loss.time_ns)}


def show_difference(found: WhatIfReport, kinds: Kinds, *, output: Output) -> None:
    """Print what would differ with other tables."""
    if output.is_data:
        output.show(_difference_map(found))
        return
    if found.gained or found.lost:
        output.table(MOVES, _moves(found, kinds))
        output.line()
    if found.rejections_gained or found.rejections_lost:
        output.table(REFUSALS, _refusals(found))
        output.line()
    if found.final:
        output.table(ENDS, (EndRow(kinds, one) for one in found.final[:SHOWN]))
        if len(found.final) > SHOWN:
            output.line(f"... and {len(found.final) - SHOWN:,} more; --json shows all")
        output.line()
    output.flush()
    show_start(found.begins, found.undecided)
    sums = f"{counted(found.events, 'event')}, {counted(found.entities, 'entity', 'entities')}"
    output.line(Text(f"{sums}: {_sum(found)}", "green" if found.none else "yellow"))
    output.flush()


def _sum(found: WhatIfReport) -> str:
    if found.none:
        return "no differences"
    parts = (
        (len(found.final), "entity would end in another state", "entities would end in another state"),
        (_total(found.gained), "transition gained", "transitions gained"),
        (_total(found.lost), "transition lost", "transitions lost"),
        (_total(found.rejections_gained), "rejection gained", "rejections gained"),
        (_total(found.rejections_lost), "rejection lost", "rejections lost"),
    )
    return ", ".join(counted(number, one, more) for number, one, more in parts if number)


def _total(sorts: Mapping[Any, Occurrences]) -> int:
    return sum(seen.count for seen in sorts.values())


class MoveRow(NamedTuple):
    """Transitions of one sort that are gained or lost."""

    kinds: Kinds
    change: str
    move: TransitionSort
    seen: Occurrences

    def state(self, found: State | None) -> Text:
        """A state of their facet."""
        return Text("new") if found is None else render.state(self.kinds, self.move.kind, self.move.facet, found)


def _moves(found: WhatIfReport, kinds: Kinds) -> Iterator[MoveRow]:
    for change, sorts in (("gained", found.gained), ("lost", found.lost)):
        for move, seen in sorted(sorts.items(), key=lambda pair: -pair[1].count):
            yield MoveRow(kinds, change, move, seen)


def _kind(row: MoveRow) -> Text:
    kind = row.kinds.get(row.move.kind)
    facet = f" {row.move.facet}" if kind is not None and kind.is_named(row.move.facet) else ""
    return Text(f"{row.move.kind}{facet}")


def _events(seen: Occurrences) -> Text:
    numbers = ", ".join(map(str, seen.events))
    return Text(f"{numbers}, ..." if seen.count > len(seen.events) else numbers, "bright_black")


MOVES: Final[tuple[Column[MoveRow], ...]] = (
    Column("TRANSITIONS", lambda row: Text(row.change, "green" if row.change == "gained" else "red")),
    Column("COUNT", lambda row: Text(f"{row.seen.count:,}")),
    Column("KIND", _kind),
    Column("FROM", lambda row: row.state(row.move.before), wraps=True),
    Column("TO", lambda row: row.state(row.move.after), wraps=True),
    Column("TRIGGER", lambda row: Text(row.move.trigger), worth=70),
    Column("EVENTS", lambda row: _events(row.seen), worth=50, wraps=True),
)


class RefusalRow(NamedTuple):
    """Rejections of one sort that are gained or lost."""

    change: str
    refusal: RejectionSort
    seen: Occurrences


def _refusals(found: WhatIfReport) -> Iterator[RefusalRow]:
    for change, sorts in (("gained", found.rejections_gained), ("lost", found.rejections_lost)):
        for refusal, seen in sorted(sorts.items(), key=lambda pair: -pair[1].count):
            yield RefusalRow(change, refusal, seen)


REFUSALS: Final[tuple[Column[RefusalRow], ...]] = (
    Column("REJECTIONS", lambda row: Text(row.change, "red" if row.change == "gained" else "green")),
    Column("COUNT", lambda row: Text(f"{row.seen.count:,}")),
    Column("KIND", lambda row: Text(row.refusal.kind)),
    Column("TRIGGER", lambda row: Text(row.refusal.trigger)),
    Column("REASON", lambda row: Text(row.refusal.reason)),
    Column("EVENTS", lambda row: _events(row.seen), worth=50, wraps=True),
)


class EndRow(NamedTuple):
    """An entity that would end in another state."""

    kinds: Kinds
    found: FinalDifference

    def states(self, states: Mapping[str, State] | None) -> Text:
        """Its states."""
        if states is None:
            return Text("unknown", "bright_black")
        return render.named_states(self.kinds, self.found.kind, states.items())


ENDS: Final[tuple[Column[EndRow], ...]] = (
    Column("KIND", lambda row: Text(row.found.kind), worth=60),
    Column("ID", lambda row: Text(row.found.id)),
    Column("ENDED", lambda row: row.states(row.found.was), wraps=True),
    Column("WOULD END", lambda row: row.states(row.found.would), wraps=True),
)


def _difference_map(found: WhatIfReport) -> dict[str, Any]:
    return {
        "begins": found.begins,
        "events": found.events,
        "entities": found.entities,
        "undecided": found.undecided,
        "differs": not found.none,
        "gained": [_move_map(*pair) for pair in found.gained.items()],
        "lost": [_move_map(*pair) for pair in found.lost.items()],
        "rejections_gained": [_refusal_map(*pair) for pair in found.rejections_gained.items()],
        "rejections_lost": [_refusal_map(*pair) for pair in found.rejections_lost.items()],
        "final": [{"kind": f.kind, "id": f.id, "was": _wire(f.was), "would": _wire(f.would)} for f in found.final],
    }


def _move_map(move: TransitionSort, seen: Occurrences) -> dict[str, Any]:
    before = None if move.before is None else wire_codec.state_map(move.before)
    return {
        "kind": move.kind, "facet": move.facet, "from": before, "to": wire_codec.state_map(move.after),
        "trigger": move.trigger, "count": seen.count, "events": seen.events,
    }  # fmt: skip


def _refusal_map(refusal: RejectionSort, seen: Occurrences) -> dict[str, Any]:
    return {**refusal._asdict(), "count": seen.count, "events": seen.events}


def _wire(states: Mapping[str, State] | None) -> dict[str, Any] | None:
    return None if states is None else {name: wire_codec.state_map(state) for name, state in states.items()}


def show_states(found: Rebuilt, kinds: Kinds, begins: int, *, output: Output) -> None:
    """Print the states that were rebuilt: each entity for programs, counts for people."""
    if output.is_data:
        for entity in found.listed:
            output.show(maps.entity_map(kinds, entity))
        return
    counts = sorted(found.counts.items(), key=lambda one: (*one[0][:2], -one[1], str(one[0][2])))
    output.table(STATES, (StateRow(kinds, *key, count) for key, count in counts))
    output.flush()
    show_start(begins, found.undecided)
    output.line(f"{counted(found.events, 'event')}, {counted(found.entities, 'entity', 'entities')}")
    output.flush()


class StateRow(NamedTuple):
    """How many entities of a kind are in a state."""

    kinds: Kinds
    kind: str
    facet: str
    state: State
    entities: int


STATES: Final[tuple[Column[StateRow], ...]] = (
    Column("KIND", lambda row: Text(row.kind)),
    Column("FACET", lambda row: Text(row.facet)),
    Column("STATE", lambda row: render.state(row.kinds, row.kind, row.facet, row.state), wraps=True),
    Column("COUNT", lambda row: Text(f"{row.entities:,}")),
)
