"""Events by HTTP: the modes of CloudEvents, what becomes of an event, and what is refused
(engine/surfaces/http/intake)."""

import asyncio
import json
from collections.abc import AsyncIterator

from phaseline.schemas import codec
from tests.support.http_events import JSON_EVENT, event, send
from tests.support.http_server import Api

BATCH_JSON, LARGEST = "application/cloudevents-batch+json", 1 << 20


async def test_a_structured_event_is_stored_and_its_outcome_can_be_read(fresh: Api) -> None:
    answer = await send(fresh, event())
    assert answer.status_code == 202, answer.text
    receipt = answer.json()
    assert receipt == {"sequence": 1, "duplicate": False, "event": "e1", "source": "/test"}
    assert answer.headers["location"] == "/v1/events/1"
    async with asyncio.timeout(60):
        while not (found := await fresh.get("/v1/events/1"))["decided"]:
            await asyncio.sleep(0.02)
    assert (found["effect"], found["event"]["id"]) == ("transitions", "e1")
    assert [one["type"] for one in found["records"]] == ["cluster.transitioned"]
    again = await send(fresh, event(), prefer="wait=30")
    assert (again.status_code, again.json()["duplicate"], again.json()["effect"]) == (200, True, "transitions")


async def test_who_waits_gets_the_outcome(fresh: Api) -> None:
    answer = await send(fresh, event(), prefer="respond-async, wait=60")
    found = answer.json()
    assert (answer.status_code, answer.headers["preference-applied"]) == (200, "wait=60")
    assert (found["effect"], found["last"]) == ("transitions", found["records"][-1]["logsequence"])
    assert (await fresh.get("/v1/entities/cluster/c1", min=found["last"]))["entity"]["version"] == 1
    nothing = await send(fresh, event(id="e2"), prefer="wait=60")
    assert (nothing.status_code, nothing.json()["effect"]) == (200, "none")
    assert "unread" not in nothing.json()
    stray = await send(
        fresh, event("cluster/c1", "reported", id="e4", data={"phase": "Running", "zone": "a"}), prefer="wait=60"
    )
    assert (stray.json()["effect"], stray.json()["unread"]) == ("none", ["zone"])
    refused = await send(fresh, event("cluster/c1", "create", id="e3"), prefer="wait=60")
    problem = refused.json()
    assert (refused.status_code, problem["reason"], problem["sequence"]) == (422, "illegal", 4)
    assert f"event 4 was rejected as illegal: {problem['message']}" == problem["detail"]
    assert (await fresh.get(f"/v1/rejections/{problem['place']}"))["rejection"]["data"]["reason"] == "illegal"


async def test_binary_mode(fresh: Api) -> None:
    headers = {
        "ce-specversion": "1.0", "ce-id": "b1", "ce-source": "/bin%C3%A4r", "CE-Type": "cluster.adopt",
        "ce-subject": "cluster/c1", "ce-traceparent": "00-7", "content-type": "application/json; charset=utf-8",
        "prefer": "wait=60",
    }  # fmt: skip
    answer = await fresh.http.post("/v1/events", content=b'{"phase": "Running"}', headers=headers)
    assert answer.status_code == 200, answer.text
    [record] = answer.json()["records"]
    assert record["data"]["cause"]["source"] == "/bin\u00e4r"
    assert record["data"]["cause"]["extensions"] == {"traceparent": "00-7"}


async def test_a_batch_has_a_result_for_each_event_in_order(fresh: Api) -> None:
    events = [event(), event("nod/c1/p/n"), event("cluster/c2", id="e2"), "text", event("cluster/c1", "nothing")]
    answer = await send(fresh, events, BATCH_JSON)
    results = answer.json()["results"]
    assert answer.status_code == 207
    assert [one.get("event", one.get("problem", {}).get("status")) for one in results] == ["e1", 422, "e2", 400, 422]
    assert "did you mean node?" in results[1]["problem"]["detail"]
    fine = await send(fresh, [event(f"cluster/c{one}", id=f"x{one}") for one in range(1_000)], BATCH_JSON)
    assert (fine.status_code, len(fine.json()["results"])) == (202, 1_000)
    assert (await send(fresh, [], BATCH_JSON)).json() == {"results": []}


async def test_a_dry_run_stores_nothing(fresh: Api) -> None:
    answer = await send(fresh, event(), path="/v1/events?dry-run=1")
    found = answer.json()
    assert (answer.status_code, found["effect"], found["sequence"]) == (200, "transitions", 1)
    assert [one["type"] for one in found["records"]] == ["cluster.transitioned"]
    unknown = (await send(fresh, event(trigger="adoptt"), path="/v1/events?dry-run=1")).json()
    assert (unknown["effect"], unknown["records"][0]["data"]["reason"]) == ("rejection", "unknown_trigger")
    assert (await fresh.get("/v1/events/1", 404))[
        "detail"
    ] == f"the stream {fresh.service.installation.layout.events} no longer holds event 1"


async def test_force_sends_what_will_be_rejected(fresh: Api) -> None:
    bad = event(trigger="adoptt")
    assert (await send(fresh, bad)).json()["type"] == "urn:phaseline:problem:event-refused"
    answer = await send(fresh, bad, path="/v1/events?force=1", prefer="wait=60")
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:phaseline:problem:event-rejected")


async def test_an_idempotency_key_is_the_id(fresh: Api) -> None:
    without = event()
    del without["id"]
    first = await send(fresh, without, idempotency_key='"k-1"')
    assert (first.status_code, first.json()["event"]) == (202, "k-1")
    assert (await send(fresh, without, idempotency_key="k-1")).json()["duplicate"] is True
    assert (await send(fresh, event(), idempotency_key="e1")).status_code == 202
    differs = await send(fresh, event(), idempotency_key="other")
    assert (differs.status_code, differs.json()["type"]) == (422, "urn:phaseline:problem:keys-differ")
    assert (await send(fresh, [event()], BATCH_JSON, idempotency_key="k")).status_code == 400


async def test_options(fresh: Api) -> None:
    answer = await fresh.http.options("/v1/events", headers={"WebHook-Request-Origin": "events.example"})
    assert (answer.status_code, answer.headers["allow"]) == (200, "POST, OPTIONS")
    assert answer.headers["webhook-allowed-origin"] == "events.example"


WRONG: list[tuple[bytes, str, dict[str, str], int, str]] = [
    (b"{}", "application/json", {}, 415, "holds no event: send an event as application/cloudevents+json"),
    (b"{}", "", {}, 415, "holds no event"),
    (b"{}", "text/plain", {"ce-id": "1"}, 415, "data must be JSON or msgpack"),
    (b"{}", "application/cloudevents+xml", {}, 415, "is not taken: send application/cloudevents+json"),
    (b"{}", "application/cloudevents-batch+xml", {}, 415, "is not taken: send application/cloudevents-batch+json"),
    (b"{}", f"{JSON_EVENT}; charset=latin1", {}, 415, "charset 'latin1'"),
    (b"{}", JSON_EVENT, {"content-encoding": "gzip"}, 415, "in the coding 'gzip'"),
    (b"{}", "application/json", {"ce-id": "1"}, 400, "ce-specversion, ce-source, ce-type: is missing"),
    (b"{}", "application/json", {"ce-datacontenttype": "x", "ce-id": "1"}, 400, "ce-datacontenttype: the type of the"),
    (b"{}", "application/json", {"ce-id": "%ff"}, 400, "does not decode to UTF-8"),
    (b"{}", "application/json", {"ce-a_b": "1"}, 400, "names no attribute"),
    (b'["\xff"]', BATCH_JSON, {}, 400, "a text in it is not UTF-8"),
    (b"[1]", JSON_EVENT, {}, 400, "it begins with '[1]'; send an event as"),
    (b"", JSON_EVENT, {}, 400, "it is empty; send an event as"),
    (b"{", JSON_EVENT, {}, 400, "JSON:"),
    (b'{"a": "\xff"}', JSON_EVENT, {}, 400, "the body: "),
    (b'{"id": 7}', JSON_EVENT, {}, 400, "specversion is missing; an event has specversion, id, source, type"),
    (b'{"a":' * 200 + b"1" + b"}" * 200, JSON_EVENT, {}, 400, "levels deep"),
    (
        b"{}",
        BATCH_JSON,
        {},
        400,
        "a batch is a list of events in [ ]; one event is sent as application/cloudevents+json",
    ),
    (b"\xff", BATCH_JSON, {}, 400, "the body: "),
    (b"[" + b"1," * 1_000 + b"1]", BATCH_JSON, {}, 400, "at most 1,000 events, this one has 1,001"),
    (b"\x81\xa1a", "application/cloudevents+msgpack", {}, 400, "msgpack:"),
    (b"{}", JSON_EVENT, {"prefer": "wait=soon"}, 400, "wait takes seconds, as in wait=10, found 'wait=soon'"),
]


async def test_wrong_bodies_and_headers_are_answered(fresh: Api) -> None:
    for body, type_, headers, status, says in WRONG:
        given = {"content-type": type_, **headers} if type_ else headers
        answer = await fresh.http.post("/v1/events", content=body, headers=given)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
        assert says in answer.json()["detail"], (body[:50], answer.json()["detail"])
    assert (await send(fresh, [event()], BATCH_JSON, path="/v1/events?dry-run=1")).status_code == 400


async def test_the_largest_body_and_one_byte_more(fresh: Api) -> None:
    body = json.dumps(event()).encode()
    largest = body + b" " * (LARGEST - len(body))
    assert (await send(fresh, largest)).status_code == 202
    for content in (largest + b" ", pieces(largest + b" ")):
        answer = await fresh.http.post("/v1/events", content=content, headers={"content-type": JSON_EVENT})
        assert (answer.status_code, answer.json()["limit"]) == (413, LARGEST)
    assert (await fresh.get("/livez"))["status"] == "ok"


async def pieces(body: bytes) -> AsyncIterator[bytes]:
    """The body without a length, in chunks."""
    for begin in range(0, len(body), 100_000):
        yield body[begin : begin + 100_000]


async def test_msgpack_is_taken_too(fresh: Api) -> None:
    assert (await send(fresh, codec.encode(event()), "application/cloudevents+msgpack")).status_code == 202


async def test_the_values_of_a_secret_are_not_taken(fresh: Api) -> None:
    live = {"apiVersion": "v1", "kind": "Secret", "data": {"password": "c2VjcmV0"}}
    answer = await send(fresh, event("resource/s/a/Secret/n/x", "observed", data={"live": live}))
    assert (answer.status_code, answer.json()["reason"]) == (422, "secret")
