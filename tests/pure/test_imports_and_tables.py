"""Imports of a log: their clock and the states at their beginning; and the tables that a what-if names."""

from datetime import UTC, datetime

import pytest

from phaseline.engine.replay.import_log import Clock, ImportResult, Player
from phaseline.engine.replay.load_tables import load_kinds
from phaseline.engine.replay.log_format import Header
from phaseline.engine.surfaces.testing.histories import event, play
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.subjects import Subjects
from tests.support import sample_kinds
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.changed_tables import DEGRADED
from tests.support.raising import raises


def test_times_are_shifted_and_scaled() -> None:
    second = 1_000_000_000
    start = int(datetime(2026, 3, 1, 8, tzinfo=UTC).timestamp()) * second
    header, now = (
        Header(prefix="pl", partitions=1, since=start, until=start + 3600 * second),
        datetime(2026, 5, 1, tzinfo=UTC),
    )
    fast = Clock(header, 10.0, shift=True, now=now)
    assert fast.after(start + 60 * second) == 6.0
    assert fast.moved("2026-03-01T08:10:00Z") == "2026-05-01T00:01:00+00:00"
    at_once = Clock(header, None, shift=True, now=now)
    assert at_once.after(start + 60 * second) == 0.0
    assert at_once.moved("2026-03-01T09:00:00Z") == now.isoformat()
    assert Clock(header, 1.0, shift=False, now=now).moved("2026-03-01T09:00:00Z") == "2026-03-01T09:00:00Z"


def test_what_cannot_be_adopted_whole_is_counted() -> None:
    history = play(
        sample_kinds.KINDS,
        [event("orchard", "plant", "o"), event("orchard", "winter", "o"), event("row", "plant", "o/r")],
    )
    states = [entity for found in history.tree.entities.values() for entity in found.values()]
    header = Header(prefix="pl", partitions=1)
    done = ImportResult()
    player = Player(
        Subjects("to"), sample_kinds.KINDS, header, Clock(header, None, shift=False, now=datetime.now(UTC)), done
    )
    sent = {message.subject: codec.decode(message.body)["data"] for message in player.adopt_events(states)}
    assert sent["to.events.o.orchard.adopt"]["phase"] == "Resting"
    assert (done.states, +done.partly, done.left_out) == (len(states), {"orchard": 1}, {})
    without = Player(Subjects("to"), KINDS, header, player.clock, ImportResult())
    assert without.adopt_events(states) == []
    assert without.done.left_out.total() == len(states)


# ---- what if


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("nope", "write it as package.module:NAME"),
        ("no_such_module_here:X", "cannot be loaded: ModuleNotFoundError"),
        ("phaseline.machines.kinds.edge_hosting.component:NOPE", "the module has no NOPE"),
        (
            "phaseline.machines.kinds.edge_hosting.component:RUNNING",
            "RUNNING must be a Table, a list of tables or a Kinds, found str",
        ),
        ("nowhere/at/all.py:X", "cannot be loaded: FileNotFoundError"),
    ],
)
def test_tables_that_cannot_be_found(where: str, said: str) -> None:
    with raises(InvalidInput.bad_tables, match=said):
        load_kinds(where, installed())


def test_tables_take_the_place_of_installed_ones() -> None:
    assert list(load_kinds("phaseline.machines.kinds.edge_hosting.component:COMPONENT", installed())) == list(
        load_kinds("installed", installed())
    )
    assert "Degraded" in DEGRADED["component"].machines[0].phases
    assert "Degraded" not in KINDS["component"].machines[0].phases


# ---- the commands
