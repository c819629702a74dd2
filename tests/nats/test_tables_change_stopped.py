"""A worker that is told to stop while it looks for the entities that a change of tables moves."""

import asyncio
import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from phaseline.schemas.records import Entity
from tests.support.changed_jobs import FIRST, SECOND
from tests.support.installation import LIMIT, Settings, Wire, Worker, at_work
from tests.support.own_installation import Client
from tests.support.owners import TablesChange, Tree, moving


async def test_the_scan_ends(wire: Wire, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of a worker ends only once its threads have ended."""
    settings = replace(settings, partitions=1)
    async with at_work(settings, wire, FIRST), Client.open(settings, kinds=FIRST) as client:
        for kind, entity_id in (("policy", "p"), *(("job", f"p/{name}") for name in "abcdef")):
            await client.publish_and_wait(kind, "create", entity_id)
    looked, begun, ended, stop = list[str](), threading.Event(), threading.Event(), asyncio.Event()
    changes, pieces = moving._changes, moving.pieces

    def slow(tree: Tree, entity: Entity, change: TablesChange) -> Any:
        looked.append(entity.id)
        begun.set()
        while not stop.is_set():
            time.sleep(0.01)
        time.sleep(1.0)  # until the worker has cancelled its wait for the scan
        return changes(tree, entity, change)

    def noted(*given: Any, **named: Any) -> Any:
        try:
            return pieces(*given, **named)
        finally:
            ended.set()

    monkeypatch.setattr(moving, "_changes", slow)
    monkeypatch.setattr(moving, "pieces", noted)
    second = Worker(wire, replace(settings, accept_tables=SECOND.digest), SECOND)
    running = asyncio.create_task(second.run(stop))
    async with asyncio.timeout(LIMIT):
        await asyncio.to_thread(begun.wait)
        stop.set()
        await running
        await asyncio.to_thread(ended.wait)
    assert len(looked) < 4, "of the seven entities, more than those until the worker had noticed"
