"""Clients of other makers on an installation whose feed is JSON: nats.js, the CloudEvents SDKs, FastStream, ajv.

Belongs here: what each of them gets. Does not: the programs (tests/foreign), our own reading of such events
(`test_foreign_events`). `python3 dev.py foreign` installs the clients; without them these tests are skipped.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from phaseline.schemas import codec
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.foreign_programs import FOREIGN, INSTALLED, run
from tests.support.installation import Settings, Wire, Worker, inspect, until_decided
from tests.support.log_check import stored
from tests.support.random_events import RandomEvents, publish

ROOT = Path(__file__).parents[2]


@pytest_asyncio.fixture
async def in_json(settings: Settings, wire: Wire) -> AsyncIterator[Settings]:
    """An installation with its feed in JSON, and a worker."""
    settings, stop = replace(settings, partitions=2, feed="json"), asyncio.Event()
    worker = Worker(wire, settings, BUILT_IN_KINDS)
    running = asyncio.create_task(worker.run(stop))
    await worker.ready.wait()
    yield settings
    stop.set()
    await running


def kind_of(event: dict[str, Any]) -> str:
    return str(event["type"].partition(".")[0])


async def found_by(program: str | Path, name: str, settings: Settings) -> Any:
    """What a client of tests/foreign found on an installation."""
    folder = INSTALLED if name.endswith(".mjs") else FOREIGN
    return json.loads(await run(program, folder / name, settings.nats[0], settings.prefix))


async def test_nats_js(node: str, in_json: Settings) -> None:
    found = await found_by(node, "nats.mjs", in_json)
    [heard] = found["heard"]
    assert heard["subject"] == f"{in_json.prefix}.transition.cluster.phase.Running.c1"
    assert heard["type"] == "application/cloudevents+json"
    assert heard["record"]["data"]["to"] == {"state": "Running", "conditions": ["Ok"]}
    assert heard["record"]["data"]["cause"]["source"] == "/nats.js"
    assert found["last"] == heard["record"]
    assert found["states"] == {"c1": "Running"}
    assert {"name": "phaseline", "endpoints": ["status"]} in found["services"]
    status = found["status"]
    assert (status["code"], status["type"], status["body"]["code"]) == ("404", "application/json", 404)


@pytest.mark.parametrize("sdk", ["cloudevents.mjs", "cloudevents_sdk.py"])
async def test_the_cloudevents_sdks(request: pytest.FixtureRequest, in_json: Settings, sdk: str) -> None:
    program = request.getfixturevalue("node" if sdk.endswith(".mjs") else "python")
    found = {one["data"]["id"]: one for one in await found_by(program, sdk, in_json)}
    assert set(found) == {"binary", "structured"}
    for cluster, record in found.items():
        assert (record["type"], record["source"]) == ("cluster.transitioned", f"phaseline/{in_json.prefix}")
        assert record["data"]["message"] == f"adopted by {cluster} \u8d26"
        assert record["data"]["cause"]["extensions"] == {"traceparent": f"00-{cluster}"}


async def test_faststream(python: str, in_json: Settings) -> None:
    found = await found_by(python, "faststream_app.py", in_json)
    assert found == {
        "type": "cluster.transitioned",
        "source": f"phaseline/{in_json.prefix}",
        "data": {"id": "c1", "to": {"state": "Running", "conditions": ["Ok"]}, "trigger": "adopt"},
    }


async def test_ajv_in_strict_mode(node: str, in_json: Settings, wire: Wire) -> None:
    fleet = RandomEvents(in_json.prefix)
    sent = [*fleet.built(2, 2), *fleet.life(150, 2, 2), fleet.event("cluster", "created", "c0")]
    trace = {**codec.decode(sent[0].body), "id": "trace", "traceparent": "00-1", "sequence": 7}
    await publish(wire, [*sent, sent[0]._replace(body=codec.encode_json(trace), message_id="trace")])
    layout = await inspect(wire, in_json)
    await wire.publish_acked(f"{in_json.prefix}.events.c1.cluster.create", b"no event")
    await until_decided(wire, layout)
    messages = await stored(wire, layout.log, [f"{layout.prefix}.log.>", f"{layout.prefix}.mark.*.transition.mark.>"])
    assert len(messages) > 50
    lines = [{"schema": "records.json", "body": json.loads(message.data)} for message in messages]
    for body in (codec.decode(event.body) for event in sent if b"specversion" in event.body):
        lines += [{"schema": name, "body": body} for name in ("envelope.json", f"kinds/{kind_of(body)}.json")]
    given = "\n".join(map(json.dumps, lines)).encode()
    schemas = len([*(ROOT / "schemas" / "json").rglob("*.json")])
    said = (await run(node, INSTALLED / "ajv.mjs", ROOT / "schemas" / "json", given=given)).decode()
    assert said == f"{schemas} schemas, {len(lines)} valid\n"
