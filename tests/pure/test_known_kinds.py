"""The table of known kinds: the language of its rows, and what every row must have.

Belongs here: one small example for each word of the language, laws of the whole table. Does not: the figures over
Argo CD's own cases (`test_health_figures`).
"""

from typing import Any

import pytest

from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.kinds.kubernetes.assess import assess
from phaseline.machines.kinds.kubernetes.health.registry import RULES, assess_health
from phaseline.machines.kinds.kubernetes.health.view import ObjectView
from phaseline.machines.kinds.kubernetes.known.argo_kinds import ARGO_KINDS, is_argos
from phaseline.machines.kinds.kubernetes.known.families import families
from phaseline.machines.kinds.kubernetes.known.rows import KnownKind, StatusRow, problems
from phaseline.machines.kinds.kubernetes.known.table import KnownRule, known_rule
from phaseline.machines.kinds.kubernetes.known.tests_of_rows import BadTest, read_tests
from phaseline.machines.kinds.kubernetes.overrides import BadOverride, Overrides
from phaseline.machines.kinds.kubernetes.profiles import ALAUDA, PROFILES

ARGO = PROFILES["argocd"]
WIDGET: dict[str, Any] = {
    "apiVersion": "example.io/v1",
    "kind": "Widget",
    "metadata": {"name": "it", "generation": 3, "labels": {"a.io/state": "odd"}},
    "spec": {"replicas": 3, "sets": [{"count": 2}, {"count": 3}], "empty": {}},
    "status": {
        "phase": "Running",
        "ready": 2,
        "done": False,
        "ratio": "2/3",
        "begun": "2026-01-01T00:00:00Z",
        "ended": "2026-01-02T00:00:00Z",
        "racks": {"east": {"state": "up"}, "west": {"state": "down"}},
        "observedGeneration": "3",
        "conditions": [
            {"type": "Ready", "status": "False", "reason": "Denied", "message": "no way", "lastTransitionTime": "T1"},
            {"type": "Valid", "status": True, "observedGeneration": 2},
            {"type": "a.io/Own", "status": "Unknown", "severity": "Info"},
            {"type": 3},
            "odd",
        ],
    },
}


@pytest.mark.parametrize(("when", "holds"), [
    ("Ready = False", True), ("Ready = True", False), ("Ready = True | False", True), ("Ready = Un", False),
    ("Ready != True", True), ("Absent != True", False), ("Absent = nothing", True), ("Ready = nothing", False),
    ("Absent = something", False), ("Ready = something", True), ("Absent = True | nothing", True),
    ("Ready.reason = Denied", True), ("Ready.message ~ *way", True), ("a.io/Own.severity = Info", True),
    ("Valid = True", True), ("a.io/Own = Unknown", True), ("* = Unknown", True), ("Re* = Unknown", False),
    ("*.reason = Denied | Other", True), ("Ready = False & Ready.reason = Denied", True),
    ("Ready = False & Ready.reason = Other", False),
    (".status.phase = Running", True), (".status.phase = Run", False), (".status.phase ~ Run*", True),
    (".status.done = false", True), (".status.done = nothing", False), (".status.ready = 2", True),
    (".status.no.such.thing = nothing", True), (".spec.empty = nothing", True), (".spec.empty = absent", False),
    (".spec.no = absent", True), (".metadata.labels[a.io/state] = odd", True),
    (".status.conditions[0].type = Ready", True), (".status.conditions[-1] = nothing", False),
    (".status.conditions[9].type = nothing", True),
    (".status.ready < .spec.replicas", True), (".status.ready >= .spec.replicas", False), (".status.no < 1", True),
    (".status.ready = .spec.replicas", False), (".status.ready != .spec.replicas", True),
    (".status.no = .spec.no", True), (".status.observedGeneration = .metadata.generation", True),
    (".spec.none or 2 = .status.ready", True), (".spec.replicas or 2 = .status.ready", False),
    (".spec.replicas - .status.ready = 1", True), ("count(.status.racks[]) = 2", True),
    ("count(.status.racks[].state: up) = 1", True), ("sum(.spec.sets[].count) > 4", True), ("sum(.spec.no[]) = 0", True),
    ("first(.status.ratio) = 2", True), ("first(.status.ratio) < second(.status.ratio)", True),
    ("first(.status.phase) = nothing", True), (".status.begun < .status.ended", True),
    (".status.ended < .status.begun", False), (".status.phase < 3", False),
    (".status.phase = .status.conditions[].type", False), (".spec.kind = .status.conditions[].type", False),
    (".status.conditions[1].type = .status.conditions[].type", True),
    (".status.conditions[1].type != .status.conditions[].type", False), (".status.phase != .status.no[]", True),
    ("stale", True), ("unobserved", True), ("current", False), ("", True),
])  # fmt: skip
def test_a_test_of_a_row(when: str, holds: bool) -> None:
    view = ObjectView(WIDGET)
    assert all(test.holds(view) for test in read_tests(when)) is holds


@pytest.mark.parametrize(("when", "said"), [
    ("Ready=True", "'Ready=True' is no test: write a subject, an operator with a blank around it"),
    ("Ready = a | | b", "a word is empty between two |"),
    ("Ready != something", "write `= nothing`"),
    ("Ready = True, Synced = True", "'True, Synced = True' holds a test of its own: join tests by &"),
    ("Ready = true | False", "a condition is True, not true"),
    (".status..phase = x", "write a path such as .status.phase"),
    ("count(Ready) = 3", "count takes a path such as .status.racks[]"),
    (".status.ready = .spec.sets[].count - .status.ready", ".spec.sets[].count has many values, and a difference needs one"),
    (".status.ready - .spec.sets[].count > 0", "write sum(.spec.sets[].count)"),
])  # fmt: skip
def test_a_test_that_cannot_be_read_says_what_to_write(when: str, said: str) -> None:
    with pytest.raises(BadTest, match=r".") as error:
        read_tests(when)
    assert said in str(error.value)


def verdict(*rows: StatusRow, live: Any = None, profile: Any = ALAUDA) -> Any:
    return KnownRule(KnownKind("example.io", "Widget", rows))(WIDGET if live is None else live, profile)


def test_the_first_row_that_holds_decides_and_names_its_evidence() -> None:
    found = verdict(StatusRow("Ready = True", "Healthy"), StatusRow("Ready = False", "Degraded"))
    assert found[:2] == ("Degraded", "no way")
    assert found.evidence == (("Ready", "False", "Denied", "no way", "T1"),)
    assert found.concerns == ()


def test_a_row_says_it_in_its_own_words_or_in_those_of_the_object() -> None:
    said = verdict(
        StatusRow(".status.phase = Running", "Degraded", message="{.status.ready} of {.spec.replicas}, {.no}")
    )
    assert said.message == "2 of 3, "
    assert verdict(StatusRow(".status.phase = Running", "Degraded")).message == "status.phase is Running"
    spoken = {**WIDGET, "status": {**WIDGET["status"], "message": "well"}}
    assert verdict(StatusRow(".status.phase = Running", "Degraded"), live=spoken).message == "well"


def test_a_row_about_the_items_of_a_list() -> None:
    racks = ".status.racks[]"
    one = verdict(StatusRow("@.state = down", "Degraded", each=racks, message="down"))
    assert one[:2] == ("Degraded", "west: down")
    assert verdict(StatusRow("@.state = up", "Healthy", each=f"all {racks}")).status == "Progressing"
    assert verdict(StatusRow("@.state ~ *", "Paused", each=f"all {racks}")).status == "Paused"
    assert verdict(StatusRow("", "Paused", each="all .status.no[]")).status == "Progressing"
    nested = {
        **WIDGET,
        "status": {"parents": [{"parentRef": {"name": "edge"}, "conditions": [{"type": "Ready", "status": "False"}]}]},
    }
    assert (
        verdict(StatusRow("Ready = False", "Degraded", each=".status.parents[]"), live=nested).message
        == "edge: Ready is False"
    )


def test_what_no_row_says_is_progressing_and_says_what_is_missing() -> None:
    assert verdict(StatusRow("Ready = True", "Healthy"))[:2] == ("Progressing", "not yet: Ready = True")
    assert verdict(StatusRow("Ready = True", "Healthy"), live={})[:2] == (
        "Progressing",
        "no status has been reported yet",
    )
    assert verdict(StatusRow("Ready = True", "Healthy")).concerns[0].message == "no way"


def test_success_of_an_older_generation_is_no_success_but_in_argos_words() -> None:
    row = StatusRow("Valid = True", "Healthy")
    assert verdict(row)[:2] == ("Progressing", "Valid is of generation 2, and generation 3 is asked for")
    assert verdict(row, profile=ARGO).status == "Healthy"
    behind = {**WIDGET, "status": {"phase": "Running", "observedGeneration": 2}}
    said = verdict(StatusRow(".status.phase = Running", "Healthy"), live=behind)
    assert said[:2] == ("Progressing", "generation 3 has not been observed yet, the last one that was is 2")


def test_argos_own_word_counts_in_its_profiles() -> None:
    rows = (
        StatusRow("Ready = False", "Paused", argo="Healthy"),
        StatusRow("", "Degraded", argo="-"),
        StatusRow("", "-", argo="Unknown"),
    )
    assert (verdict(*rows).status, verdict(*rows, profile=ARGO).status) == ("Paused", "Healthy")
    assert (verdict(*rows[1:]).status, verdict(*rows[1:], profile=ARGO).status) == ("Degraded", "Unknown")


@pytest.mark.parametrize(
    "live",
    [{}, {"status": []}, {"status": {"conditions": {}}}, {"metadata": 3, "spec": "x", "status": {"conditions": [{}]}}],
)
def test_every_known_kind_answers_whatever_the_object_holds(live: dict[str, Any]) -> None:
    for family in families():
        for kind in family.kinds:
            for profile in PROFILES.values():
                found = KnownRule(kind)(live, profile)
                assert found.status in (*profile.order, "NotAssessed", "NoHealth")
                assert found.message or found.status not in ("Unknown", "NotAssessed", "NoHealth"), (
                    kind.group,
                    kind.kind,
                )


def test_every_row_of_the_table_is_right_and_has_a_source() -> None:
    assert [said for family in families() for kind in family.kinds for said in problems(kind, kind.kind)] == []
    assert [family.name for family in families() if not family.source.startswith("https://")] == []
    names = [family.name for family in families()]
    assert len(set(names)) == len(names)


def test_every_kind_that_argo_cd_knows_is_known() -> None:
    for group, kinds in ARGO_KINDS.items():
        for kind in kinds.replace("*", "Anything").split():
            named = group.replace("*", "any")
            assert is_argos(named, kind)
            assert (named, kind) in RULES or known_rule(named, kind) is not None, (named, kind)
    assert not is_argos("velero.io", "Backup")
    assert not assess_health({"apiVersion": "velero.io/v1", "kind": "Backup"}, ARGO).is_assessed


@pytest.mark.parametrize(("row", "said"), [
    ({"when": "Ready", "health": "Healthy"}, ".when: 'Ready' is no test"),
    ({"when": "", "health": "Fine"}, ".health must be one of Unknown, Missing, Degraded"),
    ({"when": "", "health": "-", "argo": "Fine"}, ".argo must be one of"),
    ({"when": "@.phase = x", "health": "Healthy"}, "@ is an item of `each`"),
    ({"when": "", "health": "Healthy", "each": "some .status.a[]"}, ".each must be a path"),
    ({"when": "", "health": "Healthy", "each": ".status.]"}, ".each: "),
    ({"when": "", "health": "Healthy", "message": "{.a]}"}, ".message: "),
])  # fmt: skip
def test_a_row_that_is_wrong_says_what_to_write(row: dict[str, str], said: str) -> None:
    [found] = problems(KnownKind("example.io", "Widget", (StatusRow(**row),)), "kinds[0]")
    assert found.startswith("kinds[0].rows[0]")
    assert said in found


def settings(rows: Any, key: str = "example.io/Widget") -> Overrides:
    return Overrides().merge({"health": {key: rows}}, "rules")


def health(overrides: Overrides, live: Any = None) -> Any:
    return assess(live or WIDGET, None, overrides, shared_runner(), now=1, is_known=False).health


def test_users_write_the_same_rows() -> None:
    rows = {"message": ".status.ratio", "rows": [{"when": ".status.phase = Running", "health": "Suspended"}]}
    assert health(settings(rows))[:2] == ("Paused", "2/3")
    assert health(settings(rows, "*.io/Wid*"))[:2] == ("Paused", "2/3")
    assert health(settings(rows, "other.io/Widget")).message == "no way"
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "status": {"phase": "Running"}}
    assert health(settings(rows, "apps/Deployment"), deployment).status == "Paused"


def test_of_a_script_and_rows_for_one_key_the_later_counts() -> None:
    rows = settings({"rows": [{"when": "", "health": "Paused"}]})
    script = rows.merge({"health": {"example.io/Widget": "return {status = 'Healthy'}"}}, "more")
    assert (health(rows).status, health(script).status) == ("Paused", "Healthy")
    assert (
        health(
            script.merge({"health": {"example.io/Widget": {"rows": [{"when": "", "health": "Missing"}]}}}, "again")
        ).status
        == "Missing"
    )


@pytest.mark.parametrize(("rows", "said"), [
    (3, "rules.health.example.io/Widget must be a script in Lua, or a map with `rows`, found int"),
    ({}, "rules.health.example.io/Widget.rows must have 1 to 100 rows, found 0"),
    ({"rows": []}, "rules.health.example.io/Widget.rows must have 1 to 100 rows, found 0"),
    ({"rows": [3]}, "rules.health.example.io/Widget.rows[0] must be a map, found int"),
    ({"rows": [{"when": "", "health": "Fine"}]}, "rows[0].health must be one of"),
    ({"rows": [{"when": "", "healthy": "Fine"}]}, "rows[0]: 'healthy' is none of when, health, argo, message, each"),
    ({"rows": [{"when": "", "health": "Healthy"}], "line": 3}, "'line' is none of rows, message"),
    ({"rows": [{"when": "Ready ~ " + "x" * 2000, "health": "Healthy"}]}, "rows[0].when: "),
])  # fmt: skip
def test_rows_of_a_user_that_are_wrong_are_refused_with_their_place(rows: Any, said: str) -> None:
    with pytest.raises(BadOverride) as error:
        settings(rows)
    assert said in str(error.value)
