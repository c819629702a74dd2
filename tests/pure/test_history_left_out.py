"""A history that could not be loaded holds nothing (engine/surfaces/http/fleet/history_loader.py)."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from phaseline.engine.surfaces.http.fleet.cascades import PlacedMessage
from phaseline.engine.surfaces.http.fleet.follower import Follower
from phaseline.engine.surfaces.http.fleet.history_loader import HistoryLoader
from phaseline.schemas.errors import NatsUnreachable
from phaseline.schemas.records import Cause, Rejection


async def test_what_comes_later_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody would ever take it: the server would grow with each record."""

    async def away(*_: Any) -> None:
        raise NatsUnreachable(url="nats://x", cause="closed")

    follower = SimpleNamespace(is_exact=asyncio.Event(), installation=None)
    follower.is_exact.set()
    loader = HistoryLoader(cast("Follower", follower), 10)
    monkeypatch.setattr(HistoryLoader, "_load", away)
    record = Rejection("node", "c1/p/n1", "create", "illegal", "no", None, (), Cause(1, "e", "/x", "event"), 1)
    loader.take([PlacedMessage(1, 1, record, b"x")])
    await loader.run()
    loader.take([PlacedMessage(2, 2, record, b"x")])
    assert loader._waiting == []
