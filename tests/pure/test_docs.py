"""What the pages claim: links lead somewhere, samples are what the code makes and takes."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import dev
from phaseline.engine.core import intake
from phaseline.engine.core.intake import Arrival
from phaseline.machines.built_in import BUILT_IN
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.subjects import Subjects

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
PAGES += (ROOT / "benchmarks").glob("*.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_the_readme_s_events_are_taken() -> None:
    published = re.findall(r"nats pub (\S+) '(.*)'", (ROOT / "README.md").read_text())
    assert len(published) >= 2
    for subject, body in published:
        stored = subject.replace("pl.events.", "pl.inbox.0.")
        found = intake.read(Kinds(BUILT_IN), Subjects(), stored, body.encode(), 1, 1)
        assert isinstance(found, Arrival), found


def test_the_record_shown_is_a_record() -> None:
    (sample,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "design.md").read_text(), re.DOTALL)
    body = json.loads(sample)
    record = wire_codec.from_wire(body)
    again = wire_codec.to_wire(record, 0, body["data"]["cause"]["records"], body["source"], body["tableversion"])
    assert json.loads(codec.encode_json(again)) == body


def test_the_changelog_and_the_package_agree() -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    assert f"## {version[1]}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("name", sorted(dev.COMMANDS))
def test_what_dev_py_runs_is_there(name: str) -> None:
    _, _, command = dev.COMMANDS[name]
    if command[:2] == ["python", "-m"]:
        assert find_spec(command[2]) is not None
