"""The fleet in memory over random histories: the same as the records say, at the end and at every earlier place.

Belongs here: laws of what `phaseline serve` keeps in memory. Does not: reading the log, requests (`tests/nats`).
"""

from collections import Counter
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.state_view import in_order, is_left_behind, matches
from phaseline.engine.surfaces.http.fleet import columns
from phaseline.engine.surfaces.http.fleet.cascades import Cascades, PlacedMessage
from phaseline.engine.surfaces.http.fleet.fleet import GONE, LEFT, NONE, VIEWED, LiveFleet
from phaseline.engine.surfaces.http.fleet.fleet_moment import FleetMoment
from phaseline.engine.surfaces.http.fleet.history import FleetHistory, HistoryBegin, PastFleet
from phaseline.engine.surfaces.testing.random_events import SEED_LENGTH
from phaseline.machines.compiler.classes.entity_classes import class_of_entity
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import shown_below
from phaseline.machines.language.contact import UNHEARD
from phaseline.machines.language.endings import state_for_people
from phaseline.machines.language.table import OK
from phaseline.schemas.records import SECOND, State, Transition, facets_of
from phaseline.schemas.wire_codec import Numbered
from tests.support import edge_worlds
from tests.support.built_in_kinds import family as kinds_of
from tests.support.strategies import History, histories, hold, law_by_law, random_history

FAMILIES = {"edge hosting": edge_worlds.KINDS, "gitops": kinds_of("gitops")}
family = pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))
Log = list[tuple[int, Transition]]
"""Places and transitions."""


def log_of(history: History) -> Log:
    """The transitions of a history, as the log would hold them: without what nobody waits for."""
    kinds = history.kinds
    records = [record for step in history.steps for record in step.records if isinstance(record, Transition)]
    assert all(record.entity.kind in kinds for record in records)
    return [(10 * number, record) for number, record in enumerate(records, 1)]


def folded(kinds: Kinds, log: Log) -> LiveFleet:
    fleet = LiveFleet(kinds)
    for place, record in log:
        fleet.apply(place, record)
        fleet.stand_at(place, record.time_ns)
    return fleet


def last_of(log: Log) -> dict[tuple[str, str], Transition]:
    return {(record.entity.kind, record.entity.id): record for _, record in log}


def shown(fleet: LiveFleet) -> dict[tuple[str, str], Any]:
    """The states and flags of each entity, from the columns."""
    return {
        (entity.kind, entity.id): (
            [fleet.index.known[column[number]].state for column in fleet.states if column[number] != NONE],
            fleet.flags[number], fleet.since[number],
        )
        for number in fleet.order()
        for entity in (fleet.last[number].entity,)
    }  # fmt: skip


def expected(log: Log) -> dict[tuple[str, str], Any]:
    return {
        key: (
            [state_for_people(facet.state, record.entity.attributes) for _, facet in facets_of(record.entity)],
            VIEWED * any(facet.state != facet.base for facet in record.entity.facets)
            | GONE * (not matches(record.entity, None, deleted=False))
            | LEFT * is_left_behind(record.entity),
            record.entity.facets[0].since_ns // 10**9,
        )
        for key, record in last_of(log).items()
    }


def the_columns_are_what_the_records_say(history: History) -> None:
    log = log_of(history)
    fleet = folded(history.kinds, log)
    assert shown(fleet) == expected(log)
    assert [fleet.last[number] for number in fleet.order()] == in_order([*last_of(log).values()], None, deleted=True)
    for number, record in enumerate(fleet.last):
        if fleet.parents[number] != NONE:
            above = fleet.last[fleet.parents[number]].entity
            assert (above.kind, above.id) in shown_below(history.kinds, record.entity.kind, record.entity.id)
    alive = [one for one in last_of(log).values() if matches(one.entity, None, deleted=False)]
    assert columns.tally(fleet) == columns.tally(fleet, columns.chosen(fleet, None, (), deleted=False))
    assert columns.tally(fleet)["total"] == len(alive)
    classes = Counter(class_of_entity(history.kinds, one.entity) for one in alive)
    assert columns.tally(fleet)["classes"] == classes
    everything = columns.chosen(fleet, None, (), deleted=True)
    classes = Counter(class_of_entity(history.kinds, fleet.last[number].entity) for number in everything)
    assert columns.tally(fleet, everything)["classes"] == classes


def a_record_that_comes_again_changes_nothing(history: History) -> None:
    log = log_of(history)
    fleet = folded(history.kinds, log)
    before = shown(fleet)
    for place, record in log:
        fleet.apply(place, record)
    assert shown(fleet) == before


def a_moment_stays_as_it_was(history: History) -> None:
    log = log_of(history)
    fleet, kept = LiveFleet(history.kinds), []
    installation = cast("Installation", SimpleNamespace(kinds=history.kinds, partition_of=lambda _: 0))
    for at, (place, record) in enumerate(log):
        if at % 11 == 0:
            kept.append((at, FleetMoment(installation, fleet)))
        fleet.apply(place, record)
        fleet.stand_at(place, record.time_ns)
    for at, moment in kept:
        assert moment.select(deleted=True) == in_order([*last_of(log[:at]).values()], None, deleted=True)
        assert moment.select() == in_order([*last_of(log[:at]).values()], None, deleted=False)


def every_earlier_place_is_known(history: History) -> None:
    log = log_of(history)
    fleet = folded(history.kinds, log)
    remembered = remembering(fleet, log, 0)
    for at in range(0, len(log), 9):
        past = PastFleet(fleet, remembered.columns_at(10 * at, len(fleet)), 10 * at)
        assert shown(past) == expected(log[:at])


def a_history_that_begins_later_knows_the_states(history: History) -> None:
    """What it cannot know is since when, and whether a view shows them."""
    log = log_of(history)
    fleet, begins = folded(history.kinds, log), len(log) // 3
    remembered = remembering(fleet, log, begins)
    for at in range(begins, len(log), 9):
        past = PastFleet(fleet, remembered.columns_at(10 * at, len(fleet)), 10 * at)
        assert states_of(shown(past)) == states_of(expected(log[:at]))


def states_of(found: dict[tuple[str, str], Any]) -> dict[tuple[str, str], tuple[list[State], int, int]]:
    """The states, flags, and since when. That nobody waits to hear, or told a signal, may be shown or not."""
    quiet = (UNHEARD, OK)
    return {key: ([state for state in one[0] if state.phase not in quiet], *one[1:]) for key, one in found.items()}


def remembering(fleet: LiveFleet, log: Log, begins: int) -> FleetHistory:
    remembered, base = FleetHistory(10 * begins), HistoryBegin()
    for place, record in log[begins:]:
        base.take(fleet, record)
        remembered.take(fleet, place, record.time_ns, record)
    before = {fleet.number(*key): record for key, record in last_of(log[:begins]).items()}
    remembered.rest_on(base.columns(fleet, {number: before.get(number) for number in base.unknown()}))
    return remembered


@family
@law_by_law(
    the_columns_are_what_the_records_say,
    a_record_that_comes_again_changes_nothing,
    a_moment_stays_as_it_was,
    every_earlier_place_is_known,
    a_history_that_begins_later_knows_the_states,
    effort="dear",
)
def test_laws(law: Any, effort: str, kinds: Kinds) -> None:
    hold(law, histories(kinds), effort)


def test_a_long_history_forgets_its_beginning_and_keeps_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("BLOCK", 8), ("SPACING", 16), ("KEPT", 4)):
        monkeypatch.setattr(f"phaseline.engine.surfaces.http.fleet.history.{name}", value)
    random = Random(1)
    history = random_history(edge_worlds.KINDS, [random.randbytes(SEED_LENGTH) for _ in range(250)])
    log = log_of(history)
    fleet = folded(history.kinds, log)
    remembered = remembering(fleet, log, 0)
    rows = len(remembered)
    for most in (rows * 2 // 3, rows // 3):
        remembered.forget(most, len(fleet))
        assert len(remembered) <= most + 16
        first = remembered.begins // 10
        for at in range(first, len(log), 13):
            past = PastFleet(fleet, remembered.columns_at(10 * at, len(fleet)), 10 * at)
            assert shown(past) == expected(log[:at])
        strip = remembered.strip(log[first][1].time_ns, log[-1][1].time_ns, 7)
        assert sum(map(sum, strip.classes.values())) == len(log) - first


def test_a_folded_strip_has_all_transitions_and_no_long_quiet_time() -> None:
    random = Random(2)
    history = random_history(edge_worlds.KINDS, [random.randbytes(SEED_LENGTH) for _ in range(300)])
    log = log_of(history)
    fleet = folded(history.kinds, log)
    size = len(log)
    bursts = [at // (size // 4 + 1) * 3600 * SECOND + at for at in range(size)]
    halves = [(at if at < size // 2 else at + 2 * size) * SECOND for at in range(size)]
    for times, gaps, buckets in ((bursts, len({*bursts[:: size // 4 + 1]}) - 1, 240), (halves, 1, 270)):
        remembered = FleetHistory(0)
        for (place, record), time_ns in zip(log, times, strict=True):
            remembered.take(fleet, place, time_ns, record)
        strip = remembered.folded(0, times[-1], 800)
        assert sum(map(sum, strip.classes.values())) == size
        assert (len(strip.gaps), abs(len(strip.times) - buckets) < 20) == (gaps, True), len(strip.times)
        assert (strip.times, strip.places) == (sorted(strip.times), sorted(strip.places))
        assert all(strip.times[at] - strip.times[at - 1] > times[-1] // 5 for at in strip.gaps)
    nothing = FleetHistory(0).folded(5, 5, 800)
    assert (nothing.times, nothing.gaps) == ([], [])


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_no_event_is_ever_cut(sizes: list[int], random: Random) -> None:
    """Events are handed on whole and in the order of the log, whatever stands between the parts of large ones."""
    queues = [[(cause, number, size) for number in range(size)] for cause, size in enumerate(sizes, 1)]
    cascades, handed, place = Cascades(), list[tuple[int, int, int]](), 0
    sent: dict[int, tuple[int, int, int]] = {}
    while queues:
        queue = random.choice(queues[:3])
        place += 1
        sent[place] = cause, number, size = queue.pop(0)
        queues = [one for one in queues if one]
        group = cascades.take(PlacedMessage(place, place), Numbered(cause, number, size))
        handed += [sent[one.place] for one in group]
        counted = {one[0]: sum(other[0] == one[0] for other in handed) for one in handed}
        assert all(counted[cause] == size for cause, _, size in handed)
    assert handed == [sent[one] for one in sorted(sent)]
    assert cascades.is_whole


def test_what_nobody_told_yet_does_not_look_like_what_was_told() -> None:
    """Both have the same states; only the second shows those of signals and of contact."""
    kinds, random = edge_worlds.KINDS, Random(7)
    history = log_of(random_history(kinds, [random.randbytes(SEED_LENGTH) for _ in range(20)]))
    record = next(record for _, record in history if len(kinds[record.entity.kind].names) > 2)
    kind = kinds[record.entity.kind]
    untold = replace(record.entity, names=kind.names, facets=(record.entity.facets[0], *kind.unborn[1:]), attributes={})
    told = replace(untold, id=f"{untold.id}0", facets=tuple(replace(one, since_ns=7) for one in untold.facets))
    for entities in ([untold, told], [told, untold]):
        fleet = folded(kinds, [(place, replace(record, entity=one)) for place, one in enumerate(entities, 10)])
        for number, one in enumerate(entities):
            shown = [column[number] for column in fleet.states if column[number] != NONE]
            assert [fleet.index.known[state].state for state in shown] == [facet.state for _, facet in facets_of(one)]
    assert len([*facets_of(untold)]) < len([*facets_of(told)])
