"""`up` belongs to its user: who has no key is refused, and the user's own commands find the key by themselves."""

import asyncio
import re
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import phaseline
from phaseline.schemas.errors import SetupError
from tests.support.command import LIMIT, Shell, line_with
from tests.support.installation import EmbeddedServer, Settings, Wire
from tests.support.raising import raises


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


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
    """It could not take back which key belongs to its port: that is judged anew, and no other server needs it."""
    shell, data = Shell(XDG_STATE_HOME=str(state)), tmp_path / "data"
    started = await shell.start("up", "--port", "0", "--data", str(data))
    found = re.search(r"nats://\S+\d", await line_with(started.stderr, "listens on"))
    started.kill()
    await started.wait()
    assert found
    (data / "phaseline.nk").chmod(0o644)
    for words in (("list", "--nats", found[0]), ("up", "--port", "0", "--data", str(data))):
        answer = await shell(*words)
        assert answer.code == 6
        assert "phaseline.nk: it is open to other users (mode 0644); run `chmod 600` on it" in answer.err
    (data / "phaseline.nk").chmod(0o600)
    async with up(state, "--data", str(data)) as (_, url):
        assert (await shell("list", "--nats", url)).code == 0
    async with EmbeddedServer(port=int(found[0].rpartition(":")[2])) as plain:
        assert "has no streams" in (await shell("list", "--nats", plain.url)).err
