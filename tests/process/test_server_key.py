"""`up` belongs to its user: who has no key is refused, and the user's own commands find the key by themselves."""

import asyncio
import json
import os
import re
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import phaseline
from phaseline.engine.nats.embedded import server_key
from phaseline.schemas.errors import SetupError
from tests.support.command import LIMIT, Shell, line_with, process
from tests.support.installation import EmbeddedServer, Settings, Wire
from tests.support.raising import raises


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state directory of this test's user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@asynccontextmanager
async def up(state: Path, *words: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """A running system and its URL."""
    shell = Shell(XDG_STATE_HOME=str(state))
    started = await shell.start("up", "--port", "0", *words)
    try:
        found = re.search(r"nats://\S+\d", await line_with(started.stderr, "listens on"))
        assert found
        yield started, found[0]
    finally:
        started.send_signal(signal.SIGINT)
        await asyncio.wait_for(started.communicate(), LIMIT)
    assert started.returncode == 0


async def refused(url: str) -> str:
    """The error of a connection without a key."""
    with raises(SetupError.user_refused) as caught:
        async with Wire.open(Settings(nats=(url,))):
            pass
    return str(caught.value)


async def test_only_the_user_who_started_it_may_connect(tmp_path: Path, state: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)  # an existing directory without a key gets one
    mine = Shell(XDG_STATE_HOME=str(state))
    async with up(state, "--data", str(data)) as (_, url):
        assert "takes only users that it knows" in await refused(url)
        key = data / "phaseline.nk"
        assert (mode(data), mode(key)) == (0o700, 0o600)
        announced = state / "phaseline" / "servers" / f"{url.rpartition(':')[2]}.json"
        assert (mode(announced.parent), mode(announced)) == (0o700, 0o600)
        assert key.read_text().strip() not in announced.read_text() + (data / "nats-server.conf").read_text()

        done = await mine("publish", "--nats", url, "cluster", "create", "c1", "--wait", "--json")
        assert done.code == 0, done.err
        async with phaseline.connect(url) as client:
            assert (await client.get("cluster", "c1")).version == 1
        with phaseline.sync.connect(url.replace("127.0.0.1", "localhost")) as also:
            assert also.get("cluster", "c1").version == 1

        stranger = await Shell(XDG_STATE_HOME=str(tmp_path / "other"))("get", "--nats", url, "cluster", "c1")
        assert stranger.code == 5
        assert "takes only users that it knows" in stranger.err
        assert "only who started it" in stranger.err
        given = Shell(XDG_STATE_HOME=str(tmp_path / "other"), PHASELINE_NKEY=str(key))
        assert (await given("get", "--nats", url, "cluster", "c1")).code == 0
    assert not announced.exists()
    async with up(state, "--data", str(data)) as (_, url):
        assert (await mine("get", "--nats", url, "cluster", "c1")).code == 0


async def test_each_of_several_has_its_own_key(state: Path) -> None:
    mine = Shell(XDG_STATE_HOME=str(state))
    async with up(state) as (_, first), up(state) as (_, second):
        assert (await mine("publish", "--nats", first, "cluster", "create", "c1", "--wait")).code == 0
        assert (await mine("get", "--nats", second, "cluster", "c1")).code == 4
        assert (await mine("get", "--nats", first, "cluster", "c1")).code == 0


async def test_open_lets_everybody_connect(tmp_path: Path, state: Path) -> None:
    async with up(state, "--open", "--data", str(tmp_path / "data")) as (_, url):
        assert (await Shell(XDG_STATE_HOME=str(tmp_path / "other"))("list", "--nats", url)).code == 0
        async with Wire.open(Settings(nats=(url,))):
            pass
        assert not (tmp_path / "data" / "phaseline.nk").exists()


async def test_a_system_that_was_killed_leaves_nothing_in_the_way(tmp_path: Path, state: Path) -> None:
    shell, data = Shell(XDG_STATE_HOME=str(state)), tmp_path / "data"
    async with process("up", "--port", "0", "--data", str(data)) as started:
        await line_with(started.stderr, "listens on")
        started.kill()
        await started.wait()
    async with up(state, "--data", str(data)) as (_, url):
        assert (await shell("list", "--nats", url)).code == 0


async def test_a_server_without_a_key_on_the_port_of_an_old_one(state: Path, tmp_path: Path) -> None:
    async with EmbeddedServer() as plain:
        tmp_path.chmod(0o700)
        server_key.announce(plain.port, server_key.prepare(tmp_path))
        answer = await Shell(XDG_STATE_HOME=str(state))("list", "--nats", plain.url)
        assert "has no streams" in answer.err


# ---- what is not safe


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


async def test_the_command_says_what_to_do(announced: dict[str, Path], state: Path) -> None:
    announced["key"].chmod(0o644)
    answer = await Shell(XDG_STATE_HOME=str(state))("list", "--nats", HERE.nats[0])
    assert answer.code == 6
    assert "phaseline.nk: it is open to other users (mode 0644); run `chmod 600` on it" in answer.err
    started = await Shell(XDG_STATE_HOME=str(state))("up", "--port", "0", "--data", str(announced["data"]))
    assert started.code == 6
    assert "phaseline.nk: it is open to other users" in started.err


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
