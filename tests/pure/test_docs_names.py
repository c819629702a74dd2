"""What the pages name is there: methods, errors, extras, laws, profiles.

Belongs here: names that a page lists. Does not: what its samples do (`tests/process/test_docs_run.py`), links
(`test_docs`).
"""

import re
import tomllib
from pathlib import Path

import phaseline
from phaseline import testing
from phaseline.engine.products.notices.given_rules import GivenRules
from phaseline.engine.surfaces.cli import MOVED
from phaseline.engine.surfaces.testing.laws import LAWS
from phaseline.engine.surfaces.testing.replay import Replayed
from phaseline.engine.surfaces.testing.scenario import Then
from phaseline.machines.kinds.kubernetes.profiles import PROFILES

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_what_the_page_on_the_client_names_is_there() -> None:
    text = page("client.md")
    for name in re.findall(r"`errors\.(\w+)`|\(`(\w+)`, `(\w+)`, `(\w+)`", text):
        for word in filter(None, name):
            assert hasattr(phaseline.errors, word), word
    for path in re.findall(r"\bclient\.([\w.]+)\(", text):
        names = path.split(".")
        owner = phaseline.Client if len(names) == 1 else getattr(getattr(phaseline, names[0]), names[0].capitalize())
        assert hasattr(owner, names[-1]) or hasattr(phaseline.sync.Client, path), path
    for extra in re.findall(r"phaseline\[(\w+)\]", text):
        assert extra in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for word in re.findall(r"phaseline\.([A-Za-z]\w+)", text.replace("phaseline.errors", "")):
        assert hasattr(phaseline, word), word


def test_no_page_calls_a_command_by_its_former_name() -> None:
    former = "|".join(" ".join(words) for words in MOVED)
    called = re.compile(
        rf"`(?:phaseline )?(?:{former}) (?:-[^`]*|add|config|list|remove)`|(?<!import )phaseline (?:{former})\b"
    )
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert not called.findall(text), (path.name, called.findall(text))


def test_the_methods_and_laws_of_the_test_kit_are_there() -> None:
    text = page("testing.md")
    laws = text.partition("## Laws")[2].partition("\n## ")[0]
    listed = [re.sub(r"[,]", "", law) for law in re.findall(r"^\| ([a-z ,]+) \| ", laws, re.MULTILINE)]
    assert listed[1:] == [law.__name__.replace("_", " ") for law in LAWS]
    for word in re.findall(r"`(\w+)\(", text.partition("## Given")[2]):
        assert word in testing.__all__ or any(hasattr(one, word) for one in (Then, Replayed, GivenRules)), word


def test_the_profiles_of_the_page_are_those_there_are() -> None:
    row = next(line for line in page("gitops.md").splitlines() if line.startswith("| health, worst first"))
    cells = [cell.strip() for cell in row.split("|")[2:4]]
    for cell, profile in zip(cells, (PROFILES["alauda"], PROFILES["argocd"]), strict=True):
        assert cell == ", ".join(profile.called(health) for health in profile.order)
