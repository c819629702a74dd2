"""Objects that other objects made, and the Events about them: what the observer says of them.

Belongs here: objects in, events out. Does not: the states that follow (`test_owned_states`), the command.
"""

import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.products.observe import placing
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.owned import MOST, MOST_FAILED, about
from phaseline.engine.products.observe.ownership import TRACKING, Ownership
from phaseline.engine.products.observe.stream import ObjectChange
from tests.support.gitops_history import APP
from tests.support.manifests import Manifest, config, kubernetes_object
from tests.support.owned_objects import (
    CRASHING,
    DEPLOYED,
    POD,
    READY,
    REPLICA_SET,
    SET,
    happening,
    named,
    newer_happening,
    pod,
    reference,
    replica_set,
    waiting,
    web,
)

WEB = f"resource/{APP}/apps:Deployment/shop/web"
OWNED = f"owned_object/{APP}/apps:Deployment/shop/web"
OF_SET = f"{OWNED}/apps:ReplicaSet:shop:{REPLICA_SET}"
OF_POD = f"{OF_SET}~core:Pod:shop:{POD}"
Told = tuple[str, str]


class Seeing:
    """An observer, and the events that it told: type and subject, as far as they are new."""

    def __init__(self, **how: Any) -> None:
        self.observer = Observer("/t", **({"application": APP} | how))
        self.events: list[dict[str, Any]] = []
        self.version = 7

    def see(self, *found: Manifest, gone: bool = False) -> list[Told]:
        return self._told(event for one in found for event in self.observer.see(ObjectChange(self._newer(one), gone)))

    def _newer(self, found: Manifest) -> Manifest:
        """The object in a version that is newer than all before, as each change of a cluster is."""
        self.version += 1
        return {**found, "metadata": {**found["metadata"], "resourceVersion": str(self.version)}}

    def whole(self) -> list[Told]:
        return self._told(self.observer.missing())

    def _told(self, events: Any) -> list[Told]:
        new = [*events]
        self.events += new
        return [(one["type"].partition(".")[2], one["subject"]) for one in new]

    def there(self) -> set[str]:
        """The entities that are there after all that was told; what is below a resource ends with it."""
        found: set[str] = set()
        for event in self.events:
            trigger, subject = event["type"].partition(".")[2], event["subject"]
            if trigger == "observed":
                found.add(subject)
            elif trigger == "removed":
                below = subject.replace("resource/", "owned_object/", 1)
                found = {one for one in found if one != subject and not one.startswith(f"{below}/")}
        return found


# ---- where an object stands


def test_what_is_owned_stands_below_its_owners() -> None:
    assert Seeing().see(DEPLOYED, SET, CRASHING) == [("observed", WEB), ("observed", OF_SET), ("observed", OF_POD)]


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_in_whatever_order_they_come(order: tuple[int, ...]) -> None:
    seeing = Seeing()
    seeing.see(*([DEPLOYED, SET, CRASHING][at] for at in order))
    seeing.whole()
    assert seeing.there() == {WEB, OF_SET, OF_POD}


def test_an_object_whose_owner_is_not_there_stands_for_itself_until_it_comes() -> None:
    seeing = Seeing()
    assert seeing.see(CRASHING) == []
    alone = f"resource/{APP}/core:Pod/shop/{POD}"
    assert seeing.whole() == [("observed", alone)]
    seeing.see(DEPLOYED, SET)
    assert seeing.there() == {WEB, OF_SET, OF_POD}
    assert ("removed", alone) in [(one["type"].partition(".")[2], one["subject"]) for one in seeing.events]


def test_a_late_owner_of_a_sort_that_was_seen_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET)
    seeing.whole()
    other = replica_set(DEPLOYED, "web-2")
    assert seeing.see(pod(other, "web-2-x")) == []
    assert seeing.see(other) == [
        ("observed", f"{OWNED}/apps:ReplicaSet:shop:web-2"),
        ("observed", f"{OWNED}/apps:ReplicaSet:shop:web-2~core:Pod:shop:web-2-x"),
    ]
    seeing.see(pod(replica_set(None, "gone"), "late"))
    monkeypatch.setattr(placing, "PATIENCE", 0.0)
    assert ("observed", f"resource/{APP}/core:Pod/shop/late") in seeing.see(config())


def test_an_owner_of_a_sort_that_nobody_follows_is_not_waited_for() -> None:
    seeing = Seeing()
    seeing.whole()
    assert seeing.see(CRASHING) == [("observed", f"resource/{APP}/core:Pod/shop/{POD}")]


def test_without_uids_names_count() -> None:
    deployed = {**DEPLOYED, "metadata": {**DEPLOYED["metadata"]}}
    del deployed["metadata"]["uid"]
    assert Seeing().see(deployed, SET)[1] == ("observed", OF_SET)


def test_an_owner_of_an_earlier_life_owns_nothing() -> None:
    seeing = Seeing()
    seeing.see(web(uid="u-new"), SET)
    assert seeing.whole() == [("observed", f"resource/{APP}/apps:ReplicaSet/shop/{REPLICA_SET}")]


def test_a_cluster_wide_owner_owns_what_is_in_a_namespace() -> None:
    whole = kubernetes_object("acme.example/v1", "Tenant", metadata=named("acme", namespace=""))
    owned = config("limits", metadata={"uid": "u-limits", "ownerReferences": [reference(whole)]})
    for one in (owned, {**owned, "metadata": {**owned["metadata"], "ownerReferences": [reference(whole, uid="")]}}):
        assert Seeing().see(whole, one) == [
            ("observed", f"resource/{APP}/acme.example:Tenant/-/acme"),
            ("observed", f"owned_object/{APP}/acme.example:Tenant/-/acme/core:ConfigMap:shop:limits"),
        ]


def test_of_several_owners_the_controller_counts() -> None:
    other = web("other")
    owned = replica_set(None)
    owned["metadata"]["ownerReferences"] = [reference(other, controller=False), reference(DEPLOYED)]
    assert Seeing().see(other, DEPLOYED, owned)[2] == ("observed", OF_SET)


def test_a_circle_of_owners_ends() -> None:
    a = kubernetes_object("acme.example/v1", "A", metadata=named("a"))
    b = kubernetes_object("acme.example/v1", "B", metadata=named("b", a))
    a["metadata"]["ownerReferences"] = [reference(b)]
    itself = kubernetes_object("acme.example/v1", "C", metadata=named("c"))
    itself["metadata"]["ownerReferences"] = [reference(itself)]
    seeing = Seeing()
    seeing.see(a, b, itself)
    seeing.whole()
    seeing.see({**a, "spec": {}}, {**b, "spec": {}})
    assert seeing.there() == {
        f"resource/{APP}/acme.example:A/shop/a", f"resource/{APP}/acme.example:C/shop/c",
        f"owned_object/{APP}/acme.example:A/shop/a/acme.example:B:shop:b",
    }  # fmt: skip


def marked(name: str, found: Manifest, of: str) -> Manifest:
    tracking = {TRACKING: f"{name}:apps/{found['kind']}:shop/{of}"}
    return {**found, "metadata": {**found["metadata"], "annotations": tracking}}


def test_what_is_owned_belongs_where_its_owner_does() -> None:
    """A controller copies the marks of a Deployment to its ReplicaSet; charts put their label on Pods, too."""
    labelled = pod(SET, labels={"app.kubernetes.io/instance": "elsewhere"})
    told = Seeing(application=None).see(marked("web", DEPLOYED, "web"), marked("web", SET, "web"), labelled)
    root = "web/web/apps:Deployment/shop/web"
    assert [subject for _, subject in told] == [
        f"resource/{root}", f"owned_object/{root}/apps:ReplicaSet:shop:{REPLICA_SET}",
        f"owned_object/{root}/apps:ReplicaSet:shop:{REPLICA_SET}~core:Pod:shop:{POD}",
    ]  # fmt: skip


def test_what_has_a_mark_of_its_own_or_stands_in_git_is_a_resource() -> None:
    own = marked("web", SET, REPLICA_SET)
    seeing = Seeing(application=None)
    assert seeing.see(marked("web", DEPLOYED, "web"), own)[1] == (
        "observed",
        f"resource/web/web/apps:ReplicaSet/shop/{REPLICA_SET}",
    )
    desired = {**SET, "metadata": {"name": REPLICA_SET, "namespace": "shop"}}
    assert Seeing(desired=[desired]).see(DEPLOYED, SET)[1] == (
        "observed",
        f"resource/{APP}/apps:ReplicaSet/shop/{REPLICA_SET}",
    )


def test_an_application_that_comes_late_takes_what_is_owned_along() -> None:
    seeing = Seeing(application=None, whose=Ownership())
    seeing.see(marked("web", DEPLOYED, "web"), SET, CRASHING)
    of_set = [{"kind": "ApplicationSet", "name": "all"}]
    application = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "web", "namespace": "argocd", "ownerReferences": of_set}}  # fmt: skip
    told = seeing.see(application)
    root = "all/web/apps:Deployment/shop/web"
    assert [subject for trigger, subject in told if trigger == "observed" and "web/apps:" in subject] == [
        f"resource/{root}", f"owned_object/{root}/apps:ReplicaSet:shop:{REPLICA_SET}",
        f"owned_object/{root}/apps:ReplicaSet:shop:{REPLICA_SET}~core:Pod:shop:{POD}",
    ]  # fmt: skip
    assert [one for one in told if one[0] == "removed" and "/web/web/apps" in one[1]] == []


def test_a_name_that_is_too_long_stands_below_the_resource_itself() -> None:
    long = replica_set(DEPLOYED, "r" * 200)
    seeing = Seeing()
    told = seeing.see(DEPLOYED, long, pod(long, "p" * 60))
    assert told[2] == ("observed", f"{OWNED}/core:Pod:shop:{'p' * 60}")


def test_what_nobody_owns_is_named() -> None:
    seeing = Seeing(application=None)
    seeing.see(CRASHING, config())
    seeing.whole()
    assert seeing.observer.unowned == {
        f"core:Pod/shop/{POD}": f"its owner apps/ReplicaSet:{REPLICA_SET} was not seen",
        "core:ConfigMap/shop/it": "no mark names an application: name it with --application",
    }


# ---- ends


def test_what_is_owned_ends_by_itself_and_with_its_resource() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET, CRASHING)
    assert seeing.see(CRASHING, gone=True) == [("removed", OF_POD)]
    assert seeing.see(CRASHING) == [("observed", OF_POD)]
    assert seeing.see(DEPLOYED, gone=True) == [("removed", WEB)]
    assert seeing.see(SET, gone=True) == []
    assert seeing.see(CRASHING, gone=True) == []
    assert seeing.see(DEPLOYED, SET, CRASHING) == [("observed", WEB), ("observed", OF_SET), ("observed", OF_POD)]


def test_a_pod_that_is_going_with_its_owners_is_nothing_new() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET, CRASHING)
    seeing.whole()
    seeing.see(DEPLOYED, gone=True)
    going = {**CRASHING, "metadata": {**CRASHING["metadata"], "deletionTimestamp": "2026-03-02T08:00:00Z"}}
    assert [*seeing.see(going), *seeing.whole()] == []


def test_what_loses_its_owner_stands_for_itself() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET)
    assert seeing.see(replica_set(None)) == [
        ("removed", OF_SET),
        ("observed", f"resource/{APP}/apps:ReplicaSet/shop/{REPLICA_SET}"),
    ]


def test_a_successor_of_the_same_name_is_not_ended_by_the_end_of_the_one_before() -> None:
    seeing = Seeing()
    first, second = (pod(SET, uid=uid) for uid in ("u-1", "u-2"))
    seeing.see(DEPLOYED, SET, first, second)
    assert seeing.see(first, gone=True) == []
    assert seeing.see(second, gone=True) == [("removed", OF_POD)]


def test_each_change_is_told_once() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET, CRASHING)
    assert seeing.see(DEPLOYED, SET, CRASHING) == []
    assert seeing.see(pod(SET, status=READY)) == [("observed", OF_POD)]


def test_after_a_list_each_resource_says_what_it_owns() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET, CRASHING, web("other"), config())
    lists = {one["subject"]: [item["id"] for item in one["data"]["items"]] for one in seeing.observer.owned()}
    name = f"apps:ReplicaSet:shop:{REPLICA_SET}"
    assert lists == {WEB: [name, f"{name}~core:Pod:shop:{POD}"], f"resource/{APP}/apps:Deployment/shop/other": []}


# ---- many


def many(number: int, status: Manifest = READY) -> list[Manifest]:
    return [pod(SET, f"web-{at}", status) for at in range(number)]


def test_of_many_objects_some_are_shown_and_the_rest_is_counted() -> None:
    seeing = Seeing()
    told = seeing.see(DEPLOYED, SET, *many(5_000))
    assert len(told) == 1 + MOST
    assert seeing.whole() == [("owns", WEB)]
    assert seeing.events[-1]["data"] == {"left_out": about(5_001 - MOST)} == {"left_out": 4_000}
    assert seeing.see(*many(10, waiting())) == [("observed", f"{OF_SET}~core:Pod:shop:web-{at}") for at in range(10)]


def test_what_has_failed_is_shown_though_there_are_many() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET, *many(300))
    failed = [pod(SET, f"bad-{at}") for at in range(MOST_FAILED + 60)]
    told = seeing.see(*failed)
    shown = [subject for trigger, subject in told if trigger == "observed"]
    assert len(shown) == MOST_FAILED + MOST - 1
    """The ReplicaSet stays, because they stand below it."""
    assert len(seeing.there()) == 1 + MOST + MOST_FAILED
    assert OF_SET in seeing.there()


def test_how_many_are_left_out_is_seldom_told() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET)
    seeing.whole()
    told = seeing.see(*many(2_000))
    assert 20 <= sum(trigger == "owns" for trigger, _ in told) <= 40
    gone = seeing.see(*many(2_000), gone=True)
    assert seeing.events[-1]["data"] == {"left_out": 0} or ("owns", WEB) in gone


@given(st.integers(0, 10**9))
def test_about_a_number(number: int) -> None:
    assert about(number) <= number < about(number) * 2 + 1


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=60), st.randoms())
def test_whatever_comes_when_what_is_told_at_last_is_what_is_there(
    steps: list[tuple[int, bool]], rng: random.Random
) -> None:
    sets = [replica_set(DEPLOYED, f"web-{at}") for at in range(3)]
    objects = [DEPLOYED, *sets, *(pod(sets[at % 3], f"p-{at}") for at in range(5))]
    seeing = Seeing()
    there: dict[int, Manifest] = {}
    for at, goes in steps:
        gone = goes and at in there
        seeing.see(objects[at], gone=gone)
        there = {one: objects[one] for one in {*there, at} - ({at} if gone else set())}
        if rng.random() < 0.1:
            seeing.whole()
    again = [*there.values()]
    rng.shuffle(again)
    for one in again:  # whoever lists everything once more sees what is there
        seeing.see(one)
    seeing.whole()
    names = {one.rpartition("/")[2].rpartition(":")[2] for one in seeing.there()}
    assert {one["metadata"]["name"] for one in there.values()} == names


# ---- Events


def events_of(seeing: Seeing, subject: str) -> list[dict[str, Any]]:
    return next(
        (
            one["data"]["events"]
            for one in reversed(seeing.events)
            if one["subject"] == subject and one["type"].endswith("events_seen")
        ),
        [],
    )


BACKED_OFF = "Back-off restarting failed container app"


@pytest.mark.parametrize("made", [happening, newer_happening])
def test_events_are_reasons_of_the_object_that_they_are_about(made: Any) -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, SET, CRASHING)
    assert seeing.see(made(CRASHING, "BackOff", BACKED_OFF, count=12)) == [("events_seen", OF_POD)]
    (found,) = events_of(seeing, OF_POD)
    assert (found["type"], found["reason"], found["message"], found["count"], found["by"]) == (
        "Warning",
        "BackOff",
        BACKED_OFF,
        12,
        "kubelet",
    )
    assert found["first"].startswith("2026-03-02T08:00:00")
    assert found["last"].startswith("2026-03-02T08:10:00")


def test_both_forms_of_an_event_are_one() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED, happening(DEPLOYED, "Scaled", "up"), newer_happening(DEPLOYED, "Scaled", "up"))
    assert len(events_of(seeing, WEB)) == 1


def test_an_event_that_comes_first_waits_for_its_object() -> None:
    seeing = Seeing()
    assert seeing.see(happening(CRASHING, "BackOff", BACKED_OFF)) == []
    assert seeing.see(DEPLOYED, SET, CRASHING)[-1] == ("events_seen", OF_POD)


def test_an_event_about_another_life_or_about_what_nobody_observes_is_not_told() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED)
    assert seeing.see(happening(web(uid="u-old"), "Scaled", "up"), happening(config("other"), "Made", "it")) == []
    assert seeing.see(web(uid="u-old"), web(uid="u-newest")) == [
        ("observed", WEB),
        ("events_seen", WEB),
        ("observed", WEB),
    ]


def test_repeats_are_told_when_there_are_twice_as_many() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED)
    told = seeing.see(*(happening(DEPLOYED, "BackOff", "again", count=count) for count in range(1, 1_001)))
    assert len(told) <= 20
    assert events_of(seeing, WEB)[0]["count"] >= 512
    assert len(seeing.see(*(happening(DEPLOYED, "Made", f"pod {at}") for at in range(1_000)))) <= 11
    assert len(events_of(seeing, WEB)) == 8


def test_an_event_that_says_nothing_or_is_about_nothing() -> None:
    seeing = Seeing()
    seeing.see(DEPLOYED)
    wrong: tuple[dict[str, Any], ...] = (
        {"reason": ""},
        {"involvedObject": {}},
        {"involvedObject": 3},
        {"involvedObject": None, "regarding": []},
    )
    for rest in wrong:
        assert seeing.see({**happening(DEPLOYED, "Scaled", "up"), **rest}) == []
