"""The contact of a place: when it is heard, when it falls silent, and that nothing else changes."""

import pytest

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree, evolve
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import ABSENT, LIVE, Facet, Field, Label, Row, Table
from phaseline.schemas import wire_codec
from phaseline.schemas.records import Mark, Record, Rejection, Transition
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.contacts import Contacts

AFTER = 100.0
"""The seconds of `silence_after` in these tests."""
PLACES = {
    "cluster": "c1",
    "app_cluster": "r/x/app/edge",
    "bundle_deployment": "repo/web/east",
    "application": "set/shop",
}


UNWATCHED = [kind for kind in PLACES if not BUILT_IN_KINDS[kind].table.silence_after]
"""Places that nobody waits for by default."""


def watched(kind: str = "cluster") -> Contacts:
    """A place that waits for its reporter, created at the second 1000."""
    return place(kind, AFTER).beat(kind, PLACES[kind])


def place(kind: str, default: float = 0.0) -> Contacts:
    """An unknown place. Below an unknown context of EMCO nothing is adopted, whatever is reported."""
    found = Contacts(default=default)
    if kind == "app_cluster":
        found.say("emco_resource", "create", "r").say("app_context", "create", "r/x")
    return found


def contacts(records: list[Record]) -> list[str]:
    return [f"{r.before} -> {r.after}" for r in records if isinstance(r, Transition) and r.facet == "contact"]


@pytest.mark.parametrize("kind", UNWATCHED)
def test_a_heartbeat_adopts_an_unknown_place_and_its_parents(kind: str) -> None:
    found = place(kind).beat(kind, PLACES[kind])
    entity = found.entity(kind, PLACES[kind])
    assert [facet.base for facet in entity.facets[:-1]] == [*BUILT_IN_KINDS[kind].adopted[:-1]]
    assert found.entity(kind, PLACES[kind]).facets[-1].state.phase == "Unheard"
    assert (entity.attributes, entity.timers_ns) == ({}, {})


@pytest.mark.parametrize("kind", UNWATCHED)
def test_without_silence_after_a_heartbeat_of_a_known_place_leaves_no_record(kind: str) -> None:
    found = place(kind).beat(kind, PLACES[kind])
    assert found.later(1_000).beat(kind, PLACES[kind]).records == []
    assert "contact" not in found.stored(kind, PLACES[kind])


@pytest.mark.parametrize("kind", PLACES)
def test_it_falls_silent_between_once_and_one_and_a_quarter_times_silence_after(kind: str) -> None:
    found = watched(kind)
    assert found.contact(kind, PLACES[kind]) == "Fresh"
    for pause in (1, 20, 24.999, 25, 3, 60, 99):
        found.later(pause).beat(kind, PLACES[kind])
        silence = (found.next_silence(kind, PLACES[kind]) or 0) - found.now
        assert AFTER <= silence <= 1.25 * AFTER
    assert contacts(found.wait(1.25 * AFTER + 1).records) == ["Fresh -> Silent"]
    assert contacts(found.later(500).beat(kind, PLACES[kind]).records) == ["Silent -> Fresh"]


def test_hearing_is_recorded_four_times_per_silence_after_at_most() -> None:
    found, marks = watched(), 0
    for _ in range(1_000):
        records = found.later(1).beat("cluster", "c1").records
        assert all(isinstance(record, Mark) for record in records)
        marks += len(records)
    assert marks == 1_000 / (AFTER / 4)
    assert found.entity("cluster", "c1").version == 2


def test_a_place_that_speaks_all_the_time_never_falls_silent() -> None:
    found = watched()
    for _ in range(100):
        found.wait(AFTER)
        found.beat("cluster", "c1")
    assert found.contact("cluster", "c1") == "Fresh"


def test_an_observation_below_counts_whatever_it_says() -> None:
    found = watched().say("node", "adopt", "c1/p/n1", phase="Running").wait(AFTER)
    for trigger in ("not_ready", "not_ready", "ready", "ready"):  # each second one is redundant
        found.wait(AFTER).say("node", trigger, "c1/p/n1")
        assert found.contact("cluster", "c1") == "Fresh"
    assert contacts(found.wait(1.25 * AFTER).records) == ["Fresh -> Silent"]


@pytest.mark.parametrize(
    ("kind", "trigger", "entity_id"),
    [
        ("node", "delete", "c1/p/n1"),  # an intent: anybody may ask
        ("node", "cleanup_failed", "c1/p/n1"),  # rejected
        ("cluster", "renewed", "c1"),  # rejected
    ],
)
def test_what_shows_no_life(kind: str, trigger: str, entity_id: str) -> None:
    found = watched().say("node", "adopt", "c1/p/n1", phase="Running").wait(1.25 * AFTER + 1)
    assert found.contact("cluster", "c1") == "Silent"
    found.say(kind, trigger, entity_id)
    assert found.contact("cluster", "c1") == "Silent"
    assert sum(isinstance(record, Rejection) for record in found.records) in (0, len(found.records))


def test_a_repeat_shows_no_life() -> None:
    found = watched().say("cluster", "error", "c1", sequence=7).wait(1.25 * AFTER + 1)
    assert found.contact("cluster", "c1") == "Silent"
    assert found.say("cluster", "error", "c1", sequence=7).records == []
    assert found.contact("cluster", "c1") == "Silent"


@pytest.mark.parametrize("clock", ["1970-01-01T00:00:00Z", "2126-01-01T00:00:00Z", None])
def test_the_publishers_clock_has_no_influence(clock: str | None) -> None:
    found = watched()
    found.later(30).say("cluster", "heartbeat", "c1", at=clock)
    assert found.next_silence("cluster", "c1") == found.now + 1.25 * AFTER
    assert found.entity("cluster", "c1").attributes["heard_at"] == found.now * 10**9


def test_silence_changes_no_other_state() -> None:
    found = watched().say("node", "adopt", "c1/p/n1", phase="Running")
    before = found.states(but="contact")
    found.wait(10 * AFTER)
    assert (found.contact("cluster", "c1"), found.states(but="contact")) == ("Silent", before)


def test_the_record_of_silence_says_since_when() -> None:
    [record] = watched().wait(2 * AFTER).records
    assert isinstance(record, Transition)
    assert (record.message, record.trigger) == (
        "nothing was heard since 1970-01-01T00:16:40.000000000Z",
        "falls_silent",
    )


def test_configure_sets_it_and_ends_it() -> None:
    found = (
        Contacts().say("cluster", "adopt", "c1", phase="Running").say("cluster", "configure", "c1", silence_after=10)
    )
    assert found.contact("cluster", "c1") == "Unheard"
    assert found.stored("cluster", "c1")["contact"]["state"] == "Unheard"
    found.later(1).beat("cluster", "c1")
    assert found.next_silence("cluster", "c1") == found.now + 12.5
    found.later(1).say("cluster", "configure", "c1", silence_after=100)
    assert found.next_silence("cluster", "c1") == found.now + 125
    found.later(1).say("cluster", "configure", "c1", silence_after=0)
    assert contacts(found.records) == ["Fresh -> Unheard"]
    assert found.next_silence("cluster", "c1") is None
    assert "heard_at" not in found.entity("cluster", "c1").attributes


@pytest.mark.parametrize("wrong", [-1, -0.5, float("nan"), "10", True])
def test_wrong_seconds_are_rejected(wrong: object) -> None:
    found = watched().say("cluster", "configure", "c1", silence_after=wrong)
    [record] = found.records
    assert isinstance(record, Rejection)
    assert record.reason in ("invalid", "undecodable")


@pytest.mark.parametrize("seconds", [float("inf"), 1e300, 1e-9])
def test_extreme_seconds_are_no_fault(seconds: float) -> None:
    found = watched().say("cluster", "configure", "c1", silence_after=seconds)
    assert not any(isinstance(record, Rejection) for record in found.later(1).beat("cluster", "c1").records)


def test_an_own_value_counts_before_that_of_the_installation() -> None:
    found = watched().say("cluster", "configure", "c1", silence_after=0)
    assert found.later(AFTER).beat("cluster", "c1").records == []
    assert found.contact("cluster", "c1") == "Unheard"


def test_a_timer_of_a_former_value_of_the_installation_ends_the_contact() -> None:
    found = watched()
    found.tree.silence_after = 0.0
    assert contacts(found.wait(2 * AFTER).records) == ["Fresh -> Unheard"]


def test_the_contact_ends_with_the_place() -> None:
    found = watched().say("cluster", "delete", "c1").say("cluster", "deleted", "c1")
    assert contacts(found.records) == ["Fresh -> Unheard"]
    assert found.next_silence("cluster", "c1") is None
    [rejection] = found.later(1).beat("cluster", "c1").records
    assert isinstance(rejection, Rejection)
    assert found.say("cluster", "create", "c1").contact("cluster", "c1") == "Unheard"


def test_a_heartbeat_with_a_sequence_makes_one_record() -> None:
    found = watched()
    [record] = found.later(50).say("cluster", "heartbeat", "c1", sequence=3).records
    assert isinstance(record, Mark)
    assert (record.entity.sequences, record.entity.attributes["heard_at"]) == ({"/t": 3}, int(found.now) * 10**9)
    [record] = found.later(1).say("cluster", "heartbeat", "c1", sequence=4).records
    assert isinstance(record, Mark)
    assert record.entity.sequences == {"/t": 4}


def test_a_transition_of_the_place_itself_carries_the_hearing() -> None:
    found = watched()
    [record] = found.later(50).say("cluster", "error", "c1").records
    assert isinstance(record, Transition)
    assert record.entity.attributes["heard_at"] == int(found.now) * 10**9
    assert found.next_silence("cluster", "c1") == found.now + 1.25 * AFTER


def test_an_application_cluster_that_is_silent_cannot_be_reached() -> None:
    place = PLACES["app_cluster"]
    found = watched("app_cluster").say("app_cluster", "connected", place).wait(2 * AFTER)
    assert found.state("app_cluster", place) == "Unreachable"
    found.say("app_cluster", "heartbeat", place)
    assert found.state("app_cluster", place) == "Available"


def test_a_silent_deployment_of_fleet_waits_for_its_agent() -> None:
    deployment = PLACES["bundle_deployment"]
    found = watched("bundle_deployment").say("bundle_deployment", "applied", deployment, deployment_id="d")
    found.say("bundle_deployment", "observed", deployment, target="d", ready=True)
    assert found.state("bundle_deployment", deployment) == "Ready"
    found.wait(2 * AFTER)
    assert found.state("bundle_deployment", deployment) == "WaitCheckIn"
    assert [record.message for record in found.records if isinstance(record, Transition)][:2] == [
        "nothing was heard since 1970-01-01T00:16:40.000000000Z"
    ] * 2
    assert found.say("bundle_deployment", "heartbeat", deployment).state("bundle_deployment", deployment) == "Ready"


def test_a_report_that_goes_on_to_later_contexts_counts_there_too() -> None:
    found = Contacts(default=AFTER).say("emco_resource", "create", "r").say("emco_resource", "approve", "r")
    found.say("app_context", "create", "r/x").say("emco_resource", "instantiate", "r", context="x")
    found.say("app_cluster", "connected", "r/x/app/edge").say("app_context", "create", "r/y")
    found.say("emco_resource", "update", "r", context="y").say("app_cluster", "connected", "r/y/app/edge")
    found.wait(2 * AFTER)
    assert found.contact("app_cluster", "r/y/app/edge") == "Silent"
    found.say("app_cluster", "bundle_state", "r/x/app/edge", status={})
    assert found.contact("app_cluster", "r/y/app/edge") == "Fresh"


def test_records_from_before_a_kind_was_a_place_are_read() -> None:
    found = Contacts().say("cluster", "adopt", "c1", phase="Running")
    [record] = found.records
    assert isinstance(record, Transition)
    body = wire_codec.write(record, 0, 1, "phaseline/pl")
    tree = Tree(BUILT_IN_KINDS, NoScripts())
    evolve(tree, wire_codec.read(body))
    assert tree.entities == found.tree.entities
    assert Processor(tree, Subjects("pl"), 0).tree.entities["cluster"]["c1"].names == ("phase", "signals", "contact")


# ---- a kind of one's own

GATE = Table(
    kind="gate",
    id=("gate",),
    intents=(),
    place=True,
    attributes=(Field("width", int, "how wide it is"),),
    facets=(
        Facet(
            name="phase",
            labels=(Label("Running", "Ok", "Open"), Label("Shut", None, "Shut", state_class="excused")),
            rows=(
                Row((ABSENT, LIVE), "opened", "Running", assigns=True),
                Row((LIVE,), "shut", "Shut"),
            ),
        ),
    ),
)


def test_a_kind_of_ones_own_is_a_place() -> None:
    found = Contacts(Kinds((GATE,), products=PRODUCTS)).say("gate", "opened", "g", width=3, silence_after=1, heard_at=1)
    assert found.entity("gate", "g").attributes == {"width": 3}
    found.say("gate", "configure", "g", silence_after=1).say("gate", "shut", "g")
    assert found.contact("gate", "g") == "Fresh"
    assert contacts(found.wait(1.25).records) == ["Fresh -> Silent"]


def test_what_a_place_has_anyway_cannot_be_named_again() -> None:
    other = Facet(name="contact", labels=GATE.facets[0].labels, rows=GATE.facets[0].rows)
    table = Table(
        kind="gate", id=("gate",), intents=(), place=True, facets=(other,), attributes=(Field("heard_at", int, "?"),)
    )
    with pytest.raises(WrongTable) as wrong:
        Kinds((table,), products=PRODUCTS)
    assert wrong.value.problems == [
        "place=True brings the facet contact: rename yours",
        "place=True brings the attribute heard_at: rename yours",
    ]
