"""A server that goes while a command reads from it: an answer that ends is given up, and never looks whole."""

from urllib.parse import urlsplit

import pytest

from tests.support.command import ROOT, Shell
from tests.support.installation import Settings
from tests.support.own_installation import Client
from tests.support.tcp_proxy import proxy_to

RULES = str(ROOT / "examples/notices.yaml")
READS = (
    ("list",), ("list", "--json"), ("list", "--sort-by", "none"), ("tree", "c1"), ("history", "cluster", "c1"),
    ("timeline", "c1"), ("why", "c1"), ("get", "cluster", "c1"), ("changes", "--from", "start"),
    ("watch", "--from", "start", "--no-follow"), ("list", "--at", "0s"),
    ("rejections",), ("rejections", "--summary"), ("rejections", "retry", "--reason", "illegal", "--dry-run"),
    ("notices", "try", "--rules", RULES, "--from", "start"),
)  # fmt: skip


@pytest.mark.parametrize("words", READS, ids=lambda words: " ".join(words[:3]))
async def test_a_command_gives_up_a_server_that_goes_while_it_reads(
    client: Client, settings: Settings, shell: Shell, words: tuple[str, ...]
) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish_and_wait("cluster", "created", "c1")  # which is rejected
    async with proxy_to(urlsplit(settings.nats[0]).port or 0) as proxy:
        went: list[bytes] = []

        def go(data: bytes) -> bytes:
            if not data.startswith((b"INFO", b"PONG")) and (b"adopt" in data or b".rejection." in data):
                went.append(data)
                proxy.hang_up()
            return b"" if went else data

        proxy.change = go
        said = await shell(*words, "--nats", f"nats://127.0.0.1:{proxy.port}", "--timeout", "1")
    assert went, said
    ends = ("error: cannot reach NATS", "error: the connection to NATS broke")
    assert (said.code, any(one in said.err for one in ends)) == (3, True), said
    assert "c1" not in said.out
