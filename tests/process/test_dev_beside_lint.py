"""`python3 dev.py test` runs its checks beside the tests: the exit code is that of the tests, unless a check fails.

Belongs here: both at once, with programs in their place, and a checkout in which nothing can run. Does
not: what dev.py lists and says (`test_dev`).
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dev

ROOT = Path(__file__).parents[2]
ENDLESS = "import time; time.sleep(600)"


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(dev, "program", lambda _: sys.executable)
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def ended(monkeypatch: pytest.MonkeyPatch, check: str, tests: str) -> object:
    """The exit code of `dev.py test`, whose check and tests run these programs."""
    monkeypatch.setattr(dev, "LINT", (["check", "-c", check],))
    with pytest.raises(SystemExit) as found:
        dev.run_beside_lint(["tests", "-c", tests])
    return found.value.code


@pytest.mark.parametrize("code", [0, 5])
def test_the_code_is_that_of_the_tests(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], code: int
) -> None:
    assert ended(monkeypatch, "print('fine')", f"print('tested'); raise SystemExit({code})") == code
    assert capfd.readouterr().out == "tested\n"


FAILS = "import sys; print(sys.argv[1:]); raise SystemExit(1)"
PASSES = "import sys; print(sys.argv[1:])"


def test_the_types_of_tests_are_checked_by_check_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mypy = tmp_path / "mypy"
    mypy.write_text(f"#!{sys.executable}\n{FAILS}")
    mypy.chmod(0o755)
    monkeypatch.setattr(dev, "program", lambda name: str(mypy) if name == "mypy" else sys.executable)
    monkeypatch.setattr(dev, "LINT", (["mypy"],))
    for run in (dev.lint, lambda: dev.run_beside_lint(["tests", "-c", ENDLESS])):
        with pytest.raises(SystemExit):
            run()
    assert capfd.readouterr().out.splitlines() == ["[]", str([*dev.PRODUCT])]


@pytest.mark.parametrize(
    ("failed", "alone", "code"),
    [(["a", "b"], PASSES, 0), (["a"], FAILS, 1), (["a", "b", "c", "d"], PASSES, 1), ([], PASSES, 1)],
    ids=["pass alone", "fail alone too", "too many", "none is named"],
)
def test_a_few_that_failed_run_once_more_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failed: list[str], alone: str, code: int
) -> None:
    again = tmp_path / "again"
    again.write_text(f"#!{sys.executable}\n{alone}")
    again.chmod(0o755)
    monkeypatch.setattr(dev, "program", lambda name: str(again) if name == "pytest" else sys.executable)
    monkeypatch.setattr(dev, "LAST_FAILED", tmp_path / "lastfailed")
    dev.LAST_FAILED.write_text(json.dumps(dict.fromkeys(failed, True)))
    assert ended(monkeypatch, "print('fine')", "raise SystemExit(1)") == code


def test_tests_that_pass_alone_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    again = tmp_path / "again"
    again.write_text(f"#!{sys.executable}\n{PASSES}")
    again.chmod(0o755)
    monkeypatch.setattr(dev, "program", lambda _: str(again))
    monkeypatch.setattr(dev, "LAST_FAILED", tmp_path / "lastfailed")
    dev.LAST_FAILED.write_text('{"tests/b.py::two": true, "tests/a.py::one": true}')
    assert dev.run_alone() == 0
    said = capfd.readouterr()
    assert said.out == "['-n0', 'tests/b.py::two', 'tests/a.py::one']\n"
    assert said.err.endswith("depend on what runs beside them; mend them: tests/a.py::one tests/b.py::two\n")


def test_a_check_that_fails_ends_the_tests(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert ended(monkeypatch, "print('wrong'); raise SystemExit(1)", ENDLESS) == 1
    said = capfd.readouterr()
    assert said.out == "wrong\n"
    assert "failed: check -c" in said.err


def test_a_checkout_without_links_is_told_so(tmp_path: Path) -> None:
    """Git writes a link as a file where it can make none."""
    package = tmp_path / "src" / "phaseline"
    package.mkdir(parents=True)
    (package / "engine").write_text("../../engine")
    for name in ("dev.py", "pyproject.toml", "requirements.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        [sys.executable, "dev.py", "check"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("dev.py: src/phaseline/engine is no link to the folder engine: this checkout has no")
    assert not [*tmp_path.glob(".venv*")]
