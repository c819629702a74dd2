"""Waits until the stream STATE, a copy of LOG, has what a test wants to read."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any

from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import ApiFailed


async def copied(wire: Wire, layout: Layout) -> None:
    """Wait until STATE has copied the last message of LOG that it copies: notes, for instance, it does not."""
    [source] = (await wire.api(f"STREAM.INFO.{layout.state}"))["config"]["sources"]
    [way] = source["subject_transforms"]
    async with asyncio.timeout(60):
        while await _copied_up_to(wire, layout) < await _to_be_copied(wire, layout, way["src"]):
            await asyncio.sleep(0.005)


async def _to_be_copied(wire: Wire, layout: Layout, filter_: str) -> int:
    try:
        return int((await wire.api(f"STREAM.MSG.GET.{layout.log}", {"last_by_subj": filter_}))["message"]["seq"])
    except ApiFailed:  # nothing yet
        return 0


async def _copied_up_to(wire: Wire, layout: Layout) -> int:
    try:
        found = await wire.api(f"STREAM.MSG.GET.{layout.state}", {"last_by_subj": ">"})
    except ApiFailed:  # nothing yet
        return 0
    origin = base64.b64decode(found["message"]["hdrs"]).decode().partition("Nats-Stream-Source: ")[2]
    return int(origin.split()[1])


async def until_answer(ask: Callable[[], Awaitable[Any]], wanted: Any) -> None:
    """Ask again until the answer is the expected one. States follow the log a moment later."""
    async with asyncio.timeout(60):
        while await ask() != wanted:
            await asyncio.sleep(0.01)
