"""Entities by HTTP: exact at a place, filtered, sorted, in pages, in columns (engine/surfaces/http)."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from phaseline.engine.log.explain.shut import Shutters
from phaseline.engine.surfaces.client.surroundings import Surroundings
from phaseline.machines.docs import asyncapi
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS
from tests.support.http_server import Api, as_json, http_server, maps
from tests.support.installation import LIMIT, Settings, Wire, at_work, until_decided
from tests.support.installation import working as working_installation
from tests.support.own_installation import Client
from tests.support.random_events import RandomEvents, publish
from tests.support.reading import AsOf

SHARED = pytest.mark.asyncio(loop_scope="module")


async def expected(api: Api, place: int, **wanted: Any) -> list[dict[str, Any]]:
    """The entities as the log has them."""
    installation = api.service.installation
    states = await AsOf.at(installation, place)
    chosen = await states.states(**wanted)
    around = Surroundings(shut=await Shutters(states).of([one.entity for one in chosen]))
    found: list[dict[str, Any]] = as_json([maps.entity_map(KINDS, one, around=around) for one in chosen])
    return found


@SHARED
async def test_a_list_is_what_the_log_says_at_its_place(api: Api) -> None:
    place = await api.place()
    answer = await api.get("/v1/entities")
    assert answer["place"] == place
    assert answer["items"] == await expected(api, place)
    assert answer["total"] == len(answer["items"]) == sum(answer["counts"].values())
    nodes = await api.get("/v1/entities", kind="node", tree="c1", deleted=1)
    assert nodes["items"] == await expected(api, place, kind="node", below="c1", deleted=True)
    phase = next(iter(nodes["counts"]))
    by_state = await api.get("/v1/entities", kind="node", state=phase)
    assert by_state["items"] == await expected(api, place, kind="node", state=phase)
    assert by_state["counts"] == {phase: by_state["total"]}
    bad = await api.get("/v1/entities", **{"class": "bad", "for": "0s", "sort": "bad-since"})
    everything = await expected(api, place, deleted=True)
    assert sorted(one["id"] for one in bad["items"]) == sorted(o["id"] for o in everything if o["class"] == "bad")
    assert [one["class_since"] for one in bad["items"]] == sorted(one["class_since"] for one in bad["items"])
    assert (await api.get("/v1/entities", **{"class": "bad", "for": "1d"}))["items"] == []
    seen = await api.get("/v1/overview")
    assert sum(seen["classes"].values()) == sum(one["class"] != "gone" for one in everything)
    assert sum(one["others"] + (one["class"] == "bad") for one in seen["troubles"]) == seen["classes"].get("bad", 0)
    whole, of_tree = await api.service.client.overview(), await api.get("/v1/overview", tree="c1")
    assert (whole.classes, whole.numbers) == (seen["classes"], seen["numbers"])
    assert [one["root"] for one in of_tree["trees"]] in (["c1"], [])
    assert (seen["deciding"], of_tree["deciding"]) == ("all", "all")


async def test_an_overview_says_that_nobody_decides(settings: Settings, wire: Wire) -> None:
    async with AsyncExitStack() as worker:
        await worker.enter_async_context(working_installation(settings, wire, KINDS))
        async with http_server(settings) as served:
            for wanted in ("all", "none"):
                async with asyncio.timeout(LIMIT):
                    while (await served.get("/v1/overview"))["deciding"] != wanted:
                        await asyncio.sleep(0.1)
                await worker.aclose()
            assert "deciding" not in await served.get("/v1/overview", at="0")


@SHARED
async def test_what_changes_with_the_time_alone_is_never_kept(api: Api) -> None:
    timed = ("/v1/overview", "/v1/overview?at=now", "/v1/entities?class=bad&for=1s", "/v1/entities?at=0.1s", "/v1/counts?at=00:00",
             "/v1/summary", "/v1/changes", "/v1/changes?from=1h", "/v1/timeline/cluster/c1?from=1h")  # fmt: skip
    for path in timed:
        answer = await api.http.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store"), path
        assert "etag" not in answer.headers, path
    for path in ("/v1/overview?at=9", "/v1/entities?class=bad&for=1s&at=9", "/v1/changes?from=1&to=9"):
        assert "immutable" in (await api.http.get(path)).headers["cache-control"], path


@SHARED
async def test_pages_of_a_list_are_of_one_place(api: Api) -> None:
    place = await api.place()
    whole = (await api.get("/v1/entities", deleted=1))["items"]
    page = await api.get("/v1/entities", deleted=1, limit=4)
    found = page["items"]
    later = RandomEvents(api.service.installation.prefix)
    later.number = 10_000
    await publish(api.service.installation.wire, list(later.cluster("c9", 2)))
    await until_decided(api.service.installation.wire, api.service.installation.layout)
    await api.service.follower.reach(place + 8, 60)
    while page["continue"]:
        page = await api.get("/v1/entities", deleted=1, limit=4, continue_=page["continue"])
        assert page["place"] == place
        found += page["items"]
    assert found == whole
    assert (await api.get("/v1/entities", deleted=1))["total"] > len(whole)


@SHARED
async def test_a_list_of_the_past_is_what_it_was(api: Api) -> None:
    end = await api.place()
    for place in (end // 3, end // 2, end):
        moment = await api.service.client.moment(place)
        answer = await api.http.get("/v1/entities", params={"at": place, "limit": 1000})
        assert answer.json()["items"] == await expected(api, place)
        assert answer.json()["place"] == moment.place
        assert "immutable" in answer.headers["cache-control"]


async def test_lists_under_load_are_exact(settings: Settings, wire: Wire) -> None:
    """Whatever is committed meanwhile, an answer is what the log says at the place that it names."""
    fleet = RandomEvents(settings.prefix)
    async with at_work(settings, wire) as layout, http_server(settings) as api:

        async def send() -> None:
            await publish(wire, [*fleet.built(3, 4), *fleet.life(400, 3, 4)])
            await until_decided(wire, layout)

        sending = asyncio.create_task(send())
        answers = []
        while not sending.done():
            answers.append(await api.get("/v1/entities", deleted=1, limit=1000))
            await asyncio.sleep(0.02)
        await sending
        answers.append(await api.get("/v1/entities", deleted=1, limit=1000))
        assert any(one["kind"] == "node" for one in answers[-1]["items"])
        for answer in [*answers[:: max(1, len(answers) // 8)], answers[-1]]:
            moment = (await AsOf.at(api.service.installation, answer["place"])).moment
            assert moment.place == answer["place"]  # it never stands within an event
            assert answer["items"] == await expected(api, answer["place"], deleted=True)


@SHARED
async def test_columns_say_the_same_as_a_list(api: Api) -> None:
    listed = (await api.get("/v1/entities", deleted=1))["items"]
    columns = await api.get("/v1/columns", deleted=1)
    states = columns["states"]
    for at, item in enumerate(listed):
        assert columns["id"][at] == item["id"]
        assert columns["kinds"][columns["kind"][at]] == item["kind"]
        facet = item["facets"][states[columns["state"][at]]["facet"]]
        shown = states[columns["state"][at]]
        assert (shown["state"], shown["conditions"]) == (facet["state"], facet["conditions"])
        assert shown["label"]["en"] == facet["label"]
        parent = columns["parent"][at]
        above = None if parent < 0 else columns["id"][parent]
        assert above == (item["id"].rpartition("/")[0] or None)
        assert bool(columns["flags"][at] & 1) == (
            {"state": facet["state"], "conditions": facet["conditions"]} != facet["base"]
        )
    past = await api.get("/v1/columns", at=await api.place() // 2)
    assert past["id"] == [one["id"] for one in await expected(api, past["place"])]


@SHARED
async def test_counts(api: Api) -> None:
    listed = (await api.get("/v1/entities"))["items"]
    asked: list[dict[str, Any]] = [{}, {"tree": "c1"}, {"kind": "node"}]
    for parameters in asked:
        counted = await api.get("/v1/counts", **parameters)
        among = [
            one for one in listed
            if one["kind"] == parameters.get("kind", one["kind"])
            and f"{one['id']}/".startswith(f"{parameters.get('tree', one['id'])}/")
        ]  # fmt: skip
        assert counted["total"] == len(among) == sum(counted["classes"].values())
        assert set(counted["kinds"]) == {one["kind"] for one in among}


@SHARED
async def test_one_entity(api: Api) -> None:
    place = await api.place()
    [wanted] = [one for one in await expected(api, place, deleted=True) if one["id"] == "c1/p/n0"]
    answer = await api.get("/v1/entities/node/c1/p/n0")
    assert answer["entity"] == wanted
    assert (await api.get("/v1/entities/node/c1%2Fp%2Fn0"))["entity"] == wanted
    assert (await api.get("/v1/entities/node/c1/p/n0", lang="zh"))["entity"]["facets"]["phase"]["label"] != ""


async def test_an_entity_says_what_it_takes_now(fresh: Api, client: Client) -> None:
    for kind, trigger, name in (
        ("cluster", "create", "c1"),
        ("cluster", "created", "c1"),
        ("node_pool", "create", "c1/p"),
    ):
        created = await client.publish_and_wait(kind, trigger, name)
    place = created.records[-1].sequence
    found = await fresh.get("/v1/entities/node_pool/c1/p", min=place)
    refused = await client.publish_and_wait("node_pool", "create", "c1/p", event_id="again")
    assert refused.rejection is not None
    assert found["legal"] == [*refused.rejection.legal]
    assert {"created", "reported", "delete"} <= {*found["legal"]}
    await client.publish_and_wait("cluster", "delete", "c1")
    assert (await fresh.get("/v1/entities/node_pool/c1/p", at=place))["legal"] == found["legal"]


@SHARED
async def test_an_answer_that_did_not_change_is_not_sent_again(api: Api) -> None:
    first = await api.http.get("/v1/entities")
    again = await api.http.get("/v1/entities", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = await api.http.get("/v1/entities?kind=node", headers={"If-None-Match": first.headers["etag"]})
    assert other.status_code == 200


async def test_who_wrote_reads_what_he_wrote(fresh: Api, client: Client) -> None:
    outcome = await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    place = outcome.records[-1].sequence
    answer = await fresh.get("/v1/entities/cluster/c1", min=place)
    assert answer["entity"]["version"] == 1
    assert answer["place"] >= place


BAD = [
    ("/v1/entities?kind=nod", 404, "there is no kind 'nod' (did you mean node?)"),
    ("/v1/entities?kind=node&state=Runing", 404, "there is no state 'Runing' (did you mean Running?)"),
    ("/v1/entities?condition=Balanc", 404, "did you mean Balance?"),
    ("/v1/entities?state={Failed", 400, "is no state"),
    ("/v1/entities?kinds=node", 400, "no such parameter (did you mean kind?)"),
    ("/v1/entities?kind=node&kind=node", 400, "is given twice"),
    ("/v1/entities?limit=0", 400, "must be 1 to 10000, found 0"),
    ("/v1/entities?limit=x", 400, "must be a whole number, found 'x'"),
    ("/v1/entities?deleted=maybe", 400, "must be 1 or 0, found 'maybe'"),
    ("/v1/entities?at=soon", 400, "'soon' is none of: now, start"),
    ("/v1/entities?at=999999999", 404, "before place 999999999: wait for it with"),
    ("/v1/entities?continue=abc", 400, "belongs to no list of this server"),
    ("/v1/entities?label=,", 400, "is no selector"),
    ("/v1/entities?tree=a//b", 400, "an id has an empty part"),
    ("/v1/entities?kind=%ff", 400, "is not UTF-8"),
    ("/v1/entities/node/%ff", 400, "is not UTF-8"),
    ("/v1/entities/node/nobody/x/y", 404, "there is no node 'nobody/x/y'"),
    ("/v1/entities/node/c1", 400, "not a valid id"),
    ("/v1/entitis", 404, "did you mean /v1/entities?"),
    ("/v1/machines/nod", 404, "did you mean node?"),
    ("/page/../secret", 404, "there is nothing at"),
    ("/nothing", 404, "there is nothing at /nothing"),
    (f"/v1/entities?state={'x' * 5000}", 400, "has 5000 characters"),
]


async def test_bad_requests_have_an_answer(fresh: Api) -> None:
    for path, status, says in BAD:
        answer = await fresh.http.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), path
        body = answer.json()
        assert body["status"] == status
        assert body["type"].startswith("urn:phaseline:problem:")
        assert says in body["detail"], path


@SHARED
async def test_a_page_token_belongs_to_its_query(api: Api) -> None:
    page = await api.get("/v1/entities", kind="node", limit=1)
    refused = await api.get("/v1/entities", 400, kind="cluster", limit=1, continue_=page["continue"])
    assert "belongs to another query" in refused["detail"]


async def test_other_methods_are_told_what_is_allowed(fresh: Api) -> None:
    answer = await fresh.http.delete("/v1/entities")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    head = await fresh.http.head("/v1/entities")
    assert (head.status_code, head.content) == (200, b"")
    assert (await fresh.http.head("/v1/transitions")).headers["content-type"].startswith("text/event-stream")


async def test_the_server_says_what_it_is(fresh: Api) -> None:
    assert (await fresh.get("/livez"))["status"] == "ok"
    ready = await fresh.get("/readyz?verbose")
    assert ready["connected"] is True
    assert (await fresh.get("/openapi.json"))["openapi"] == "3.1.0"
    described = await fresh.http.get("/asyncapi.json")
    assert described.headers["content-type"] == "application/json"
    assert described.json() == as_json(asyncapi.document(KINDS, "pl"))
    for schema in described.json()["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    assert [one["kind"] for one in (await fresh.get("/v1/machines"))["machines"]] == list(KINDS)
    assert (await fresh.get("/v1/machines/node"))["id"] == ["cluster", "pool", "node"]
    page = await fresh.http.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "Phaseline" in page.text
    assert (await fresh.http.get("/page/index.html")).text == page.text


@SHARED
async def test_a_link_into_the_page_is_the_page_whatever_its_query(api: Api) -> None:
    page = await api.http.get("/")
    assert page.headers["content-type"].startswith("text/html")
    for link in (
        "/now?at=3&lang=zh&state=Failed",
        "/tree/c1?sel=node%2Fc1%2Fp%2Fn1&lang=zh",
        "/entity/node/c1%2Fp%2Fn1?at=7",
    ):
        answer = await api.http.get(link)
        assert (answer.status_code, answer.text) == (200, page.text), link
