"""What is generated from tables and types is up to date, and the command that makes it says what it did.

Belongs here: the files in the project against the tables. Does not: what is in them (`test_printing`, `test_schemas`).
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from phaseline.engine.surfaces import accounts_page
from phaseline.machines.docs import asyncapi, pages
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.strategies import VALUES

ROOT = Path(__file__).resolve().parents[2]


_make = pages.pages


@cache
def made() -> dict[Path, str]:
    """The pages of the built-in kinds: making them takes longer than what the tests do with them."""
    return _make(BUILT_IN_KINDS, "pl")


@pytest.fixture
def _made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command finds them made."""
    monkeypatch.setattr(pages, "pages", lambda *_: made())


def test_generated_files_are_up_to_date() -> None:
    stale = [str(path) for path in pages.stale(ROOT, made())]
    assert stale == [], f"run `{pages.COMMAND}` in the project's root and read what changed"


def test_the_page_shows_what_each_role_may_do() -> None:
    """Whoever changes a role sees it there once more. `tests/nats/test_accounts.py` tries what is not allowed."""
    assert accounts_page.tables() in (ROOT / accounts_page.PAGE).read_text(encoding="utf-8")


@pytest.mark.usefixtures("_made_once")
def test_checking_writes_nothing_and_says_what_is_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pages.main(["--check", "--to", str(tmp_path)]) == 1
    assert "stale: docs/machines.md\n" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_made_once")
def test_writing_makes_what_is_missing_wrong_or_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert pages.main(["--to", str(tmp_path)]) == 0
    assert pages.main(["--check", "--to", str(tmp_path)]) == 0
    kinds = tmp_path / "schemas/json/kinds"
    (kinds / "node.json").write_text("{}")
    (kinds / "cluster.json").unlink()
    (kinds / "spaceship.json").write_text("{}")
    capsys.readouterr()
    assert pages.main(["--to", str(tmp_path)]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == [
        f"written: schemas/json/kinds/{kind}.json" for kind in ("cluster", "node", "spaceship")
    ]
    assert pages.main(["--check", "--to", str(tmp_path)]) == 0
    assert not (kinds / "spaceship.json").exists()


def test_files_hold_the_json_that_was_made_and_no_line_is_longer_than_its_text() -> None:
    document = asyncapi.document(BUILT_IN_KINDS, "pl")
    text = made()[Path("schemas/asyncapi.json")]
    assert json.loads(text) == document
    for line in text.splitlines():
        assert len(line) <= pages.WIDTH or re.fullmatch(r' *("\w+": )?"[^"]*",?', line), line


def test_descriptions_are_the_same_with_every_python_whatever_indent_it_keeps_in_docstrings() -> None:
    for path, text in made().items():
        assert path.suffix != ".json" or "\\n " not in text, path


@given(VALUES)
def test_the_layout_of_json_keeps_every_value(value: Any) -> None:
    assert json.loads(pages.layout({"held": value})) == {"held": value}


def test_another_prefix_is_another_document(tmp_path: Path) -> None:
    pages.main(["--to", str(tmp_path), "--prefix", "acme.eu"])
    assert '"acme.eu.events.{cluster}.node.{trigger}.{pool}.{node}"' in (tmp_path / "schemas/asyncapi.json").read_text()
