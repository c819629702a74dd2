"""What the pages claim: links lead somewhere, samples are what the code makes and takes."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from phaseline.engine.core import intake
from phaseline.engine.core.intake import Arrival
from phaseline.schemas import codec, wire_codec
from phaseline.schemas.subjects import Subjects
from phaseline.schemas.version import __version__
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.house import defines, members

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
PAGES += (ROOT / "benchmarks").glob("*.md")


CONSTANTS = {"ADAPTERS"}
LINK = re.compile(r"\]\(([^)\s]*)\)")
CODE = re.compile(r"```.*?```", re.DOTALL)
SYMBOL = re.compile(r"`([\w.]+)(?:\(\))?` in\s\[[^\]]*\]\(([\w/.]+\.py)\)")


@cache
def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    found: Counter[str] = Counter()
    made = set()
    for heading in re.findall(r"^#+ (.*)$", CODE.sub("", page.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        made.add(f"{slug}-{found[slug]}" if found[slug] else slug)
        found[slug] += 1
    return made


def wrong_links(page: Path) -> list[str]:
    """The links of a page to files or headings that are not there."""
    wrong = []
    for link in LINK.findall(CODE.sub("", page.read_text())):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if "://" in link:
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_anchors_lead_somewhere(page: Path) -> None:
    assert wrong_links(page) == []


def test_wrong_links_are_found(tmp_path: Path) -> None:
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    other.write_text("# A `word`, and more\n## Same\n## Same\n```\n# no heading\n```\n")
    page.write_text(
        "# Here\n[a](other.md) [b](other.md#a-word-and-more) [c](#here) [d](other.md#same-1) [e](https://x.y#z)\n"
        "[f](none.md) [g](other.md#no-heading) [h](#there) [i](other.md#same-2)\n"
    )
    assert wrong_links(page) == ["none.md", "other.md#no-heading", "#there", "other.md#same-2"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_in_a_module_is_there(page: Path) -> None:
    """A page writes "`Kind.select` in [machines/compiler/kinds.py](...)": then that module defines it."""
    text = page.read_text()
    wrong = [f"{symbol} in {path}" for symbol, path in SYMBOL.findall(text) if not defines(page.parent / path, symbol)]
    assert wrong == []


def test_the_map_for_newcomers_names_what_it_must() -> None:
    pages = [(ROOT / "docs" / "developing" / name).read_text() for name in ("structure.md", "changes.md")]
    assert all(len(SYMBOL.findall(text)) > 10 for text in pages)
    assert not defines(ROOT / "engine/core/decide.py", "nothing")
    assert not defines(ROOT / "machines/compiler/kinds.py", "Kind.nothing")


def test_the_glossary_names_classes_that_exist() -> None:
    """A word of the glossary has its Python name in brackets: `Kind`, `State.phase`."""
    heads = re.findall(r"^\*\*[^*]+\*\*[^:]*?\(([^)]*)\)", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    named = [name for head in heads for name in re.findall(r"`([A-Z]\w*(?:\.\w+)?)`", head)]
    assert len(named) > 50
    classes = members()
    wrong = [name for name in named if not {*name.split(".")[1:]} <= classes.get(name.split(".")[0], {""}) - {""}]
    assert [name for name in wrong if name not in CONSTANTS] == []


def test_the_readme_s_events_are_taken() -> None:
    published = re.findall(r"nats pub (\S+) '(.*)'", (ROOT / "README.md").read_text())
    assert len(published) >= 2
    for subject, body in published:
        stored = subject.replace("pl.events.", "pl.inbox.0.")
        found = intake.read(BUILT_IN_KINDS, Subjects(), stored, body.encode(), 1, 1)
        assert isinstance(found, Arrival), found


def test_the_record_shown_is_a_record() -> None:
    (sample,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "design.md").read_text(), re.DOTALL)
    body = json.loads(sample)
    record = wire_codec.from_wire(body)
    again = wire_codec.to_wire(record, 0, body["data"]["cause"]["records"], body["source"], body["tableversion"])
    assert json.loads(codec.encode_json(again)) == body


def test_the_changelog_and_the_package_agree() -> None:
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()
