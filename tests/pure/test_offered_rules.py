"""Health rules in Python, offered by an installed package."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.kubernetes.assess import assess
from phaseline.machines.kinds.kubernetes.health.plugins import plugin_rules, revisions
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.language.rules import Revision
from tests.support.manifests import deployment, kubernetes_object

RULES = """
from phaseline.machines.language.rules import Revision, rule

@rule("acme.widget", revision=REVISION, uses=(Revision("acme.blades", 1),))
def widget(live):
    blades = live["spec"]["blades"]
    return None if blades == 0 else ("Suspended" if blades == 1 else "Fine" if blades == 2 else "Healthy", f"{blades} blades")

def deployment(live):
    return "Degraded", "nobody likes it"
"""
POINTS = "[phaseline.health]\nexample.io/Widget = my_rules:widget\napps/Deployment = my_rules:deployment\n"


def install(folder: Path, rules: str = RULES, revision: int = 1, version: str = "1.0") -> None:
    """An installed package with these rules, in the place of another one."""
    (folder / "my_rules.py").write_text(rules.replace("REVISION", str(revision)))
    info = folder / "my_rules.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: my-rules\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(POINTS)
    sys.modules.pop("my_rules", None)
    importlib.invalidate_caches()
    plugin_rules.cache_clear()


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    install(tmp_path)
    yield tmp_path
    plugin_rules.cache_clear()
    sys.modules.pop("my_rules", None)


def health(found: dict[str, Any], overrides: Overrides | None = None) -> Any:
    return assess(found, None, overrides or Overrides(), shared_runner(), now=1, is_known=False).health


def said(*given: Any) -> tuple[str, str]:
    status, message, *_ = health(*given)
    return status, message


@pytest.mark.usefixtures("rules")
def test_a_rule_is_asked_and_its_mistakes_are_told() -> None:
    assert said(kubernetes_object("example.io/v1", "Widget", spec={"blades": 3})) == ("Healthy", "3 blades")
    assert said(kubernetes_object("example.io/v1", "Widget", spec={"blades": 1})) == ("Paused", "1 blades")
    assert health(kubernetes_object("example.io/v1", "Widget", spec={"blades": 0})).status == "NotAssessed"
    assert health(kubernetes_object("example.io/v1", "Widget", spec={"blades": 2})).message.startswith(
        "health rule: 'Fine' is no health"
    )
    assert said(kubernetes_object("example.io/v1", "Widget")) == ("Unknown", "health rule: KeyError: 'spec'")


@pytest.mark.usefixtures("rules")
def test_a_script_comes_first_and_what_is_built_in_last() -> None:
    assert said(deployment()) == ("Degraded", "nobody likes it")
    assert said(deployment(), Overrides(scripts={"apps/Deployment": "return {status = 'Missing'}"})) == (
        "Missing",
        "",
    )
    assert health(deployment(metadata={"deletionTimestamp": "now"})).message == "being deleted since now"


def test_without_any() -> None:
    plugin_rules.cache_clear()
    runs = {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}
    assert said({**deployment(), "status": runs}) == ("Healthy", "")


def versions() -> dict[str, str]:
    return Kinds(BUILT_IN).versions


def changed(before: dict[str, str]) -> list[str]:
    """The kinds whose version is another one now."""
    now = versions()
    return [kind for kind in now if now[kind] != before[kind]]


def test_their_revisions_are_part_of_the_versions_of_the_tables_that_ask_them(rules: Path) -> None:
    found = versions()
    assert set(revisions()) == {
        Revision("example.io/Widget: acme.widget", 1),
        Revision("example.io/Widget: acme.blades", 1),
        Revision("apps/Deployment: my-rules", "1.0"),
    }
    install(rules, RULES.replace("def widget", "def other").replace("return None", "other = None; return None"))
    (rules / "my_rules.py").write_text((rules / "my_rules.py").read_text() + "\nwidget = other\n")
    assert changed(found) == []
    install(rules, revision=2)
    assert changed(found) == ["bundle_resource", "owned_object", "resource"]


def test_one_that_declares_nothing_has_the_version_of_its_distribution(rules: Path) -> None:
    found = versions()
    install(rules, version="1.1")
    assert changed(found) == ["bundle_resource", "owned_object", "resource"]
    install(rules, version="1.0")
    assert changed(found) == []


def test_without_them_the_versions_are_others(rules: Path) -> None:
    found = versions()
    (rules / "my_rules.dist-info" / "entry_points.txt").write_text("")
    plugin_rules.cache_clear()
    assert changed(found) == ["bundle_resource", "owned_object", "resource"]
