"""Observations of Kubernetes objects that come late: by the uid and the version of the object, nothing newer is undone.

Belongs here: the kinds whose events hold manifests, and EMCO's reports. Does not: what the observer itself leaves out
(`test_observer`), identities in `data.uid` (`test_lives`).
"""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

from phaseline import testing
from phaseline.engine.products.observe.observer import Observer
from phaseline.engine.products.observe.stream import ObjectChange
from phaseline.engine.surfaces.testing.histories import stored
from phaseline.schemas import codec
from phaseline.schemas.records import Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.strategies import SUBJECTS, History, Sent, hold

APP = "s/a/apps:Deployment/ns/web"
ON = "infra/web/c1/apps:Deployment/ns/web"
OWNED = "s/a/apps:Deployment/ns/web/apps:Deployment:ns:web"
GIT: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "ns", "name": "web"}}
PLACES = (("resource", APP), ("bundle_resource", ON), ("owned_object", OWNED))


def live(version: object, ready: int = 1, uid: str = "a") -> dict[str, Any]:
    metadata = {**GIT["metadata"], "uid": uid, "resourceVersion": version, "generation": 1}
    counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), ready)
    spec, status = {"replicas": 1}, {**counts, "replicas": 1, "updatedReplicas": 1, "observedGeneration": 1}
    return {**GIT, "metadata": metadata, "spec": spec, "status": status}


def there() -> testing.Given:
    given = testing.given(KINDS).event(
        "bundle_deployment", "observed", "infra/web/c1", {"target": "v1", "applied": "v1"}
    )
    return given.event("resource", "observed", APP, {"live": live("1", uid="owner")})


def state(of: testing.Given | testing.Then, kind: str, at: str) -> str:
    return of.entity(kind, at).facets[0].state.phase


@pytest.mark.parametrize(("kind", "at"), PLACES)
def test_an_older_version_undoes_nothing(kind: str, at: str) -> None:
    known = (
        there().event(kind, "observed", at, {"live": live("10", 0)}).event(kind, "observed", at, {"live": live("12")})
    )
    good = state(known, kind, at)
    late = known.when(kind, "observed", at, {"live": live("11", 0)})
    late.then_rejected("stale", "version 11 of uid a is late: version 12 was seen before")
    assert state(late, kind, at) == good
    for newer in (live("12", 0), live("13", 0), live("9", 0, "b"), live("word", 0)):
        assert state(known.when(kind, "observed", at, {"live": newer}), kind, at) != good
    restored = known.when(kind, "observed", at, {"live": live("3", 0), "listed": True})
    assert state(restored, kind, at) != good


@pytest.mark.parametrize(("kind", "at"), PLACES)
def test_an_object_that_is_gone_is_not_there_again(kind: str, at: str) -> None:
    known = there().event(kind, "observed", at, {"live": live("10")})
    gone = known.event(kind, "observed", at, {"live": None, **({} if kind == "owned_object" else {"desired": GIT})})
    before = state(gone, kind, at)
    assert before in ("Missing", "Deleted")
    for late in (live("10"), live("11"), live(None)):
        gone.when(kind, "observed", at, {"live": late}).then_rejected("stale", "gone").then(kind, at, before)
    again = gone.when(kind, "observed", at, {"live": live("4", uid="b")})
    assert state(again, kind, at) in ("Healthy", "Ready")


@pytest.mark.parametrize(("kind", "at"), PLACES[:2])
def test_what_is_said_of_an_object_whose_name_another_has_is_late(kind: str, at: str) -> None:
    known = there().event(kind, "observed", at, {"live": live("10"), "uid": "k8s:a"})
    known = known.event(kind, "observed", at, {"live": live("12", uid="b"), "uid": "k8s:b"})
    before = state(known, kind, at)
    known.when(kind, "observed", at, {"live": live("11", 0)}).then_rejected("stale", "that of uid b has its name")
    late = known.when(kind, "observed", at, {"live": None, "desired": GIT, "uid": "k8s:a"})
    late.then_rejected("stale", "another one than the one that is there")
    assert state(late, kind, at) == before
    gone = known.event(kind, "observed", at, {"live": None, "desired": GIT, "uid": "k8s:b"})
    assert state(gone, kind, at) == "Missing"
    for uid in "ab":
        gone.when(kind, "observed", at, {"live": live("20", uid=uid)}).then_rejected("stale")


def test_the_end_of_another_thing_ends_no_place() -> None:
    known = there().event("resource", "observed", APP, {"live": live("12"), "uid": "k8s:a"})
    known.when("resource", "removed", APP, {"uid": "k8s:z"}).then_rejected("stale", "removed is about k8s:z")
    repo = testing.given(KINDS).event("git_repo", "fetched", "r", {"uid": "k8s:1"})
    repo = repo.event("git_repo", "fetched", "r", {"uid": "k8s:2"})
    repo.when("git_repo", "removed", "r", {"uid": "k8s:1"}).then_rejected("stale")
    repo.when("git_repo", "removed", "r").then("git_repo", "r", "Deleted")


def test_what_became_of_a_sync_or_a_rollout_begins_no_new_life() -> None:
    known = there().event("resource", "removed", APP)
    for trigger in ("sync_started", "sync_succeeded", "sync_failed"):
        known.when("resource", trigger, APP).then_rejected("illegal").then("resource", APP, "Deleted")
    gone = there().event("application", "removed", "s/a")
    gone.when("application", "stepped", "s/a", {"rollout_step": 1}).then_rejected("illegal")
    again = gone.event("application", "configure", "s/a")
    assert again.when("application", "stepped", "s/a", {"rollout_step": 1}).rejection is None


def test_a_version_alone_makes_no_record() -> None:
    known = there().event("resource", "observed", APP, {"live": live("10")})
    assert known.when("resource", "observed", APP, {"live": live("11")}).records == ()


def test_a_late_report_of_a_cluster_lists_nothing_again() -> None:
    at, dep = "g/c/web/p+e", "g/c/web/p+e/dep+Deployment"
    given = testing.given(KINDS).event("emco_resource", "create", "g").event("app_context", "create", "g/c")
    given = given.event("rsync_resource", "add", dep)

    def report(version: str, *names: str, uid: str = "a") -> dict[str, Any]:
        listed = [{"metadata": {"name": name}} for name in names]
        metadata = {"name": "state", "uid": uid, "resourceVersion": version}
        return {"metadata": metadata, "status": {"deploymentStatuses": listed}}

    empty = given.event("app_cluster", "bundle_state", at, report("7", "dep")).event(
        "app_cluster", "bundle_state", at, report("8")
    )
    late = empty.when("app_cluster", "bundle_state", at, report("7", "dep"))
    late.then_rejected("stale", "version 7 of uid a is late")
    assert late.entity("rsync_resource", dep).facets[1].state.phase == "NotPresent"
    for newer in (report("9", "dep"), report("1", "dep", uid="b"), {"status": report("1", "dep")["status"]}):
        told = empty.when("app_cluster", "bundle_state", at, newer)
        assert told.entity("rsync_resource", dep).facets[1].state.phase == "Present"


def test_a_list_is_the_last_word() -> None:
    observer = Observer("/o", "s/a")
    [first] = observer.see(ObjectChange(live("12"), listed=True))
    [later] = observer.see(ObjectChange(live("13", 0)))
    assert (first["data"].get("listed"), later["data"].get("listed")) == (True, None)


TOLD = (
    ("git_repo", "fetched", "r", {"commit": "a"}, {"commit": "b"}),
    ("bundle", "rollout", "r/web", {"commit": "a"}, {"commit": "b"}),
    ("application", "observed", "s/a", {"reported_health": "Healthy"}, {"reported_health": "Degraded"}),
    ("node", "reported", "c/p/n", {"phase": "Running"}, {"phase": "Stopped"}),
)
"""What a source tells of one thing, of which the second is true now."""


@pytest.mark.parametrize(("kind", "trigger", "at", "first", "then"), TOLD)
def test_an_older_version_of_the_same_thing_is_late(
    kind: str, trigger: str, at: str, first: dict[str, Any], then: dict[str, Any]
) -> None:
    known = testing.given(KINDS).event(kind, trigger, at, {**first, "uid": "k8s:1", "uid_version": 8})
    known = known.event(kind, trigger, at, {**then, "uid": "k8s:1", "uid_version": 9})
    known.when(kind, trigger, at, {**first, "uid": "k8s:1", "uid_version": 8}).then_rejected(
        "stale", "version 8 of k8s:1 is late, because version 9 was told of before"
    )
    for version in (9, 10):
        told = known.when(kind, trigger, at, {**first, "uid": "k8s:1", "uid_version": version})
        assert told.rejection is None
        assert told.records
    known.when(kind, trigger, at, {**first, "uid_version": 9}).then_rejected("invalid", "name that too")
    if kind != "node":  # there another thing needs a report that begins its life
        assert known.when(kind, trigger, at, {**first, "uid": "k8s:2", "uid_version": 1}).rejection is None
    unnumbered = known.event(kind, trigger, at, {**then, "uid": "k8s:1"})
    assert unnumbered.when(kind, trigger, at, {**first, "uid": "k8s:1", "uid_version": 3}).rejection is None


def test_a_version_that_brings_nothing_new_makes_no_record() -> None:
    told: dict[str, Any] = {"commit": "a", "uid": "k8s:1"}
    known = testing.given(KINDS).event("git_repo", "fetched", "r", {**told, "uid_version": 8})
    assert known.when("git_repo", "fetched", "r", {**told, "uid_version": 9}).records == ()


def repository(version: int, random: Random) -> dict[str, Any]:
    polling = {"type": "GitPolling", "status": random.choice(("True", "False")), "message": "so it is"}
    metadata = {"namespace": "f", "name": "infra", "uid": "g", "resourceVersion": str(version)}
    status = {"commit": random.choice("ab"), "conditions": [polling]}
    return {"apiVersion": "fleet.cattle.io/v1alpha1", "kind": "GitRepo", "metadata": metadata, "status": status}


def whole(version: int, random: Random) -> dict[str, Any]:
    metadata = {"namespace": "argocd", "name": "shop", "uid": "app", "resourceVersion": str(version)}
    health, sync = random.choice(("Healthy", "Degraded")), random.choice(("Synced", "OutOfSync"))
    status = {"health": {"status": health}, "sync": {"status": sync}}
    spec = {"project": random.choice("ab"), "syncPolicy": random.choice(({}, {"automated": {}}))}
    api = "argoproj.io/v1alpha1"
    return {"apiVersion": api, "kind": "Application", "metadata": metadata, "spec": spec, "status": status}


@pytest.mark.parametrize("made", [repository, whole])
@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
def test_an_observer_that_is_behind_another_undoes_nothing(
    effort: str, made: Callable[[int, Random], dict[str, Any]]
) -> None:
    def law(random: Random) -> None:
        seen, history, places = [made(version, random) for version in range(1, 8)], History(KINDS), [0, 0]
        observers = [Observer(f"/o{number}") for number in places]
        while min(places) < len(seen):
            which = random.choice([one for one in (0, 1) if places[one] < len(seen)])
            is_behind = places[which] < max(places)
            for told in observers[which].see(ObjectChange(seen[places[which]])):
                kind, trigger = told["type"].split(".")
                at = told["subject"].partition("/")[2]
                step = history.take(Sent(stored(SUBJECTS.event(kind, trigger, at)), codec.encode(told)))
                moved = [one for one in step.records if isinstance(one, Transition)]
                assert not (is_behind and moved), (history, places)
            places[which] += 1

    hold(law, st.integers(0, 2**63).map(Random), effort)


@pytest.mark.parametrize("effort", ["dear", pytest.param("long", marks=pytest.mark.slow)])
def test_of_two_observers_the_newest_word_stays(effort: str) -> None:
    """Each tells all it sees in its order, one of them behind the other: the state is that of one alone."""

    def law(random: Random) -> None:
        seen = [{"live": live(str(version), random.randrange(2)), "desired": GIT} for version in range(1, 8)]
        both, places = there(), [0, 0]
        while min(places) < len(seen):
            which = random.choice([one for one in (0, 1) if places[one] < len(seen)])
            then, is_behind = both.when("resource", "observed", APP, seen[places[which]]), places[which] < max(places)
            assert not is_behind or not [one for one in then.records if isinstance(one, Transition)], (seen, places)
            both = both if then.rejection else both.event("resource", "observed", APP, seen[places[which]])
            places[which] += 1
        alone = there().event("resource", "observed", APP, seen[-1])
        assert state(both, "resource", APP) == state(alone, "resource", APP), seen

    hold(law, st.integers(0, 2**63).map(Random), effort)


def test_settings_of_an_older_version_undo_nothing() -> None:
    def settings(version: int | None, project: str, uid: str = "k8s:1") -> dict[str, Any]:
        return {
            "project": project,
            "settings_object": uid,
            **({} if version is None else {"settings_version": version}),
        }

    known = testing.given(KINDS).event("application", "configure", "s/a", settings(8, "old"))
    known = known.event("application", "configure", "s/a", settings(9, "new"))
    late = known.when("application", "configure", "s/a", settings(8, "old"))
    late.then_rejected("stale", "the settings of version 8 of k8s:1 are late: those of version 9 were taken before")
    assert known.when("application", "configure", "s/a", settings(12, "new")).records == ()
    for newer in (
        settings(9, "x"),
        settings(10, "x"),
        settings(0, "x"),
        settings(None, "x"),
        settings(1, "x", "k8s:2"),
    ):
        told = known.when("application", "configure", "s/a", newer)
        assert told.rejection is None
        assert told.entity("application", "s/a").attributes["project"] == "x"
    listed = known.event("application", "configure", "s/a", settings(0, "x"))
    assert listed.when("application", "configure", "s/a", settings(3, "y")).rejection is None
