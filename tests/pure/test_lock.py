"""The lock of what a checkout and the image install.

Belongs here: that it has all that pyproject.toml names, and that dev.py installs by it. Does not: what dev.py lists and
says (`test_dev`), the image (`test_image`).
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dev

ROOT = Path(__file__).parents[2]
LOCKS = [dev.LOCK, *(ROOT / folder / "requirements.txt" for folder in dev.LOCKED_APART)]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_every_package_that_is_named_is_locked_within_its_range() -> None:
    locked = dev.versions_in(dev.LOCK)
    named = [Requirement(one) for one in dev.direct_requirements("dev")]
    assert {"msgspec", "hatchling", "starlette", "ruff", "nkeys"} <= {one.name for one in named}
    outside = [str(one) for one in named if locked[canonicalize_name(one.name)] not in one.specifier]
    assert not outside, "run `python3 dev.py lock`"


def test_every_package_that_is_named_has_an_oldest_version() -> None:
    """Otherwise `dev.py test --oldest` takes the first that there ever was, and proves nothing about the range."""
    named = [Requirement(one) for one in dev.direct_requirements("dev")]
    bounded = {one.name for one in named if any(part.operator in (">=", "==", "~=") for part in one.specifier)}
    assert {one.name for one in named} <= bounded


def test_every_extra_is_part_of_what_is_locked() -> None:
    everything = set(dev.direct_requirements("dev"))
    for extra in PROJECT["optional-dependencies"]:
        assert set(dev.direct_requirements(extra)) <= everything
    assert set(dev.direct_requirements("")) == {*PROJECT["dependencies"], "hatchling"}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.parent.name)
def test_every_package_has_a_version_and_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert "--index" not in text
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert entries
    for entry in entries:
        assert re.match(r"\S+==\S+ ", entry), entry
        assert "--hash=sha256:" in entry, entry


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands that an environment of the locked versions is made with."""
    commands: list[list[str]] = []

    def succeeds(command: list[str]) -> bool:
        commands.append(command)
        return True

    monkeypatch.setattr(dev, "VENV", tmp_path)
    monkeypatch.setattr(dev, "STAMP", tmp_path / "installed")
    monkeypatch.setattr(dev, "VERSIONS", "locked")
    monkeypatch.setattr(dev, "succeeds", succeeds)
    monkeypatch.setattr(dev, "program", lambda name: sys.executable if name == "python" else name)
    return commands


def holds_one(file: Path, name: str) -> bool:
    return re.fullmatch(rf"{name}==\S+( \\\n {{4}}--hash=sha256:\w{{64}})+\n", file.read_text()) is not None


def test_an_environment_is_made_by_the_lock(
    ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each package by its hash, uv too; the project itself without what it depends on."""
    dev.install("dev")
    first, all_of_it, itself = [command for command in ran if "install" in command]
    assert "--require-hashes" in first
    assert holds_one(tmp_path / "uv.txt", "uv")
    assert all_of_it[0] == "uv"
    assert {"--require-hashes", "--requirement", str(dev.LOCK)} <= set(all_of_it)
    assert {"--no-deps", "--no-build-isolation"} <= set(itself)
    assert dev.is_installed("dev")
    other = tmp_path / "requirements.txt"
    other.write_text(dev.LOCK.read_text() + "\n")
    assert dev.is_installed("dev")
    monkeypatch.setattr(dev, "LOCK", other)
    assert not dev.is_installed("dev")


def test_pip_installs_where_uv_cannot_and_a_part_of_the_lock(
    ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_uv(command: list[str]) -> bool:
        ran.append(command)
        return command[0] != "uv"

    dev.install("all")
    part = [command for command in ran if "install" in command]
    ran.clear()
    monkeypatch.setattr(dev, "succeeds", no_uv)
    dev.install("dev")
    whole = [command for command in ran if "install" in command]
    assert holds_one(tmp_path / "pip.txt", "pip")
    for first, by_lock, _ in (part, whole[2:]):
        assert "--require-hashes" in first
        assert {"--require-hashes", "--constraint", str(dev.LOCK)} <= set(by_lock)


def test_the_lock_is_renewed_with_what_stands_in_it_alone(
    ran: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """pyproject.toml names something new, which the old lock lacks: no environment of all can be made by it."""
    renewed: list[tuple[str, str]] = []

    def renew(uv: str, file: Path, *_: object) -> None:
        assert (Path(uv).parents[1] / "uv.txt").exists()
        renewed.append((Path(uv).name, file.relative_to(ROOT).as_posix()))

    def succeeds(command: list[str]) -> bool:
        (Path(command[-1]) if command[1:3] == ["-m", "venv"] else tmp_path).mkdir(exist_ok=True)
        ran.append(command)
        return True

    monkeypatch.setattr(dev, "renew", renew)
    monkeypatch.setattr(dev, "succeeds", succeeds)
    monkeypatch.setattr(dev, "is_installed", lambda _: False)
    monkeypatch.setattr(dev, "install", lambda _: pytest.fail("the old lock cannot make an environment"))
    dev.main(["lock"])
    assert renewed == [("uv", lock.relative_to(ROOT).as_posix()) for lock in LOCKS]
    assert not [command for command in ran if str(tmp_path) in command]


def test_what_changed_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    lock = tmp_path / "requirements.txt"
    lock.write_text("a==1 \\\n  --hash=sha256:1\nb==2 \\\n  --hash=sha256:1\nc==3 \\\n  --hash=sha256:1\n")
    new = "a==1 \\\n  --hash=sha256:2\nb==2.1 \\\n  --hash=sha256:1\nd==4 \\\n  --hash=sha256:1\n"

    def run(_: list[str], **__: object) -> subprocess.CompletedProcess[str]:
        lock.write_text(new)
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr("dev.subprocess.run", run)
    dev.renew("uv", lock, [])
    assert capsys.readouterr().out.splitlines() == [
        "requirements.txt: 3 packages", "  b  2 -> 2.1", "  c  3 -> (gone)", "  d  (new) -> 4",
    ]  # fmt: skip
