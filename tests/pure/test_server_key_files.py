"""The key of an own server in files: who finds it, and what is not safe."""

import json
import os
import re
import stat
from pathlib import Path

import pytest

from phaseline.engine.nats.embedded import server_key
from phaseline.schemas.errors import SetupError
from tests.support.installation import Settings
from tests.support.raising import raises


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def announced(state: Path, tmp_path: Path) -> dict[str, Path]:
    data = tmp_path / "data"
    data.mkdir()
    key = server_key.prepare(data)
    server_key.announce(4999, key)
    servers = state / "phaseline" / "servers"
    return {"key": key.path, "announcement": servers / "4999.json", "folder": servers, "data": data}


HERE = Settings(nats=("nats://127.0.0.1:4999",))


def test_the_key_is_found_for_the_own_machine_only(announced: dict[str, Path], tmp_path: Path) -> None:
    assert server_key.with_key(HERE).nkey == announced["key"]
    for url in (
        "nats://127.0.0.1:4998",
        "nats://me:word@127.0.0.1:4999",
        "nats://10.0.0.1:4999",
        "tls://127.0.0.1:4999",
    ):
        assert server_key.with_key(Settings(nats=(url,))).nkey is None
    other = tmp_path / "other"
    other.touch()
    assert server_key.with_key(Settings(nats=HERE.nats, nkey=other)).nkey == other
    assert server_key.with_key(Settings(nats=(*HERE.nats, "nats://127.0.0.1:4998"))).nkey is None
    announced["key"].unlink()
    assert server_key.with_key(HERE).nkey is None


@pytest.mark.parametrize("which", ["key", "announcement", "folder"])
def test_what_others_can_read_is_refused(announced: dict[str, Path], which: str) -> None:
    path = announced[which]
    path.chmod(mode(path) | 0o044)
    with raises(
        SetupError.key_unreadable,
        match=re.escape(f"{path}: it is open to other users (mode 0{mode(path):o}); run `chmod"),
    ):
        server_key.with_key(HERE)


def test_a_link_or_garbage_in_place_of_a_file_is_refused(announced: dict[str, Path], tmp_path: Path) -> None:
    moved = announced["key"].rename(tmp_path / "moved")
    announced["key"].symlink_to(moved)
    with raises(SetupError.key_unreadable, match="is a link"):
        server_key.with_key(HERE)
    announced["key"].unlink()
    announced["key"].touch(mode=0o600)
    with raises(SetupError.key_unreadable, match="holds no key"):
        server_key.prepare(announced["data"])
    announced["announcement"].write_text("[]")
    with raises(SetupError.key_unreadable, match="cannot be read"):
        server_key.with_key(HERE)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("which", ["key", "announcement", "folder", "data"])
def test_what_belongs_to_somebody_else_is_refused(announced: dict[str, Path], which: str) -> None:
    os.chown(announced[which], 12345, -1)
    with raises(SetupError.key_unreadable, match=re.escape("belongs to another user (uid 12345)")):
        server_key.prepare(announced["data"]) if which == "data" else server_key.with_key(HERE)


def test_only_the_own_announcement_is_taken_back(announced: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "two"
    other.mkdir()
    second = server_key.prepare(other)
    server_key.withdraw(4999, second)
    assert json.loads(announced["announcement"].read_text())["nkey"] == str(announced["key"])
    server_key.announce(4999, second)
    assert server_key.with_key(HERE).nkey == second.path
    server_key.withdraw(4999, second)
    assert not announced["announcement"].exists()
