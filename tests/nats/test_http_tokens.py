"""Who may, on a real server: tokens, trees, browsers, other hosts and sites (engine/surfaces/http/access)."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
import pytest_asyncio

from phaseline.machines.built_in import PRODUCTS
from phaseline.schemas.errors import BadSetting
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_events import event
from tests.support.http_server import LIMIT, LIMITS, AccessSettings, Api, all_routes, http_server, serving, tokens
from tests.support.installation import Settings
from tests.support.own_installation import Client

OTHER = "zebra"
"""The tree whose name must not show."""

ROUTES = all_routes(PRODUCTS)


class Guarded(NamedTuple):
    """A server with tokens: those that may read all, read only c1, publish only c1, read c1 and c2."""

    api: Api
    everything: str
    reader: str
    publisher: str
    two: str
    refused: int
    """The place of a rejection in the other tree."""


@pytest_asyncio.fixture
async def guarded(client: Client, working: Settings, tmp_path: Path) -> AsyncIterator[Guarded]:
    """A server with tokens, and entities in two trees."""
    path = tmp_path / "tokens"
    made = [tokens.add(path, *one) for one in (
        ("boss", ["read", "publish", "operate"]), ("reader", ["read:c1"]), ("publisher", ["publish:c1"]),
        ("two", ["read:c1", "read:c2"]),
    )]  # fmt: skip
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish_and_wait("cluster", "adopt", OTHER, {"phase": "Running"})
    await client.publish_and_wait("node_pool", "adopt", f"{OTHER}/p", {"phase": "Running"})
    refused = await client.publish_and_wait("cluster", "create", OTHER)
    async with http_server(working, access=AccessSettings(path, look=0.0)) as api:
        boss, reader, publisher, two = made
        yield Guarded(api, boss, reader, publisher, two, refused.records[-1].sequence)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def ask(guarded: Guarded, path: str, token: str = "") -> httpx2.Response:
    headers = {**bearer(token or guarded.reader), "accept": "application/json", "accept-encoding": "identity"}
    return await guarded.api.http.get(path, headers=headers)


PATHS = {
    "kind": ["cluster"], "id": ["c1", OTHER, f"{OTHER}/p"], "place": ["{refused}"], "sequence": ["1", "2", "3", "4"],
    "file": ["index.html"], "name": ["x"],
}  # fmt: skip


async def test_what_is_in_another_tree_does_not_show(guarded: Guarded) -> None:
    """Whatever route is asked, with whatever tree: neither ids nor counts."""
    http, asked = guarded.api.http, 0
    for route in ROUTES:
        if route.method != "GET" or route.role != "read":
            continue
        paths = [route.path]
        for one in route.parameters:
            if one.is_path:
                values = [value.format(refused=guarded.refused) for value in PATHS[one.name]]
                paths = [path.replace(f"{{{one.name}}}", value) for path in paths for value in values]
        for path in paths:
            for query in (
                ("", f"?tree={OTHER}", "?tree=c1") if any(p.name == "tree" for p in route.parameters) else ("",)
            ):
                own = path + query
                answer = await ask(guarded, own)
                asked += 1
                if OTHER in own:  # the answer is the one for a tree that does not exist
                    nobody = await ask(guarded, own.replace(OTHER, "nobody"))
                    assert answer.text.replace(OTHER, "nobody") == nobody.text, own
                    assert (answer.status_code, nobody.status_code) in ((403, 403), (404, 404)), own
                else:
                    assert OTHER not in answer.text, own
    assert asked > 30
    counted = (await http.get("/v1/counts", headers=bearer(guarded.reader))).json()
    assert counted["total"] == 1
    whole = (await http.get("/v1/counts", headers=bearer(guarded.everything))).json()
    assert whole["total"] == 3
    hidden = await http.get(f"/v1/rejections/{guarded.refused}", headers=bearer(guarded.reader))
    nothing = await http.get("/v1/rejections/999", headers=bearer(guarded.reader))
    assert (hidden.status_code, hidden.json()["type"]) == (nothing.status_code, nothing.json()["type"])


async def test_a_reader_of_several_trees_is_answered_for_all_of_them(guarded: Guarded) -> None:
    publish = guarded.api.service.client.publish_and_wait
    await publish("cluster", "adopt", "c2", {"phase": "Running"})
    await publish("cluster", "create", "c2")
    await publish("node_pool", "adopt", "c1/p", {"phase": "Running"})
    end = await guarded.api.place()
    asked = [
        route.path for route in ROUTES
        if any(one.name == "tree" for one in route.parameters) and route.path != "/v1/transitions"
    ]  # fmt: skip
    ranges = [f"/v1/transitions?from=1&to={end}", f"/v1/transitions?from=1&to={end}&form=columns&rejections=0"]
    found = {}
    for path in (*asked, *ranges, "/v1/columns?at=3", "/v1/entities?at=3", "/v1/changes?from=1"):
        answer = await ask(guarded, path, guarded.two)
        assert (answer.status_code, OTHER in answer.text) == (200, False), (path, answer.text)
        found[path] = answer.json()
    ids = ["c1", "c1/p", "c2"]
    assert [one["id"] for one in found["/v1/entities"]["items"]] == found["/v1/columns"]["id"] == ids
    assert [one["data"]["id"] for one in found[ranges[0]]["records"]] == ["c1", "c2", "c1/p"]
    assert [one["id"] for one in found["/v1/changes?from=1"]["items"]] == ids
    assert (found["/v1/counts"]["total"], found["/v1/rejections"]["total"]) == (3, 1)
    assert sum(map(sum, found["/v1/strip"]["classes"].values())) == 3
    summary = found["/v1/summary"]
    assert (summary["total"], summary["entities"], summary["streams"], summary["workers"]) == (3, 3, None, None)
    assert [one["id"] for one in (await ask(guarded, "/v1/entities?tree=c2", guarded.two)).json()["items"]] == ["c2"]
    assert (await ask(guarded, f"/v1/entities?tree=c2&tree={OTHER}", guarded.two)).status_code == 404
    nested = await ask(guarded, "/v1/transitions?from=1&tree=c1/p&tree=c1&tree=c1", guarded.two)
    assert [one["data"]["id"] for one in nested.json()["records"]] == ["c1", "c1/p"]


async def test_rejections_of_trees_whose_long_names_begin_alike_stay_apart(
    client: Client, working: Settings, tmp_path: Path
) -> None:
    """Subjects of rejections keep 64 characters of a name, so that the server's filter takes both trees."""
    mine, other = (f"{'x' * 70}{end}" for end in ("-mine", f"-{OTHER}"))
    path = tmp_path / "tokens"
    token = tokens.add(path, "reader", [f"read:{mine}"])
    refused = {}
    for tree in (mine, other):
        await client.publish_and_wait("cluster", "create", tree)
        refused[tree] = (await client.publish_and_wait("cluster", "create", tree, check=False)).records[-1].sequence
    async with http_server(working, access=AccessSettings(path)) as api:
        for query in ("", "?kind=cluster", f"?tree={mine}", "?reason=illegal"):
            answer = await api.http.get(f"/v1/rejections{query}", headers=bearer(token))
            assert (answer.status_code, OTHER in answer.text) == (200, False), query
            found = answer.json()
            assert (found["total"], [one["logsequence"] for one in found["items"]]) == (1, [refused[mine]]), query
            assert sum(one["count"] for one in found["counts"]) == 1
        for path_, status in ((f"/v1/rejections?tree={other}", 404), (f"/v1/rejections/{refused[other]}", 404)):
            answer = await api.http.get(path_, headers=bearer(token))
            assert (answer.status_code, "-mine" in answer.text) == (status, False)
        lines = await api.http.get(
            "/v1/transitions?from=1&rejections=1", headers={**bearer(token), "accept": "application/x-ndjson"}
        )
        assert (lines.text.count(".rejected"), OTHER in lines.text) == (1, False)


async def test_a_reader_may_try_an_event_of_his_tree(guarded: Guarded) -> None:
    async def tried(token: str, subject: str) -> tuple[int, str]:
        headers = {**bearer(token), "content-type": "application/cloudevents+json"}
        body = json.dumps({**event(subject), "type": "cluster.update"}).encode()
        answer = await guarded.api.http.post("/v1/events?dry-run=1", content=body, headers=headers)
        return answer.status_code, answer.json().get("type", "")

    for token in (guarded.reader, guarded.publisher, guarded.everything):
        assert (await tried(token, "cluster/c1"))[0] == 200
    for token in (guarded.reader, guarded.publisher):
        assert await tried(token, f"cluster/{OTHER}") == (403, "urn:phaseline:problem:not-allowed")
    assert (await tried("phl_x", "cluster/c1"))[0] == 401


async def test_who_sends_too_much_is_asked_to_wait(guarded: Guarded, working: Settings, tmp_path: Path) -> None:
    async with http_server(working, access=AccessSettings(tmp_path / "tokens", rate=0.01)) as api:

        def batch(size: int) -> bytes:
            return json.dumps([{**event("cluster/c1"), "id": f"{size}-{number}"} for number in range(size)]).encode()

        headers = {**bearer(guarded.publisher), "content-type": "application/cloudevents-batch+json"}
        assert (await api.http.post("/v1/events", content=batch(998), headers=headers)).status_code in (202, 207)
        answer = await api.http.post("/v1/events", content=batch(3), headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (429, "urn:phaseline:problem:too-many-events")
        assert int(answer.headers["retry-after"]) >= 1
        assert (
            await api.http.post("/v1/events", content=batch(2), headers={**headers, **bearer(guarded.everything)})
        ).status_code == 202
        allowed = await api.http.options("/v1/events", headers={"webhook-request-origin": "a.example"})
        assert allowed.headers["webhook-allowed-rate"] == "1"


async def test_a_page_kept_for_somebody_else_is_not_shown(guarded: Guarded) -> None:
    """The columns of all trees were made for another caller: the same request of a reader gets other ones."""
    mine = [bearer(guarded.everything), bearer(guarded.reader), bearer(guarded.everything)]
    found = [(await guarded.api.http.get("/v1/columns", headers=one)) for one in mine]
    assert [len(one.json()["id"]) for one in found] == [3, 1, 3]
    assert found[0].headers["etag"] != found[1].headers["etag"]
    again = await guarded.api.http.get(
        "/v1/columns", headers={**bearer(guarded.reader), "if-none-match": found[0].headers["etag"]}
    )
    assert again.status_code == 200


async def test_a_stream_shows_one_tree(guarded: Guarded) -> None:
    api = guarded.api
    heard: list[str] = []

    async def hear() -> None:
        url = "/v1/transitions?from=1"
        async with api.http.stream("GET", url, headers=bearer(guarded.reader)) as answer:
            async for line in answer.aiter_lines():
                if line.startswith("data: ") and "records" in line:
                    heard.extend(one["data"]["id"] for one in json.loads(line[6:])["records"])
                if "c1/p" in heard:
                    return

    task = asyncio.create_task(hear())
    for name in (f"{OTHER}/q", "c1/p"):
        await api.service.client.publish_and_wait("node_pool", "adopt", name, {"phase": "Running"})
    await asyncio.wait_for(task, 60)
    assert heard == ["c1", "c1/p"]


async def test_who_may_publish_what(guarded: Guarded) -> None:
    async def send(token: str, subject: str) -> Any:
        headers = {**bearer(token), "content-type": "application/cloudevents+json"}
        return await guarded.api.http.post("/v1/events", content=json.dumps(event(subject)).encode(), headers=headers)

    assert (await send(guarded.publisher, "cluster/c1")).status_code == 202
    for token, subject in ((guarded.publisher, "cluster/c2"), (guarded.reader, "cluster/c1")):
        answer = await send(token, subject)
        assert (answer.status_code, answer.json()["type"]) == (403, "urn:phaseline:problem:not-allowed")
    assert (await send("phl_x", "cluster/c1")).status_code == 401
    path = f"/v1/rejections/{guarded.refused}/resend"
    assert (await guarded.api.http.post(path, headers=bearer(guarded.reader))).status_code == 403
    assert (await guarded.api.http.post(path, headers=bearer(guarded.everything))).status_code == 202


async def test_without_a_token(guarded: Guarded) -> None:
    http = guarded.api.http
    answer = await http.get("/v1/entities")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "`phaseline admin token` makes one" in answer.json()["detail"]
    for path in ("/livez", "/readyz", "/openapi.json", "/page/login.js"):
        assert (await http.get(path)).status_code == 200
    assert "<title>Phaseline: log in" in (await http.get("/")).text
    assert (await http.get("/v1/session")).json()["name"] is None
    assert (await http.get("/v1/nothing")).status_code == 404


async def test_a_probe_tells_what_there_is_to_who_may_read_all(guarded: Guarded, working: Settings) -> None:
    http = guarded.api.http

    async def told(**headers: str) -> Any:
        answer = await http.get("/readyz?verbose", headers=headers)
        assert answer.status_code == 200
        return answer.json()

    assert (await told(**bearer(guarded.everything)))["entities"] == 3
    for one in ({}, bearer(guarded.reader), bearer(guarded.publisher), bearer("phl_nothing")):
        assert await told(**one) == {"status": "ok"}
    assert await told(host="evil.example", **bearer(guarded.everything)) == {"status": "ok"}
    async with http_server(working) as open_to_all:  # a page of another site that has a name of its own for it
        http = open_to_all.http
        assert (await told())["entities"] == 3
        assert await told(host="evil.example") == {"status": "ok"}


async def test_a_browser_logs_in(guarded: Guarded) -> None:
    http = guarded.api.http
    assert (await http.post("/v1/session")).status_code == 401
    assert (await http.post("/v1/session", headers=bearer("phl_wrong"))).status_code == 401
    answer = await http.post("/v1/session", headers={**bearer(guarded.reader), "sec-fetch-site": "same-origin"})
    assert answer.json() == {
        "name": "reader",
        "roles": ["read"],
        "trees": ["c1"],
        "published": [],
        "sources": [],
        "links": [],
    }
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert (await http.get("/v1/entities")).json()["total"] == 1  # httpx sends the cookie
    assert "log in" not in (await http.get("/")).text
    await http.delete("/v1/session")
    assert (await http.get("/v1/entities")).status_code == 401


async def test_the_page_names_what_it_asks_for_first(guarded: Guarded) -> None:
    async def named(path: str) -> list[str]:
        answer = await guarded.api.http.get(path, headers=bearer(guarded.reader))
        return [one.strip("<> ").partition(">")[0] for one in answer.headers.get("link", "").split(",")]

    now, past, entity = [await named(path) for path in ("/", "/now?at=5", "/entity/cluster/c1")]
    assert {"/page/main.js", "/page/now.js", "/page/store.js", "/page/heatmap.js", "/v1/columns"} <= set(now)
    assert set(now) - set(past) == {"/v1/columns"}
    assert {"/page/entity.js", "/page/diagram.js"} <= set(entity) - set(now)
    for path in now[:-1]:
        assert (await guarded.api.http.get(path)).status_code == 200
    assert await named("/page/main.js") == [""]


async def test_other_hosts_and_sites_are_refused(guarded: Guarded) -> None:
    http, own = guarded.api.http, bearer(guarded.everything)
    answer = await http.get("/v1/entities", headers={**own, "host": "evil.example"})
    assert (answer.status_code, "--allowed-host evil.example" in answer.json()["detail"]) == (421, True)
    assert (await http.get("/", headers={"host": "evil.example"})).status_code == 421
    assert (await http.get("/livez", headers={"host": "pod.example"})).status_code == 200
    answer = await http.post("/v1/session", headers={**own, "sec-fetch-site": "cross-site"})
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:phaseline:problem:other-site")


async def test_every_answer_has_the_headers_of_safety(guarded: Guarded) -> None:
    for path in ("/", "/v1/entities", "/nothing", "/openapi.json"):
        headers = (await guarded.api.http.get(path)).headers
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'" in headers["content-security-policy"]


async def test_other_machines_may_ask_only_with_tokens(working: Settings, tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="other machines can reach 0"):
        async with serving(working, BUILT_IN_KINDS, "0.0.0.0:0"):
            pass
    tokens.add(tmp_path / "tokens", "a", ["read"])
    async with serving(working, BUILT_IN_KINDS, "0.0.0.0:0", access=AccessSettings(tmp_path / "tokens")):
        pass


async def test_a_list_kept_for_somebody_else_is_not_shown(guarded: Guarded) -> None:
    """The list of all trees was made for another caller. A query that was chosen to look like it gets nothing of it."""
    listed = await guarded.api.http.get("/v1/entities?limit=1", headers=bearer(guarded.everything))
    assert (listed.json()["total"], listed.json()["continue"] is not None) == (3, True)
    label = same_checksum("/v1/entities?label=", "&tree=c1", zlib.crc32(b"/v1/entities?"))
    answer = await ask(guarded, f"/v1/entities?label={label}")
    assert OTHER not in answer.text


def same_checksum(before: str, after: str, wanted: int) -> str:
    """A text so that CRC-32 of all three together is the wanted one: flipping a character changes it by a constant."""
    letters = ["a"] * 64

    def checksum() -> int:
        return zlib.crc32(f"{before}{''.join(letters)}{after}".encode())

    start, rows = checksum(), dict[int, tuple[int, int]]()
    for place in range(len(letters)):
        letters[place] = "b"
        change, used = checksum() ^ start, 1 << place
        letters[place] = "a"
        while change and (top := change.bit_length()) in rows:
            change, used = change ^ rows[top][0], used ^ rows[top][1]
        if change:
            rows[change.bit_length()] = change, used
    left, flipped = wanted ^ start, 0
    while left:
        change, used = rows[left.bit_length()]
        left, flipped = left ^ change, flipped ^ used
    letters = ["b" if flipped >> place & 1 else "a" for place in range(len(letters))]
    assert checksum() == wanted
    return "".join(letters)


async def test_caches_do_not_keep_what_one_caller_may_read_for_another(guarded: Guarded) -> None:
    for path in ("/v1/entities?at=3", "/v1/entities", "/v1/columns?at=3"):
        answer = await ask(guarded, path)
        assert answer.headers["cache-control"].startswith("private, "), path
        assert {"Authorization", "Cookie"} < set(answer.headers["vary"].split(", ")), path
        again = await guarded.api.http.get(
            path, headers={**bearer(guarded.reader), "if-none-match": answer.headers["etag"]}
        )
        assert (again.status_code, again.headers["cache-control"]) == (304, answer.headers["cache-control"])
        assert again.headers["vary"] == answer.headers["vary"]


async def test_a_stream_ends_when_its_token_is_taken_away(
    guarded: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded.api.service, "limits", LIMITS._replace(bookmark=0.05))
    path = tmp_path / "tokens"
    kept = [line for line in path.read_text().splitlines() if " reader " not in line]
    async with (
        asyncio.timeout(LIMIT), guarded.api.http.stream("GET", "/v1/transitions", headers=bearer(guarded.reader)) as answer,
    ):  # fmt: skip
        lines = answer.aiter_lines()
        await anext(lines)
        path.write_text("\n".join(kept))
        assert "event: bye" in [line async for line in lines]
