"""Commands that find their server by a context of the nats command."""

from pathlib import Path

import pytest

from tests.support.command import Shell, process
from tests.support.installation import EmbeddedServer
from tests.support.nats_contexts import configured, write


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration folder of this test's user."""
    return configured(tmp_path, monkeypatch)


class Domain(EmbeddedServer):
    """A server of a JetStream domain, with one user."""

    def _config(self) -> str:
        user = "authorization { users: [{user: ann, password: secret}] }\n"
        return super()._config().replace("jetstream {", "jetstream { domain: hub,") + user


async def test_commands_work_by_a_context_in_a_domain(home: Path) -> None:
    async with Domain() as server:
        write(home, "hub", url=server.url, user="ann", password="secret", jetstream_domain="hub")
        shell = Shell(XDG_CONFIG_HOME=str(home))
        async with process("worker", "--context", "hub", "--quiet", "--partitions", "1"):
            code = 1
            while code:
                code, *_ = await shell("publish", "--context", "hub", "cluster", "create", "c1", "--wait", "--id", "1")
            listed = await shell("list", "--context", "hub", "--json")
            assert (listed.code, [one["id"] for one in listed.lines]) == (0, ["c1"])
            shown = await shell("watch", "--context", "hub", "--from", "start", "--no-follow", "--json")
            assert (shown.code, len(shown.lines)) == (0, 1)
        wrong = await shell("list", "--nats", server.url)
        assert wrong.code == 5
