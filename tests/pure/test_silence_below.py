"""Contact of each kind with observations: a silent node is seen while its cluster speaks; an outage is no silence.

Belongs here: what the core decides. Does not: places (`test_contact`), a server (`test_silence`), what is shown
(`test_stale_answers`).
"""

import pytest

from phaseline.machines.language.contact import DERIVED, HEARD_AT
from phaseline.schemas.records import SECOND, Mark, Record, Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.contacts import Contacts

AFTER = 100.0
N1, N2 = "c1/shops/n1", "c1/shops/n2"
HEARD = [kind.name for kind in BUILT_IN_KINDS.values() if kind.contact is not None]


def shops(**below: object) -> Contacts:
    """Two nodes with their own uplinks in one cluster, which says how long they may be silent."""
    found = Contacts().say("cluster", "adopt", "c1", phase="Running")
    found.say("cluster", "configure", "c1", silence_below=below or {"node": AFTER})
    return found.say("node", "adopt", N1, phase="Running").say("node", "adopt", N2, phase="Running")


def contacts(records: list[Record]) -> list[str]:
    return [
        f"{one.entity.id}: {one.before} -> {one.after}"
        for one in records
        if isinstance(one, Transition) and one.facet == "contact"
    ]


def test_each_kind_with_observations_can_be_waited_for() -> None:
    observed = {kind.name for kind in BUILT_IN_KINDS.values() if "observation" in kind.roles.values()}
    assert {*HEARD} == observed == {*BUILT_IN_KINDS}
    for name in HEARD:
        kind = BUILT_IN_KINDS[name]
        assert kind.roles["heartbeat"] == "observation"
        assert {kind.roles[trigger] for trigger in DERIVED} == {"derived"}


def test_a_silent_node_is_seen_although_its_cluster_speaks() -> None:
    found = shops()
    for _ in range(6):
        found.wait(25).say("node", "heartbeat", N1)
    assert [found.contact("node", one) for one in (N1, N2)] == ["Fresh", "Silent"]
    assert found.entity("node", N2).attributes[HEARD_AT] == 1_000 * SECOND
    assert contacts(found.beat("node", N2).records) == [f"{N2}: Silent -> Fresh"]


def test_the_installations_time_reaches_places_only() -> None:
    found = Contacts(default=AFTER).say("node", "adopt", N1, phase="Running")
    assert found.contact("cluster", "c1") == "Fresh"
    assert found.stored("node", N1).keys() == {"phase"}
    assert contacts(found.wait(2 * AFTER).records) == ["c1: Fresh -> Silent"]


@pytest.mark.parametrize(("kind", "entity_id"), [("node", N1), ("node_pool", "c1/shops"), ("component", "c1/dns")])
def test_an_own_time_reaches_the_entity_alone(kind: str, entity_id: str) -> None:
    found = Contacts().say(kind, "adopt", entity_id, phase="Running").say(kind, "configure", entity_id, silence_after=8)
    assert found.contact(kind, entity_id) == "Unheard"
    found.later(1).beat(kind, entity_id)
    assert found.next_silence(kind, entity_id) == found.now + 10
    assert contacts(found.wait(10).records) == [f"{entity_id}: Fresh -> Silent"]


def test_what_has_no_other_timer_is_waited_for_too() -> None:
    name, of_kind = "infra/web/east", BUILT_IN_KINDS["bundle_deployment"].table.silence_after
    found = Contacts().say("bundle_deployment", "target", name, deployment_id="d")  # its kind has a time of its own
    assert contacts(found.records) == [f"{name}: Unheard -> Fresh"]
    assert found.next_silence("bundle_deployment", name) == found.now + 1.25 * of_kind
    found.say("bundle_deployment", "configure", name, silence_after=8)
    assert contacts(found.records) == []
    assert found.next_silence("bundle_deployment", name) == found.now + 10
    assert contacts(found.wait(10).records) == [f"{name}: Fresh -> Silent"]
    found.say("bundle", "configure", "infra/web", silence_below={"bundle_deployment": 20})
    assert contacts(found.beat("bundle_deployment", name).records) == [f"{name}: Silent -> Fresh"]
    found.say("bundle_deployment", "configure", name, silence_after=0)
    assert contacts(found.records) == [f"{name}: Fresh -> Unheard"]
    assert found.wait(100).records == []


def test_an_app_cluster_that_nobody_heard_falls_silent_too() -> None:
    name = "r/x/app/p+edge"
    found = Contacts().say("emco_resource", "create", "r").say("app_context", "create", "r/x")
    found.say("app_cluster", "connected", name).say("app_cluster", "configure", name, silence_after=8)
    assert found.next_silence("app_cluster", name) == found.now + 10
    assert contacts(found.wait(10).records) == [f"{name}: Unheard -> Silent"]


def test_a_node_below_a_pool_with_contact_keeps_its_pool_fresh_and_no_neighbour() -> None:
    found = shops(node=AFTER, node_pool=AFTER)
    for _ in range(8):
        found.wait(25).say("node", "heartbeat", N1)
    assert found.contact("node_pool", "c1/shops") == "Fresh"
    assert [found.contact("node", one) for one in (N1, N2)] == ["Fresh", "Silent"]


def test_the_nearest_time_counts() -> None:
    found = shops(node=AFTER, component=7).say("node_pool", "configure", "c1/shops", silence_below={"node": 10})
    found.beat("node", N1).say("node", "configure", N2, silence_after=20).beat("node", N2)
    found.say("component", "adopt", "c1/dns", phase="Running")
    waits = [(found.next_silence(*one) or 0) - found.now for one in (("node", N1), ("node", N2))]
    assert (waits, found.next_silence("component", "c1/dns")) == ([12.5, 25], found.now + 8.75)


def test_a_heartbeat_of_an_unknown_node_adopts_it() -> None:
    found = Contacts().beat("node", N1)
    assert [found.state(*one) for one in (("node", N1), ("node_pool", "c1/shops"), ("cluster", "c1"))] == [
        "Running [Ok]"
    ] * 3
    assert found.later(5).beat("node", N1).records == []
    found.say("node", "delete", N1).say("node", "deleted", N1)
    [record] = found.beat("node", N1).records
    assert isinstance(record, Rejection)


def test_a_time_that_changes_while_it_runs_starts_anew() -> None:
    found = shops()
    found.later(50).say("cluster", "configure", "c1", silence_below={"node": 8})
    assert [type(record) for record in found.records] == [Transition, Mark, Mark]
    assert {found.next_silence("node", one) for one in (N1, N2)} == {found.now + 10}
    found.later(1).say("cluster", "configure", "c1", silence_below={"node": 800})
    assert {found.next_silence("node", one) for one in (N1, N2)} == {found.now + 1_000}
    assert found.wait(500).records == []


@pytest.mark.parametrize("below", [{"node": 0}, {}, {"component": 5}])
def test_what_nobody_waits_for_any_more_has_no_contact(below: dict[str, float]) -> None:
    found = shops().wait(200).beat("node", N1).say("cluster", "configure", "c1", silence_below=below)
    assert contacts(found.records) == [f"{N1}: Fresh -> Unheard", f"{N2}: Silent -> Unheard"]
    assert [found.entity("node", one).timers_ns for one in (N1, N2)] == [{}, {}]
    assert found.wait(10 * AFTER).records == []


def test_what_is_silent_already_when_it_is_asked_for_is_seen() -> None:
    found = Contacts().say("node", "adopt", N1, phase="Running").say("node", "adopt", N2, phase="Running")
    found.later(500).say("cluster", "configure", "c1", silence_below={"node": AFTER}).beat("node", N1)
    assert [found.contact("node", one) for one in (N1, N2)] == ["Fresh", "Unheard"]
    asked = found.now
    for _ in range(5):
        found.wait(24).beat("node", N1)
    [record] = [one for one in found.wait(5).records if isinstance(one, Transition)]
    assert (record.entity.id, str(record.before), str(record.after)) == (N2, "Unheard", "Silent")
    assert (record.message, record.time_ns / SECOND) == ("nothing was heard since somebody waits for it", asked + 125)
    assert contacts(found.beat("node", N2).records) == [f"{N2}: Silent -> Fresh"]


@pytest.mark.parametrize("after", [("delete", "deleted"), ("configure",)])
def test_nobody_waits_for_what_is_gone_or_given_up(after: tuple[str, ...]) -> None:
    found = Contacts().say("node", "adopt", N2, phase="Running")
    found.say("cluster", "configure", "c1", silence_below={"node": AFTER})
    assert found.next_silence("node", N2) == found.now + 125
    for trigger in after:
        if trigger == "configure":
            found.say("cluster", trigger, "c1", silence_below={})
        else:
            found.say("node", trigger, N2)
    assert found.next_silence("node", N2) is None
    assert found.wait(500).records == []


def test_an_own_time_is_not_moved_by_one_above() -> None:
    found = shops().say("node", "configure", N1, silence_after=10).beat("node", N1)
    found.later(1).say("cluster", "configure", "c1", silence_below={"node": 0})
    assert (found.contact("node", N1), found.contact("node", N2)) == ("Fresh", "Unheard")
    assert found.next_silence("node", N1) == found.now + 11.5


def test_the_contact_ends_with_the_life_and_with_that_above() -> None:
    found = shops().say("cluster", "delete", "c1").say("cluster", "deleted", "c1")
    assert {f"{one}: Fresh -> Unheard" for one in (N1, N2)} == {*contacts(found.records)}
    assert found.wait(10 * AFTER).records == []


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"nod": 5}, "data.silence_below.nod: the name must be one of node_pool, node, component"),
        ({"cluster": 5}, "data.silence_below.cluster: the name must be one of"),
        ({"node": "5"}, "data.silence_below.node must be a number, found str"),
        ({"node": True}, "data.silence_below.node must be a number, found bool"),
        ({"node": -1}, "data.silence_below.node must be at least 0, found -1"),
        (5, "data.silence_below must be dict, found int"),
    ],
)
def test_a_wrong_time_is_rejected(wrong: object, says: str) -> None:
    [record] = shops().say("cluster", "configure", "c1", silence_below=wrong).records
    assert isinstance(record, Rejection)
    assert (record.reason, record.message.startswith(says)) == ("invalid", True), record.message


def test_hearing_is_recorded_four_times_in_the_time_of_a_node() -> None:
    found = shops()
    marks = sum(len(found.later(1).beat("node", N1).records) for _ in range(1_000))
    assert marks == 1_000 / (AFTER / 4)


def test_without_contact_no_record_is_longer() -> None:
    found = Contacts().say("node", "adopt", N1, phase="Running").say("node", "not_ready", N1)
    assert all(record.entity.attributes == {} for record in found.records if isinstance(record, Transition))
    assert found.stored("node", N1).keys() == {"phase"}


# ---- outages


@pytest.mark.parametrize("late", [0, AFTER / 4])
def test_a_timer_that_is_hardly_late_ends_the_contact(late: float) -> None:
    assert contacts(shops().fire("node", N2, late=late).records) == [f"{N2}: Fresh -> Silent"]


def test_a_timer_that_is_late_starts_anew_with_its_full_time() -> None:
    found = shops().fire("node", N2, late=AFTER / 4 + 1)
    [record] = found.records
    assert isinstance(record, Mark)
    assert (record.cause.by, record.entity.version) == ("timer", 2)
    assert found.entity("node", N2).attributes[HEARD_AT] == 1_000 * SECOND
    assert found.next_silence("node", N2) == found.now + 1.25 * AFTER
    assert f"{N2}: Fresh -> Silent" in contacts(found.wait(1.25 * AFTER).records)


def test_a_second_outage_is_nobodys_silence_either() -> None:
    found = shops().fire("node", N2, late=10 * AFTER).fire("node", N2, late=3 * AFTER)
    assert found.contact("node", N2) == "Fresh"
    assert contacts(found.fire("node", N2, late=0).records) == [f"{N2}: Fresh -> Silent"]


def test_a_server_that_is_slower_than_a_tiny_time_does_not_put_silence_off_for_ever() -> None:
    found = shops(node=0.4).fire("node", N2, late=0.25)
    assert found.contact("node", N2) == "Fresh"
    assert contacts(found.fire("node", N2, late=0.25).records) == [f"{N2}: Fresh -> Silent"]


def test_what_is_heard_after_an_outage_moves_the_timer_as_ever() -> None:
    found = shops().fire("node", N2, late=10 * AFTER).later(1).beat("node", N2)
    assert found.entity("node", N2).attributes[HEARD_AT] == int(found.now * SECOND)
    assert found.next_silence("node", N2) == found.now + 1.25 * AFTER


def test_a_request_is_stalled_at_once_after_an_outage() -> None:
    found = Contacts().say("cluster", "create", "tim", deadline=4).later(8)
    found.now += 4
    assert found.wait(0).state("cluster", "tim") == "Creating [Progressing, Stalled]"


def test_a_clock_that_jumps_forward_and_back() -> None:
    found = shops().fire("node", N1, late=3_600)  # forward: the timer is due at once, an hour late
    found.beat("node", N1).beat("node", N2).later(-3_600).beat("node", N1)
    assert found.entity("node", N1).attributes[HEARD_AT] == int(found.now * SECOND)
    assert found.next_silence("node", N1) == found.now + 1.25 * AFTER
    assert contacts(found.wait(1.25 * AFTER).records) == [f"{N1}: Fresh -> Silent"]


def test_an_outage_of_workers_alone_is_no_excuse() -> None:
    """The server stores timers when they are due, whoever decides them later, and what was heard before them."""
    found = shops()
    ids = [f"c1/shops/m{number}" for number in range(300)]
    for one in ids:
        found.say("node", "adopt", one, phase="Running")
    found.later(90)
    for one in ids[::2]:
        found.beat("node", one)
    silent = {line.split(":")[0] for line in contacts(found.wait(600).records)}
    assert silent == {*ids, N1, N2}
    assert {found.entity("node", one).facets[-1].since_ns // SECOND for one in ids[::2]} == {1_215}
    assert {found.entity("node", one).facets[-1].since_ns // SECOND for one in ids[1::2]} == {1_125}
