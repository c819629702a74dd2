"""A server that goes while somebody reads from it: an answer that ends is given up, and never looks whole."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

import phaseline
from phaseline.schemas.errors import NoAnswer
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
    ("notices", "try", "--rules", RULES, "--from", "start"), ("log", "export", "-"),
)  # fmt: skip


async def all_of(values: AsyncIterator[Any]) -> list[Any]:
    return [one async for one in values]


CALLS: dict[str, Callable[[Client], Any]] = {
    "list": lambda client: all_of(client.list()),
    "list at": lambda client: all_of(client.list(at="now")),
    "get": lambda client: client.get("cluster", "c1"),
    "get at": lambda client: client.get("cluster", "c1", at="now"),
    "tree": lambda client: client.tree("c1"),
    "overview": lambda client: client.overview(),
    "why": lambda client: client.why("cluster", "c1"),
    "history": lambda client: all_of(client.history("cluster", "c1")),
    "history by event": lambda client: all_of(client.history("cluster", "c1", clock="event")),
    "watch": lambda client: all_of(client.watch(start="start", follow=False)),
    "watch of a class": lambda client: all_of(client.watch(class_="good", start="start", follow=False)),
    "rejections": lambda client: all_of(client.rejections()),
    "rejection_counts": lambda client: client.rejection_counts(),
    "timeline": lambda client: client.timeline("c1"),
    "changes": lambda client: client.changes("start"),
    "levels": lambda client: client.levels.measure("1h"),
}  # fmt: skip


@asynccontextmanager
async def cut_off(client: Client, settings: Settings) -> AsyncIterator[tuple[str, list[bytes]]]:
    """The URL of a server that goes with the first record that is read of it, and with which bytes it went."""
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
        yield f"nats://127.0.0.1:{proxy.port}", went


@pytest.mark.parametrize("words", READS, ids=lambda words: " ".join(words[:3]))
async def test_a_command_gives_up_a_server_that_goes_while_it_reads(
    client: Client, settings: Settings, shell: Shell, words: tuple[str, ...]
) -> None:
    async with cut_off(client, settings) as (url, went):
        said = await shell(*words, "--nats", url, "--timeout", "1")
    assert went, said
    ends = ("error: cannot reach NATS", "error: the connection to NATS broke")
    assert (said.code, any(one in said.err for one in ends)) == (3, True), said
    assert "c1" not in said.out


@pytest.mark.parametrize("call", CALLS)
async def test_a_client_gives_up_a_server_that_goes_while_it_reads(
    client: Client, settings: Settings, call: str
) -> None:
    async with (
        cut_off(client, settings) as (url, went),
        phaseline.connect(url, prefix=settings.prefix, request_timeout=1) as reading,
    ):
        with pytest.raises(NoAnswer):
            await CALLS[call](reading)
    assert went
