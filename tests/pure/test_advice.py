"""What to do about states: each that calls for something says so, in the tables and on the pages."""

from pathlib import Path

import pytest

from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.classes.state_classes import class_of_label
from phaseline.machines.compiler.kinds import Kinds, table_of
from phaseline.machines.compiler.labels import advice_of, message_of, phase_meant
from phaseline.machines.kinds.gitops.application import APPLICATION
from phaseline.machines.language.table import Facet, Label, Table, advice, advised
from phaseline.schemas.records import FacetState, state
from tests.support.built_in_kinds import BUILT_IN_KINDS, KINDS_OF_PRODUCT

SPEC = Path(__file__).parents[2] / "docs" / "spec"
PAGE_OF = {kind: page for page, kinds in KINDS_OF_PRODUCT.items() for kind in kinds}
NAMED = ("Unknown", "Missing", "Degraded", "Paused", "SyncFailed", "OutOfSync")
HEALTH, SYNC = APPLICATION.facets


@pytest.mark.parametrize("table", [*map(table_of, BUILT_IN)], ids=lambda table: table.kind)
def test_each_state_that_is_wrong_says_what_to_do(table: Table) -> None:
    page = "".join((SPEC / f"{name}.md").read_text() for name in {PAGE_OF[table.kind], "gitops"})  # healths are there
    for facet in BUILT_IN_KINDS[table.kind].table.facets:
        for label in facet.labels:
            if class_of_label(facet, label) == "bad" or label.phase in NAMED:
                assert set(label.advice) == {"en", "zh"}, (facet.name, label)
            if label.advice and facet.name != "contact":
                names = (str(state(label.phase, (label.condition or "",))), label.condition, label.phase)
                texts = f"| {label.advice['zh']} | {label.advice['en']} |"
                assert any(f" | {name} {texts}" in page for name in names), (facet.name, label)


@pytest.mark.parametrize("table", [*map(table_of, BUILT_IN)], ids=lambda table: table.kind)
def test_advice_to_create_again_says_what_has_to_end_first(table: Table) -> None:
    kind = BUILT_IN_KINDS[table.kind]
    for index, facet in enumerate(kind.table.facets):
        for label in facet.labels:
            said = label.advice.get("en", "")
            takes = kind.machines[index].steps.get("create", {}).get(label.phase, ()) if "create" in kind.roles else ()
            if "create" in said.lower() and "again" in said:
                assert takes or "delete" in said, (facet.name, label)


def test_advice_is_chosen_by_state_then_condition_then_phase() -> None:
    texts = advice(("Off [Hot]", "cool it", "冷却"), ("Hot", "fan", "风扇"), ("Off", "on", "开"))
    labels = (Label("Off", "Hot", "x"), Label("On", "Hot", "x"), Label("Off", "Cold", "x"), Label("On", "Cold", "x"))
    assert [one.advice.get("en") for one in advised(texts, labels)] == ["cool it", "fan", "on", None]


def test_advice_is_given_in_the_language_that_was_asked_for() -> None:
    assert advice_of(HEALTH, state("Missing")).startswith("Synchronise, or apply")
    assert advice_of(HEALTH, state("Missing"), "zh").startswith("执行同步")
    assert advice_of(HEALTH, state("Missing"), "fr") == advice_of(HEALTH, state("Missing"))
    assert advice_of(HEALTH, state("Healthy")) == ""


def test_labels_and_advice_change_no_version() -> None:
    plain = Kinds((Table(kind="lamp", id=("lamp",), intents=("on",), facets=(lamp(),)),))
    told = Kinds((Table(kind="lamp", id=("lamp",), intents=("on",), facets=(lamp({"en": "change the bulb"}),)),))
    assert plain.versions == told.versions


def lamp(said: dict[str, str] | None = None) -> Facet:
    from phaseline.machines.language.table import ABSENT, DELETED, LIVE, Row

    rows = (Row((ABSENT,), "on", "On"), Row((LIVE,), "broken", DELETED))
    return Facet(name="phase", labels=(Label("On", None, "On", advice=said or {}),), rows=rows, healthy="On")


def test_a_phase_may_be_named_by_an_alias() -> None:
    assert phase_meant(BUILT_IN_KINDS, None, "Suspended") == "Paused"
    assert phase_meant(BUILT_IN_KINDS, "resource", "Processing") == "Progressing"
    assert phase_meant(BUILT_IN_KINDS, "node", "Suspended") == "Suspended"
    assert phase_meant(BUILT_IN_KINDS, None, "Healthy") == "Healthy"
    assert phase_meant(BUILT_IN_KINDS, "no_such_kind", None) is None


def test_a_message_is_about_what_is_shown() -> None:
    told = {"health_message": "no ACL", "reported_health": "Degraded"}
    shown = FacetState(state("NotAssessed"), state("Degraded"), 0)
    assert message_of(HEALTH, "application", told, shown) == "no ACL"
    assert message_of(HEALTH, "application", told, FacetState(state("NotAssessed"), state("Missing"), 0)) == ""
    assert message_of(HEALTH, "application", told, FacetState(state("NotAssessed"), state("NotAssessed"), 0)) == ""
