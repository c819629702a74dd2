"""The status service on a real server: found and called as NATS' services are, answered by whoever owns the tree."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio
from jsonschema import Draft202012Validator

from phaseline.engine.worker import services
from phaseline.schemas.errors import EntityUnknown, InvalidInput, NoAnswer
from phaseline.schemas.subjects import partition_of_id
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.emco_history import KINDS
from tests.support.installation import Installation, Settings, Wire, Worker, inspect, until_decided
from tests.support.own_installation import Client, OwnInstallation
from tests.support.owners import Batch, Partition
from tests.support.raising import raises
from tests.support.random_events import RandomEvents, publish

GROUPS = tuple(f"p+app+v1+group{number}" for number in range(6))
MANIFEST = {"metadata": {"name": "dep", "labels": {"app": "web"}}, "spec": {"replicas": 2}}
FOUND = {**MANIFEST, "status": {"readyReplicas": 2}}
REPORT = {"deploymentStatuses": [FOUND], "podStatuses": [{"metadata": {"name": "dep-1"}}]}


def deployed(fleet: RandomEvents, group: str) -> list[Any]:
    place = f"{group}/c1/web/pv+edge1"
    return [
        fleet.event("emco_resource", "create", group),
        fleet.event("emco_resource", "approve", group),
        fleet.event("app_context", "create", f"{group}/c1"),
        fleet.event("rsync_resource", "add", f"{place}/dep+Deployment", **MANIFEST),
        fleet.event("emco_resource", "instantiate", group, context="c1"),
        fleet.event("rsync_resource", "applied", f"{place}/dep+Deployment"),
        fleet.event("app_cluster", "bundle_state", place, status=REPORT),
    ]


@pytest_asyncio.fixture
async def two(settings: Settings) -> AsyncIterator[tuple[Client, list[Worker]]]:
    """A client of two workers that share some partitions, in which some groups have been deployed."""
    settings, stop = replace(settings, partitions=4), asyncio.Event()
    async with Wire.open(settings, name="one") as one, Wire.open(settings, name="two") as other:
        workers = [Worker(wire, settings, BUILT_IN_KINDS) for wire in (one, other)]
        running = [asyncio.create_task(worker.run(stop)) for worker in workers]
        async with asyncio.timeout(60):
            while [len(worker.loaded) for worker in workers] != [2, 2]:  # until then trees go from one to the other
                await asyncio.sleep(0.05)
            async with Client.open(settings, kinds=KINDS) as client:
                fleet = RandomEvents(settings.prefix)
                await publish(one, [event for group in GROUPS for event in deployed(fleet, group)])
                await until_decided(one, await inspect(one, settings))
                yield client, workers
        stop.set()
        await asyncio.gather(*running)


SUMMARY = {
    "project": "p", "composite-app-name": "app", "composite-app-version": "v1", "state": "Instantiated",
    "status": "Instantiated", "rsync-status": {"Applied": 1}, "cluster-status": {"Present": 2},
}  # fmt: skip


async def test_any_worker_is_asked_and_the_owner_answers(two: tuple[Client, list[Worker]]) -> None:
    client, workers = two
    for _ in range(4):  # whoever gets the request
        for number, group in enumerate(GROUPS):
            assert await client.emco.status(group, output="summary") == {"name": f"group{number}", **SUMMARY}
    owners = {partition_of_id(group, 4) for group in GROUPS}
    assert all(owners & set(worker.loaded) for worker in workers)
    asked = [await stats(client, worker) for worker in workers]
    assert sum(found["num_requests"] for found in asked) == 24
    assert all(found["num_requests"] for found in asked)


async def stats(client: Client, worker: Worker) -> dict[str, Any]:
    """What one worker's service says of itself."""
    found: list[dict[str, Any]] = []
    arrived = asyncio.Event()
    inbox = client._session.wire.inbox()

    def take(_: str, data: bytes, *__: object) -> None:
        told = json.loads(data)
        if told["metadata"]["worker"] == worker.name:
            found.append(told)
            arrived.set()

    sid = await client._session.wire.subscribe(inbox, take)
    client._session.wire.send(client._session.wire.frame("$SRV.STATS.phaseline", b"", None, inbox))
    await asyncio.wait_for(arrived.wait(), 60)
    await client._session.wire.unsubscribe(sid)
    [endpoint] = found[0]["endpoints"]
    assert endpoint["name"] == "status"
    return dict(endpoint)


async def test_it_tells_what_it_is(two: tuple[Client, list[Worker]]) -> None:
    client, _ = two
    layout = await client._session.layout()
    for verb in ("PING", "INFO", "STATS"):
        told = json.loads((await client._session.wire.request(f"$SRV.{verb}.phaseline")).data)
        assert told["type"] == f"io.nats.micro.v1.{verb.lower()}_response"
        assert told["name"] == "phaseline"
    info = json.loads((await client._session.wire.request("$SRV.INFO.phaseline")).data)
    mine = [e for e in info["endpoints"] if e["subject"].startswith(layout.prefix)] or info["endpoints"]
    schemas = {name: json.loads(text) for name, text in mine[0]["metadata"].items()}
    shapes: tuple[tuple[Any, str], ...] = (("source", "response"), ("emco", "response-emco"))
    outputs: tuple[Any, ...] = ("summary", "all", "detail")
    for shape, response in shapes:
        Draft202012Validator(schemas["request"]).validate({"shape": shape, "output": "detail"})
        for output in outputs:
            body = await client.emco.status(GROUPS[0], shape=shape, output=output)
            Draft202012Validator(schemas[response]).validate(body)
    assert not Draft202012Validator(schemas["request"]).is_valid({"output": "full"})


async def plain(client: Client, group: str, body: bytes = b"") -> tuple[Any, dict[str, str]]:
    """As somebody asks who has nothing of ours."""
    prefix = (await client._session.layout()).prefix
    reply = await client._session.wire.request(f"{prefix}.status.emco_resource.{group}", body)
    return json.loads(reply.data), reply.headers


async def test_anybody_may_ask(two: tuple[Client, list[Worker]]) -> None:
    client, _ = two
    body, headers = await plain(client, GROUPS[0])
    assert body["resources"][0]["app-name"] == "web"
    assert int(headers["Phaseline-Position"]) > 0
    body, _ = await plain(client, GROUPS[0], b'{"output": "summary", "app": "web"}')
    assert body == {"name": "group0", **SUMMARY}
    for group, sent, code, says in (
        (GROUPS[0], b'{"output": "full"}', 400, "output must be one of summary, all, detail, rsync, found 'full'"),
        (GROUPS[0], b'{"app": "db"}', 400, "app 'db' is not in this context; it has web"),
        (GROUPS[0], b"[]", 400, "the query must be a JSON object"),
        ("nobody", b"", 404, "there is no emco_resource 'nobody'"),
        ("%zz", b"", 400, "must be encoded as"),
    ):
        body, headers = await plain(client, group, sent)
        assert (body["code"], headers["Nats-Service-Error-Code"]) == (code, str(code))
        assert says in body["error"]
        assert headers["Nats-Service-Error"].startswith(body["error"][:40])


async def test_what_manifests_and_reports_say(two: tuple[Client, list[Worker]]) -> None:
    client, _ = two
    for at in (None, "now"):
        detail = await client.emco.status(GROUPS[1], output="detail", at=at)
        found = {one["Name"]: one for one in detail["resources"][0]["clusters"][0]["resources"]}
        assert {key: found["dep"][key] for key in ("metadata", "spec", "status")} == FOUND
        assert "spec" not in found["dep-1"]
        [told] = (await client.emco.status(GROUPS[1], output="rsync", at=at))["resources"][0]["clusters"][0][
            "resources"
        ]
        assert (told["spec"], told["rsync-status"]) == (MANIFEST["spec"], "Applied")
        forms: tuple[tuple[Any, set[str]], ...] = (
            ("deployed", {"apiVersion", "kind", "metadata", "spec"}), ("ready", set(FOUND)),
        )  # fmt: skip
        for status, has in forms:
            body = await client.emco.status(GROUPS[1], shape="emco", status=status, output="detail", at=at)
            resources = body["apps"][0]["clusters"][0]["resources"]
            assert set(next(one for one in resources if one["name"] == "dep")["detail"]) == has


async def test_as_it_was(two: tuple[Client, list[Worker]]) -> None:
    client, _ = two
    group = GROUPS[2]
    [created, *_, instantiated] = [place async for place in places(client, group)]
    assert (await client.emco.status(group, at=created))["state"] == "Created"
    assert (await client.emco.status(group, at=instantiated))[
        "state"
    ] == "Approved"  # an event shows whole or not at all
    assert (await client.emco.status(group, at=instantiated + 1))["rsync-status"] == {"Pending": 1}
    with raises(EntityUnknown.entity_not_yet_known):
        await client.emco.status(group, at=0)


async def places(client: Client, group: str) -> AsyncIterator[int]:
    watch = client.history("emco_resource", group)
    async for _ in watch:
        yield watch.sequence


async def test_what_is_wrong_is_told_before_anybody_is_asked(two: tuple[Client, list[Worker]]) -> None:
    client, _ = two
    wrong: tuple[tuple[Any, str], ...] = (
        ({"output": "full"}, "output must be"),
        ({"app": "db"}, "app 'db'"),
        ({"instance": "c9"}, "it has c1"),
    )
    for query, says in wrong:
        with raises(InvalidInput.bad_status_query, match=says):
            await client.emco.status(GROUPS[0], **query)
    with pytest.raises(EntityUnknown):
        await client.emco.status("nobody")
    with raises(InvalidInput.wrong_id_length):
        await client.emco.status("a/b")


async def test_without_workers_the_streams_answer(two: tuple[Client, list[Worker]]) -> None:
    client, workers = two
    want = await client.emco.status(GROUPS[3], output="detail")
    for worker in workers:
        worker.loaded.clear()
    assert await client.emco.status(GROUPS[3], output="detail") == want
    body, _ = await plain(client, GROUPS[3])
    assert body["code"] == 503


async def test_an_answer_too_large_for_a_message_comes_from_the_streams(
    two: tuple[Client, list[Worker]], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, _ = two
    want = await client.emco.status(GROUPS[4])
    monkeypatch.setattr(services, "ROOM", client._session.wire.max_payload - 300)
    assert await client.emco.status(GROUPS[4]) == want
    body, _ = await plain(client, GROUPS[4])
    assert body["code"] == 413
    assert "ask for one app, cluster or resource, or for output=summary" in body["error"]


async def test_only_what_is_committed_is_told(
    two: tuple[Client, list[Worker]], monkeypatch: pytest.MonkeyPatch
) -> None:
    client, workers = two
    group, held = GROUPS[5], asyncio.Event()
    [owner] = [worker.loaded[p] for worker in workers for p in worker.loaded if p == partition_of_id(group, 4)]
    commit = owner.commits.commit

    async def late(claim: Any, made: Batch, stored: Sequence[int]) -> None:
        if made.messages:
            await held.wait()
        await commit(claim, made, stored)

    monkeypatch.setattr(owner.commits, "commit", late)
    await client.publish("emco_resource", "terminate", group)
    while owner.commits.decided == owner.commits.committed:
        await asyncio.sleep(0.01)
    tree = owner.tree
    assert tree is not None
    while tree.entities["emco_resource"][group].facets[0].state.phase != "Terminated":
        await asyncio.sleep(0.01)
    asked = asyncio.create_task(client.emco.status(group, output="summary"))
    await asyncio.sleep(0.3)
    assert not asked.done()
    held.set()
    assert (await asked)["state"] == "Terminated"


async def test_a_partition_that_is_not_loaded_is_an_error(installation: OwnInstallation) -> None:
    partition = Partition(
        Installation(installation.wire, await installation.layout(), KINDS), 3, "w"
    )  # it is never run
    with raises(NoAnswer.not_owned, match="partition 3 is not owned by this worker"):
        await partition.look(lambda tree: tree)


@pytest.mark.parametrize("count", [1_200, pytest.param(5_000, marks=pytest.mark.slow)])
async def test_thousands_of_resources_in_one_round_trip(working: Settings, wire: Wire, count: int) -> None:
    fleet, group = RandomEvents(working.prefix), GROUPS[0]
    ids = [f"{group}/c1/app{n % 5}/pv+edge{n % 50}/r{n}+ConfigMap" for n in range(count)]
    before = [
        ("emco_resource", "create", group),
        ("emco_resource", "approve", group),
        ("app_context", "create", f"{group}/c1"),
    ]
    events = [fleet.event(*found) for found in before] + [fleet.event("rsync_resource", "add", one) for one in ids]
    await publish(wire, [*events, fleet.event("emco_resource", "instantiate", group, context="c1")])
    await publish(wire, [fleet.event("rsync_resource", "applied", one) for one in ids[1:]])
    await until_decided(wire, await inspect(wire, working))
    sent: list[str] = []
    async with Client.open(working, kinds=KINDS) as client:
        await client._session.layout()
        request = client._session.wire.request
        client._session.wire.request = counting(sent, request)  # type: ignore[method-assign]  # to count
        body = await client.emco.status(group, output="summary")
        assert sent == [f"{working.prefix}.status.emco_resource.{group}"]
        assert body["rsync-status"] == {"Applied": count - 1, "Pending": 1}
        assert body["status"] == "Instantiating"
        whole = await client.emco.status(group)
        assert sum(len(place["resources"]) for app in whole["resources"] for place in app["clusters"]) == count


def counting(sent: list[str], request: Callable[..., Any]) -> Callable[..., Any]:
    async def counted(subject: str, *rest: Any, **more: Any) -> Any:
        sent.append(subject)
        return await request(subject, *rest, **more)

    return counted
