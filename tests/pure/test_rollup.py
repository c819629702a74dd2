"""What resources make of their application, in each profile (docs/spec/gitops.md, Profiles, Roll-up)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.machines.kinds.kubernetes.assess import OUT_OF_SYNC, SYNCED, Assessment
from phaseline.machines.kinds.kubernetes.health.result import HealthResult
from phaseline.machines.kinds.kubernetes.profiles import ALIASES, PROFILES, Profile
from phaseline.machines.kinds.kubernetes.rollup import Member, cause_text, roll_up

ALAUDA, ARGO, OLD = (PROFILES[name] for name in ("alauda", "argocd", "argocd-3.3"))


def member(
    health: str | None,
    *,
    name: str = "a",
    kind: tuple[str, str] = ("apps", "Deployment"),
    has_rule: bool = True,
    is_hook: bool = False,
) -> Member:
    said = Assessment(None if health is None else HealthResult(health), SYNCED, has_rule=has_rule, is_hook=is_hook)
    return Member(kind, name, health != "Missing", said)


@pytest.mark.parametrize(("healths", "alauda", "argo", "old"), [
    ([], "NotAssessed", "NotAssessed", "NotAssessed"),
    ([None], "NotAssessed", "NotAssessed", "NotAssessed"),
    (["NotAssessed"], "NotAssessed", "NotAssessed", "NotAssessed"),
    ([None, "Healthy"], "Healthy", "Healthy", "Healthy"),
    (["Healthy", "Missing"], "Missing", "Healthy", "Missing"),
    (["Missing", "Missing"], "Missing", "Missing", "Missing"),
    (["Missing", None], "Missing", "NotAssessed", "Missing"),
    (["Degraded", "Missing"], "Missing", "Degraded", "Degraded"),
    (["Paused", "Progressing"], "Paused", "Progressing", "Progressing"),
    (["Unknown", "Degraded"], "Unknown", "Unknown", "Unknown"),
])  # fmt: skip
def test_the_worst_by_each_order(healths: list[str | None], alauda: str, argo: str, old: str) -> None:
    members = [member(health) for health in healths]
    assert [roll_up(members, profile).health for profile in (ALAUDA, ARGO, OLD)] == [alauda, argo, old]


def test_a_missing_resource_without_a_rule() -> None:
    members = [member("Healthy"), member("Missing", has_rule=False)]
    assert [roll_up(members, profile).health for profile in (ALAUDA, ARGO, OLD)] == ["Missing", "Healthy", "Healthy"]


def test_hooks_take_no_part() -> None:
    assert roll_up([member("Missing"), member("Healthy", is_hook=True)], ARGO).health == "Missing"
    assert roll_up([member("Degraded", is_hook=True)], ARGO).health == "NotAssessed"


def test_an_application_in_an_application() -> None:
    child = ("argoproj.io", "Application")
    assert roll_up([member("Healthy"), member("Unknown", kind=child)], ARGO).health == "Healthy"
    assert roll_up([member("Healthy"), member("Missing", kind=child)], OLD).health == "Healthy"
    assert [roll_up([member("Healthy"), member(one, kind=child)], ALAUDA).health for one in ("Unknown", "Missing")] == [
        "Unknown", "Missing",
    ]  # fmt: skip
    assert roll_up([member("Healthy"), member("Degraded", kind=child)], ARGO).health == "Degraded"


def test_causes_are_named() -> None:
    members = [
        member("Degraded", name="a"),
        member("Healthy", name="b"),
        *(member("Degraded", name=name) for name in "cdef"),
    ]
    found = roll_up(members, ARGO)
    assert found.unwell == ("a", "c", "d", "e", "f")
    assert cause_text(found.unwell) == "Caused by a, c, d and 2 more"
    assert cause_text(found.unwell[:3]) == "Caused by a, c, d"
    assert cause_text(()) == ""


def test_sync_is_the_worst_of_those_that_count() -> None:
    extra = Member(("", "Pod"), "extra", True, Assessment(None, OUT_OF_SYNC, counts=False))
    gone = Member(("", "Pod"), "gone", False, Assessment(HealthResult("Missing"), OUT_OF_SYNC))
    assert (roll_up([extra], ARGO).sync, roll_up([extra, gone], ARGO).sync) == ("NotCompared", OUT_OF_SYNC)
    assert roll_up([extra, gone], ARGO).unsynced == ("gone",)


@given(st.lists(st.sampled_from(ALAUDA.order), min_size=1), st.sampled_from([*PROFILES.values()]))
def test_one_more_never_makes_it_better_unless_it_is_the_first_that_lives(healths: list[str], profile: Profile) -> None:
    def of(found: list[str]) -> int:
        return profile.order.index(roll_up([member(one) for one in found], profile).health)

    if set(healths) != {"Missing"}:
        assert all(of([*healths, one]) <= of(healths) for one in profile.order)


def test_the_profiles_are_as_the_spec_has_them() -> None:
    assert ALAUDA.order == ("Unknown", "Missing", "Degraded", "Paused", "Progressing", "Healthy")
    assert [ARGO.called(health) for health in ARGO.order] == [
        "Unknown",
        "Degraded",
        "Missing",
        "Progressing",
        "Suspended",
        "Healthy",
    ]
    assert OLD.order == ARGO.order
    assert ALIASES == {"Suspended": "Paused", "Processing": "Progressing"}


KNOWN = st.sampled_from(ALAUDA.order)
PARTS = st.lists(st.one_of(st.none(), st.just("NotAssessed"), KNOWN))
COMPARED = st.lists(st.sampled_from((None, SYNCED, OUT_OF_SYNC)))


@given(PARTS, st.sampled_from([*PROFILES.values()]))
def test_a_whole_is_never_better_than_its_known_parts(healths: list[str | None], profile: Profile) -> None:
    found = roll_up([member(one) for one in healths], profile)
    known = [one for one in healths if one not in (None, "NotAssessed")]
    assert found.not_assessed == len(healths) - len(known)
    assert found.resources == len(healths)
    if not known:
        assert found.health == "NotAssessed"
    counted = [one for one in known if one != "Missing" or profile.missing != "together"]
    if counted:
        assert profile.order.index(found.health) <= min(map(profile.order.index, counted))


@given(COMPARED)
def test_nothing_compared_is_never_synced(syncs: list[str | None]) -> None:
    found = roll_up([Member(("", "X"), "x", True, Assessment(None, sync)) for sync in syncs], ARGO)
    worst = OUT_OF_SYNC if OUT_OF_SYNC in syncs else SYNCED if SYNCED in syncs else "NotCompared"
    assert (found.sync, found.not_compared) == (worst, syncs.count(None))
