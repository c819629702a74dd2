"""The command `phaseline kinds new`: the package that it writes works as it is written; wrong names are answered.

Belongs here: the package and the errors. Does not: the table language.
"""

import importlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phaseline.tables import Kinds
from tests.support.command_line import cli
from tests.support.command_line import package as files_of

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "new_kind"


def new_kind(*words: str) -> Result:
    return CliRunner().invoke(cli, ["kinds", "new", *words])


@pytest.fixture(scope="module", params=["rack", "backup_job"])
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example itself, and what the command makes of it."""
    if request.param == "rack":
        return EXAMPLE
    folder = tmp_path_factory.mktemp("new") / "package"
    said = new_kind("backup_job", "--path", str(folder))
    assert said.exit_code == 0, said.output
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert f"written: {folder}/backup_job_kind/table.py\n" in said.output
    assert found == [
        "README.md", "backup_job_kind/__init__.py", "backup_job_kind/py.typed", "backup_job_kind/table.py",
        "pyproject.toml", "tests/test_backup_job.py",
    ]  # fmt: skip
    return folder


def kind_of(package: Path) -> str:
    [table] = package.glob("*_kind/table.py")
    return table.parent.name.removesuffix("_kind")


@pytest.fixture
def importable(package: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(package))
    monkeypatch.syspath_prepend(str(package / "tests"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield package
    kind = kind_of(package)
    for name in (f"test_{kind}", f"{kind}_kind", f"{kind}_kind.table"):
        sys.modules.pop(name, None)


def test_its_own_tests_pass(importable: Path) -> None:
    tests = vars(importlib.import_module(f"test_{kind_of(importable)}"))
    found = [test for name, test in tests.items() if name.startswith("test_")]
    assert len(found) == 6
    for test in found:
        test()


def test_its_entry_point_leads_to_its_table(importable: Path) -> None:
    [group] = tomllib.loads((importable / "pyproject.toml").read_text())["project"]["entry-points"].values()
    module, _, name = group[kind_of(importable)].partition(":")
    assert list(Kinds((getattr(importlib.import_module(module), name),))) == [kind_of(importable)]


def test_ruff_has_nothing_to_say(package: Path) -> None:
    for words in (["check", "--no-cache"], ["format", "--check", "--no-cache"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words], cwd=package, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_mypy_has_nothing_to_say(package: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null", f"{kind_of(package)}_kind", "tests"]
    done = subprocess.run(command, cwd=package, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_nothing_of_the_example_is_left() -> None:
    made = {path: text for path, text in files_of("zebra").items() if "rack" in (path + text).lower()}
    assert not made
    assert 'name = "my-tape-kind"' in files_of("my_tape")["pyproject.toml"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "BackupJob",
            "'BackupJob' cannot be a kind (did you mean backup_job?): write lower-case letters, digits and _",
        ),
        ("backup-job", "'backup-job' cannot be a kind (did you mean backup_job?)"),
        ("backup job", "(did you mean backup_job?)"),
        ("9lives", "'9lives' cannot be a kind: write lower-case letters, digits and _, a letter first"),
        ("备份", "cannot be a kind: write lower-case letters"),
        ("node", "there is a built-in kind 'node': choose another name, such as my_node"),
        ("class", "'class' has a meaning already: choose another name, such as my_class"),
        ("checkpoint", "'checkpoint' has a meaning already"),
    ],
)
def test_a_wrong_name_is_answered(name: str, says: str, tmp_path: Path) -> None:
    said = new_kind(name, "--path", str(tmp_path / "new"))
    assert said.exit_code == 2
    assert says in said.output
    assert not (tmp_path / "new").exists()


def test_what_is_there_is_not_overwritten(package: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder, says in (
        (package, "exists and is not empty: remove it, or name another one with --path"),
        (tmp_path / "file", "is a file: name a folder"),
    ):
        said = new_kind("backup_job", "--path", str(folder))
        assert said.exit_code == 2
        assert says in said.output
    (tmp_path / "empty").mkdir()
    assert new_kind("backup_job", "--path", str(tmp_path / "empty")).exit_code == 0
