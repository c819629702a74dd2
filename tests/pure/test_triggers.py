"""Triggers as names: those of the tables that publishers may send, and no others; for kinds of packages too."""

import pytest

import phaseline
from phaseline.machines.docs import triggers
from phaseline.tables import ABSENT, Facet, Kinds, Label, Row, Table, Timeout
from tests.support.built_in_kinds import BUILT_IN_KINDS


def named(space: object) -> set[tuple[str, str]]:
    return {found for name in dir(space) if isinstance(found := getattr(space, name), phaseline.triggers.Trigger)}


@pytest.mark.parametrize("name", BUILT_IN_KINDS)
def test_each_trigger_that_may_be_sent_is_a_name(name: str) -> None:
    roles = BUILT_IN_KINDS[name].roles
    assert named(getattr(phaseline.triggers, name)) == {(name, one) for one, role in roles.items() if role != "derived"}


def test_a_kind_of_a_package_gets_a_module_of_its_own() -> None:
    table = Table(
        kind="lamp",
        id=("lamp",),
        intents=("import",),
        derived=("burn_out",),
        facets=(
            Facet(
                name="phase",
                labels=(Label("On", "Ok", "On"), Label("Off", "Ok", "Off")),
                rows=(Row((ABSENT, "Off"), "import", "On"), Row(("On",), "burn_out", "Off")),
                timeouts=(Timeout("On", "burn_out", 1.0),),
            ),
        ),
    )
    text = triggers.module(Kinds((table,)).values())
    found: dict[str, object] = {}
    exec(text, found)
    lamp = found["lamp"]
    assert ("lamp", "import") in named(lamp)
    assert "burn_out" not in dir(lamp)
    assert found["__all__"] == ["lamp"]
    assert text.startswith('"""The triggers of kinds as names: `publish(*lamp.')
