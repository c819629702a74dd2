"""Health rules in Python, offered by an installed package."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.sandbox import shared
from phaseline.machines.kubernetes.assess import assess
from phaseline.machines.kubernetes.health.plugins import plugin_rules
from phaseline.machines.kubernetes.overrides import Overrides
from tests.support.manifests import deployment, made

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
    plugin_rules.cache_clear()
    yield
    plugin_rules.cache_clear()
    sys.modules.pop("my_rules", None)


def health(found: dict[str, Any], overrides: Overrides | None = None) -> Any:
    return assess(found, None, overrides or Overrides(), shared(), now=1, is_known=False).health


@pytest.mark.usefixtures("rules")
def test_a_rule_is_asked_and_its_mistakes_are_told() -> None:
    assert health(made("example.io/v1", "Widget", spec={"blades": 3})) == ("Healthy", "3 blades")
    assert health(made("example.io/v1", "Widget", spec={"blades": 1})) == ("Paused", "1 blades")
    assert health(made("example.io/v1", "Widget", spec={"blades": 0})) is None
    assert health(made("example.io/v1", "Widget", spec={"blades": 2})).message.startswith(
        "health rule: 'Fine' is no health"
    )
    assert health(made("example.io/v1", "Widget")) == ("Unknown", "health rule: KeyError: 'spec'")


@pytest.mark.usefixtures("rules")
def test_a_script_comes_first_and_what_is_built_in_last() -> None:
    assert health(deployment()) == ("Degraded", "nobody likes it")
    assert health(deployment(), Overrides(scripts={"apps/Deployment": "return {status = 'Missing'}"})) == (
        "Missing",
        "",
    )
    assert health(deployment(metadata={"deletionTimestamp": "now"})).message == "Pending deletion"


def test_without_any() -> None:
    plugin_rules.cache_clear()
    assert health(deployment()) == ("Healthy", "")
