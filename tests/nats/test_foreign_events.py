"""Events as foreign publishers send them, in binary mode: stored, decided, shown, sent again, exported and replayed."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from phaseline.schemas import codec
from phaseline.schemas.records import Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Installation, Settings, Wire, inspect, until_decided, working
from tests.support.log_check import audited, rejections, stored
from tests.support.own_installation import Client
from tests.support.recorded_logs import Audit, Clock, FileLog, exported, import_log

SOME_DAY = datetime(2026, 11, 1, tzinfo=UTC)
TRACE = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


async def send(wire: Wire, prefix: str, place: str, data: dict[str, Any] | None = None, **more: str) -> int:
    """Publish an event in binary mode, as another library writes it; its position."""
    root, kind, trigger, *_ = place.split(".")
    headers = {
        "Ce-Specversion": "1.0", "Ce-Id": "1", "Ce-Source": f"/agent/{root}", "Ce-Type": f"{kind}.{trigger}",
        "Ce-Traceparent": TRACE["traceparent"], "Content-Type": "application/json", **more,
    }  # fmt: skip
    body = b"" if data is None else json.dumps(data).encode()
    return (await wire.publish_acked(f"{prefix}.events.{place}", body, headers)).seq


async def test_it_is_decided_and_shown(client: Client, wire: Wire, settings: Settings) -> None:
    layout = await inspect(wire, settings)
    position = await send(wire, settings.prefix, "c1.cluster.adopt", {"phase": "Running", "message": "found"})
    await until_decided(wire, layout)
    [record] = [one async for one in client.history("cluster", "c1")]
    assert isinstance(record, Transition)
    assert (record.after.phase, record.message) == ("Running", "found")
    assert (record.cause.event, record.cause.source, record.cause.extensions) == ("1", "/agent/c1", TRACE)
    shown = codec.decode(await client.event(position) or b"")
    assert (shown["type"], shown["data"]) == ("cluster.adopt", {"phase": "Running", "message": "found"})
    assert (await audited(wire, layout)).holds


async def test_the_last_observation_of_an_object(client: Client, wire: Wire, settings: Settings) -> None:
    live = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x", "namespace": "n"}, "data": {"a": "1"}}
    await send(wire, settings.prefix, "s.resource.observed.a.core:ConfigMap.n.x", {"live": live, "desired": live})
    async with asyncio.timeout(120):
        while not await stored(wire, (await inspect(wire, settings)).live, []):
            await asyncio.sleep(0.05)
    assert (await client.gitops.diff("s/a/core:ConfigMap/n/x")).observation.live == live


async def test_a_rejected_one_is_sent_again_as_it_was(client: Client, wire: Wire, settings: Settings) -> None:
    layout = await inspect(wire, settings)
    await send(wire, settings.prefix, "c1.cluster.created", {"message": "late"})
    [rejection] = await rejections(wire, layout, 1)
    assert (rejection.reason, rejection.cause.extensions) == ("illegal", TRACE)
    await client.publish("cluster", "create", "c1")
    async with client.rejections(start="start") as watch:
        async for _ in watch:
            receipt = await client.resend(watch.sequence)
            break
    await client.outcome(receipt)
    again = (await stored(wire, layout.events, []))[receipt.sequence - 1]
    assert (again.data, again.headers["Ce-Id"]) == (b'{"message": "late"}', "1")
    last = [one.after.phase async for one in client.history("cluster", "c1")]
    assert last == ["Creating", "Running"]


@pytest.mark.parametrize("name", ["log.plog", "log.jsonl"])
async def test_it_is_exported_replayed_and_imported(wire: Wire, settings: Settings, tmp_path: Path, name: str) -> None:
    async with working(settings, wire, BUILT_IN_KINDS) as layout:
        await send(wire, layout.prefix, "c1.cluster.adopt", {"phase": "Running"}, **{"Ce-Time": "2026-03-02T08:00:00Z"})
        await send(wire, layout.prefix, "c1.cluster.create", None, **{"Ce-Source": "%C0%A0"})
        await send(wire, layout.prefix, "c1.cluster.overdue", {"message": "\u8d26"}, **{"Ce-Id": '"a b"'})
        await until_decided(wire, layout)
        installation = Installation(wire, layout, BUILT_IN_KINDS)
        await exported(installation, tmp_path / name)
        audit = Audit(FileLog(tmp_path / name), BUILT_IN_KINDS, None, None)
        assert (await audit.run()).holds
        assert (audit.report.events, audit.report.records) == (3, 3)
    other = Settings(nats=settings.nats, prefix=f"{settings.prefix}-2")
    async with working(other, wire, BUILT_IN_KINDS) as layout:
        done = await import_log(
            Installation(wire, layout, BUILT_IN_KINDS), tmp_path / name,
            lambda header: Clock(header, None, shift=True, now=SOME_DAY),
        )  # fmt: skip
        assert done.stored == 3
        found = await rejections(wire, layout, 3)
        assert [(type(one), one.reason) for one in found] == [(Rejection, "invalid")]
        assert len(await stored(wire, layout.log, [f"{layout.prefix}.log.*.transition.>"])) == 2
