"""What is generated from tables and types is up to date, and the command that makes it says what it did.

Belongs here: the files in the project against the tables. Does not: what is in them (`test_printing`, `test_schemas`).
"""

from pathlib import Path

import pytest

from phaseline.machines import generate
from phaseline.machines.kinds import Kinds

ROOT = Path(__file__).resolve().parents[2]


def test_generated_files_are_up_to_date() -> None:
    stale = [str(path) for path in generate.stale(ROOT, generate.pages(Kinds(), "pl"))]
    assert stale == [], f"run `{generate.COMMAND}` in the project's root and read what changed"


def test_checking_writes_nothing_and_says_what_is_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--check", "--to", str(tmp_path)]) == 1
    assert "stale: docs/machines.md\n" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_writing_makes_what_is_missing_wrong_or_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate.main(["--to", str(tmp_path)]) == 0
    assert generate.main(["--check", "--to", str(tmp_path)]) == 0
    events = tmp_path / "schemas/json/events"
    (events / "node.created.json").write_text("{}")
    (events / "node.deleted.json").unlink()
    (events / "node.exploded.json").write_text("{}")
    capsys.readouterr()
    assert generate.main(["--to", str(tmp_path)]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == [
        f"written: schemas/json/events/node.{trigger}.json" for trigger in ("created", "deleted", "exploded")
    ]
    assert generate.main(["--check", "--to", str(tmp_path)]) == 0
    assert not (events / "node.exploded.json").exists()


def test_another_prefix_is_another_document(tmp_path: Path) -> None:
    generate.main(["--to", str(tmp_path), "--prefix", "acme.eu"])
    assert '"acme.eu.events.{cluster}.node.{trigger}.{pool}.{node}"' in (tmp_path / "schemas/asyncapi.json").read_text()
