"""Health rules in Python, offered by an installed package."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.sandbox import shared
from phaseline.machines.assessing import assessed
from phaseline.machines.customs import Customs
from phaseline.machines.health.offered import offered
from tests.support.manifests import deployment, kubernetes_object

RULES = """
def widget(live):
    blades = live["spec"]["blades"]
    return None if blades == 0 else ("Suspended" if blades == 1 else "Fine" if blades == 2 else "Healthy", f"{blades} blades")

def deployment(live):
    return "Degraded", "nobody likes it"
"""
POINTS = "[phaseline.health]\nexample.io/Widget = my_rules:widget\napps/Deployment = my_rules:deployment\n"


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "my_rules.py").write_text(RULES)
    info = tmp_path / "my_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    offered.cache_clear()
    yield
    offered.cache_clear()
    sys.modules.pop("my_rules", None)


def health(found: dict[str, Any], customs: Customs | None = None) -> Any:
    return assessed(found, None, customs or Customs(), shared(), now=1, is_known=False).health


@pytest.mark.usefixtures("rules")
def test_a_rule_is_asked_and_its_mistakes_are_told() -> None:
    assert health(kubernetes_object("example.io/v1", "Widget", spec={"blades": 3})) == ("Healthy", "3 blades")
    assert health(kubernetes_object("example.io/v1", "Widget", spec={"blades": 1})) == ("Paused", "1 blades")
    assert health(kubernetes_object("example.io/v1", "Widget", spec={"blades": 0})) is None
    assert health(kubernetes_object("example.io/v1", "Widget", spec={"blades": 2})).message.startswith(
        "health rule: 'Fine' is no health"
    )
    assert health(kubernetes_object("example.io/v1", "Widget")) == ("Unknown", "health rule: KeyError: 'spec'")


@pytest.mark.usefixtures("rules")
def test_a_script_comes_first_and_what_is_built_in_last() -> None:
    assert health(deployment()) == ("Degraded", "nobody likes it")
    assert health(deployment(), Customs(scripts={"apps/Deployment": "return {status = 'Missing'}"})) == ("Missing", "")
    assert health(deployment(metadata={"deletionTimestamp": "now"})).message == "Pending deletion"


def test_without_any() -> None:
    offered.cache_clear()
    assert health(deployment()) == ("Healthy", "")
