"""What `python3 dev.py release` reads and writes: versions, the changelog, the image's steps, its verdicts.

Belongs here: its parts without building anything. Does not: a whole check, which people run before a release; what the
wheel can do (`test_package`).
"""

import re
import shutil
from pathlib import Path

import pytest

from phaseline.schemas.version import __version__
from tests.support.release import __main__ as release
from tests.support.release import deployables, state, versions
from tests.support.release.outcome import NotChecked, Release, ToDo, Wrong

ROOT = Path(__file__).parents[2]
NEXT = "2.5.0rc1"


@pytest.fixture
def present(tmp_path: Path) -> Release:
    return Release(__version__, tmp_path, tmp_path)


def test_the_version_stands_everywhere(present: Release) -> None:
    assert versions.check(present).startswith(f"{__version__} in ")
    found = [file for file, _ in versions.places()]
    assert {versions.ORIGIN, "compose.yaml", "Dockerfile", "docs/deploy.md"} <= set(found)
    for pattern, _ in versions.COPIES:
        assert [path for path in ROOT.glob(pattern) if path.relative_to(ROOT).as_posix() in found], pattern


def test_a_version_is_written_everywhere(present: Release, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = {path for pattern, _ in versions.COPIES for path in ROOT.glob(pattern)}
    for path in files:
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    changed = versions.write(NEXT)
    assert {version for _, version in versions.places()} == {NEXT}
    assert {path for path in changed if path.startswith("deploy/helm")} == {"deploy/helm/phaseline/Chart.yaml"}
    with pytest.raises(Wrong, match=f"Dockerfile has {NEXT}"):
        versions.check(present)
    left = [name for path in files if __version__ in (tmp_path / (name := path.relative_to(ROOT))).read_text()]
    assert left == []
    assert versions.write(NEXT) == []


@pytest.mark.parametrize("version", ["1", "v1.0.0", "1.0.0-beta", "latest", ""])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(Wrong, match="is no version"):
        versions.write(version)


CHANGES = "# Changelog\n\n## 0.2.0 - {}\n\n### New\n\n- a\n\n## 0.1.0 - 2026-01-01\n\n- b\n"


@pytest.mark.parametrize(
    ("date", "version", "outcome", "said"),
    [
        ("2026-12-31", "0.2.0", None, "0.2.0 of 2026-12-31, 4 words"),
        ("unreleased", "0.2.0", ToDo, "write the date in place of `unreleased`"),
        ("soon", "0.2.0", Wrong, "'soon' behind 0.2.0"),
        ("2026-12-31", "0.3.0", Wrong, "has no section `## 0.3.0 - DATE`"),
    ],
)
def test_the_changelog_has_a_section_with_a_date(
    date: str, version: str, outcome: type[Exception] | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "CHANGELOG.md").write_text(CHANGES.format(date))
    monkeypatch.setattr(state, "ROOT", tmp_path)
    asked = Release(version, tmp_path, tmp_path)
    if outcome is None:
        assert state.changelog(asked) == said
        return
    with pytest.raises(outcome, match=re.escape(said)):
        state.changelog(asked)


def test_the_steps_of_the_image_can_run_in_a_folder() -> None:
    """Nothing of them writes outside: each absolute path is one that a folder stands for."""
    steps = deployables.steps((ROOT / "Dockerfile").read_text(), Path("/made"))
    paths = set(re.findall(r"(?<=[ '\"])/[\w./*-]+", steps))
    assert {re.match(r"/\w*", path)[0] for path in paths if not path.startswith("/^")} == {"/made"}  # type: ignore[index]
    assert "requirements.txt" in deployables.context_names((ROOT / ".dockerignore").read_text())


@pytest.mark.parametrize(
    ("raised", "verdict"),
    [(None, "right"), (Wrong("why"), "WRONG"), (ToDo("why"), "to do"), (NotChecked("why"), "not checked")],
)
def test_a_check_has_a_verdict_and_words(raised: Exception | None, verdict: str, present: Release) -> None:
    def check(_: Release) -> str:
        if raised is not None:
            raise raised
        return "why"

    assert release.verdict(check, present) == (verdict, "why")


def test_the_page_names_every_check() -> None:
    page = (ROOT / "docs" / "developing" / "releases.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [name for name, _ in release.CHECKS]
