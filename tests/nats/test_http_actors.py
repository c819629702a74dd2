"""Who did it, on a real server: from a caller of `phaseline serve` to the record, and what nobody can claim."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import ed25519

from phaseline.schemas import codec
from phaseline.schemas.errors import NotPermitted
from tests.support.accounts_server import accounts_installation
from tests.support.command import Shell
from tests.support.http_events import JSON_EVENT, event
from tests.support.http_server import AccessSettings, Api, JwtSettings, http_server, tokens
from tests.support.installation import Settings, Wire
from tests.support.log_check import audited, stored
from tests.support.own_installation import Client
from tests.support.owners import purge

KEY = ed25519.Ed25519PrivateKey.generate()
ISSUER, AUDIENCE = "https://id.example", "phaseline"


class Known(NamedTuple):
    """A server that knows tokens, JWTs and the users of a proxy on this machine. tokens: by name."""

    api: Api
    tokens: dict[str, str]

    async def send(self, body: Any, who: str = "", type_: str = JSON_EVENT, **headers: str) -> Any:
        """who: the name of a token, or the token itself. Waits for the outcome."""
        given = {"content-type": type_, "prefer": "wait=60", **{k.replace("_", "-"): v for k, v in headers.items()}}
        if who:
            given["authorization"] = f"Bearer {self.tokens.get(who, who)}"
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.api.http.post("/v1/events", content=content, headers=given)

    async def get(self, path: str, who: str = "ann", **parameters: Any) -> Any:
        answer = await self.api.http.get(
            path,
            params=parameters,
            headers={"authorization": f"Bearer {self.tokens[who]}", "accept": "application/json"},
        )
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest_asyncio.fixture
async def known(client: Client, working: Settings, tmp_path: Path) -> AsyncIterator[Known]:
    path, keys = tmp_path / "tokens", tmp_path / "keys.json"
    made = {name: tokens.add(path, name, roles) for name, roles in {
        "ann": ["read", "publish", "operate"], "bob/ops": ["read", "publish", "operate"],
        "agent": ["publish:c1", "source:/agent/*"],
    }.items()}  # fmt: skip
    public = jwt.get_algorithm_by_name("EdDSA").to_jwk(KEY.public_key(), as_dict=True)
    keys.write_text(json.dumps({"keys": [{**public, "kid": "k"}]}))
    access = AccessSettings(
        path, proxies=("127.0.0.1",), user_header="x-user", user_roles=("read", "publish"),
        jwt=JwtSettings(str(keys), ISSUER, AUDIENCE),
    )  # fmt: skip
    async with http_server(working, access=access) as api:
        yield Known(api, made)


def signed(**claims: Any) -> str:
    given = {"iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 60, "roles": ["read", "publish"], **claims}
    return jwt.encode(given, KEY, "EdDSA", headers={"kid": "k"})


def causes(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["data"]["cause"].get("actor", "") for one in answer.json()["records"]]


async def test_a_record_names_the_caller_in_every_place_that_shows_it(known: Known, client: Client) -> None:
    sent = await known.send(event(source="/phaseline/page"), "ann")
    assert causes(sent) == ["ann"]
    assert sent.json()["records"][0]["data"]["cause"]["source"] == "/phaseline/page"
    assert "extensions" not in sent.json()["records"][0]["data"]["cause"]
    stored_event = await known.get("/v1/events/1")
    assert (stored_event["event"]["actor"], stored_event["event"]["source"]) == ("ann", "/phaseline/page")
    why = await known.get("/v1/why/cluster/c1")
    assert why["facets"][0]["causes"][0]["records"][-1]["cause"]["actor"] == "ann"
    history = await known.get("/v1/history/cluster/c1")
    assert [one["data"]["cause"]["actor"] for one in history["items"]] == ["ann"]
    assert (await known.get("/v1/entities/cluster/c1"))["entity"]["cause"]["actor"] == "ann"
    assert [one.cause.actor async for one in client.history("cluster", "c1")] == ["ann"]


async def test_every_way_of_knowing_somebody(known: Known) -> None:
    async def who(number: int, token: str = "", **headers: str) -> Any:
        answer = await known.send(event(f"cluster/w{number}"), token, **headers)
        return causes(answer)[0] if answer.status_code == 200 else answer.json()["type"].rpartition(":")[2]

    assert await who(1, "bob/ops") == "bob/ops"
    assert await who(2, signed(sub="7b1d|auth.example")) == "7b1d|auth.example"
    assert await who(3, signed(client_id="robot")) == "robot"
    assert await who(4, x_user="li") == "li"
    assert await who(5, signed()) == "nameless"
    assert await who(6, signed(sub="x" * 129)) == "nameless"
    assert await who(7, signed(sub="a\x1b[31mb")) == "nameless"
    assert await who(8, signed(sub=["ann"])) == "no-token"
    assert await who(9, signed(sub="ann")) == "nameless"  # it is not the token of that name
    assert await who(10, x_user="ann") == "nameless"
    assert await who(11, x_user="x" * 10_000) == "nameless"
    assert (await known.api.http.get("/v1/entities", headers={"x-user": "ann"})).status_code == 200
    answer = await known.api.http.post(
        "/v1/events", content=json.dumps(event("cluster/w12")).encode(),
        headers=[(b"content-type", JSON_EVENT.encode()), (b"prefer", b"wait=60"), (b"x-user", "李雷".encode())],
    )  # fmt: skip
    assert causes(answer) == ["李雷"]


async def test_a_client_that_is_not_the_proxy_names_nobody(client: Client, working: Settings, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    token = tokens.add(path, "ann", ["publish"])
    access = AccessSettings(path, proxies=("10.0.0.1",), user_header="x-user", user_roles=("publish",))
    async with http_server(working, access=access) as api:
        known = Known(api, {"ann": token})
        assert (await known.send(event(), x_user="eve")).status_code == 401
        assert causes(await known.send(event(), "ann", x_user="eve")) == ["ann"]


async def test_nobody_says_who_they_are_in_the_body(known: Known) -> None:
    for who in ("ann", "agent"):
        answer = await known.send(event(source="/agent/c1", actor="boss"), who)
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:phaseline:problem:actor-claimed")
        assert "'boss'" in answer.json()["detail"]
    headers = {f"ce_{name}": value for name, value in event(data=None).items() if value and name != "data"}
    answer = await known.send(b'{"phase": "Running"}', "ann", "application/json", **headers, CE_Actor="boss")
    assert answer.json()["type"] == "urn:phaseline:problem:actor-claimed"
    batch = [event("cluster/b1", actor=""), event("cluster/b2", id="e2")]
    answer = await known.send(batch, "ann", "application/cloudevents-batch+json")
    assert [sorted(one) for one in answer.json()["results"]] == [
        ["problem"],
        ["duplicate", "event", "sequence", "source"],
    ]
    dry = await known.api.http.post(
        "/v1/events?dry-run=1&force=1", content=json.dumps(event(actor="boss")).encode(),
        headers={"content-type": JSON_EVENT, "authorization": f"Bearer {known.tokens['ann']}"},
    )  # fmt: skip
    assert dry.status_code == 422


async def test_a_server_that_asks_nobody_names_nobody(client: Client, working: Settings) -> None:
    async with http_server(working) as api:
        known = Known(api, {})
        answer = await known.send(event())
        assert "actor" not in answer.json()["records"][0]["data"]["cause"]
        assert "actor" not in (await api.get("/v1/events/1"))["event"]
        assert (await known.send(event(id="e2", actor="ann"))).status_code == 422


async def test_a_token_may_speak_as_some_sources_only(known: Known) -> None:
    assert causes(await known.send(event(source="/agent/c1"), "agent")) == ["agent"]
    refused = await known.send(event(id="e2", source="/phaseline/page"), "agent")
    assert (refused.status_code, refused.json()["type"]) == (403, "urn:phaseline:problem:source-refused")
    assert "of the sources /agent/*, not of '/phaseline/page'" in refused.json()["detail"]
    limited = signed(sub="li", roles=["publish", "source:/li/*"])
    assert (await known.send(event(id="e3", source="/x"), limited)).status_code == 403
    assert causes(await known.send(event("cluster/c2", source="/li/desk"), limited)) == ["li"]
    broken = signed(sub="li", roles=["publish", "source:"])
    assert (await known.send(event(id="e4"), broken)).status_code == 403  # no limit that can be read is not no limit
    session = await known.api.http.get("/v1/session", headers={"authorization": f"Bearer {known.tokens['agent']}"})
    assert session.json()["sources"] == ["/agent/*"]


async def test_a_dry_run_shows_the_actor(known: Known) -> None:
    answer = await known.api.http.post(
        "/v1/events?dry-run=1", content=json.dumps(event()).encode(),
        headers={"content-type": JSON_EVENT, "authorization": f"Bearer {known.tokens['ann']}"},
    )  # fmt: skip
    assert causes(answer) == ["ann"]


async def test_what_an_event_says_over_nats_is_a_claim(known: Known, client: Client) -> None:
    sent = await client.publish_and_wait("cluster", "adopt", "c9", {"phase": "Running"}, extensions={"actor": "ann"})
    assert (sent.records[0].record.cause.actor, sent.records[0].record.cause.extensions) == ("", {"actor": "ann"})
    history = await known.get("/v1/history/cluster/c9")
    assert "actor" not in history["items"][0]["data"]["cause"]
    assert history["items"][0]["data"]["cause"]["extensions"] == {"actor": "ann"}


async def refused_event(known: Known, who: str, **more: Any) -> int:
    answer = await known.send(event("node/c1/p/n1", "ready", **more), who)
    assert answer.status_code == 422, answer.text
    return int(answer.json()["place"])


async def test_rejections_are_counted_by_actor_and_sent_again_by_another(known: Known, client: Client) -> None:
    place = await refused_event(known, "ann")
    await refused_event(known, "bob/ops", id="e2")
    found = await known.get("/v1/rejections")
    assert [(one["actor"], one["count"]) for one in found["counts"]] == [("ann", 1), ("bob/ops", 1)]
    assert (await known.get("/v1/rejections", actor="ann"))["total"] == 1
    assert (await known.get("/v1/rejections", actor=""))["total"] == 0
    rejection = (await known.get(f"/v1/rejections/{place}"))["rejection"]
    assert rejection["data"]["cause"]["actor"] == "ann"
    again = await known.api.http.post(
        f"/v1/rejections/{place}/resend", headers={"authorization": f"Bearer {known.tokens['bob/ops']}"}
    )
    assert (again.status_code, again.json()["duplicate"]) == (202, False)
    repeated = await known.api.http.post(
        f"/v1/rejections/{place}/resend", headers={"authorization": f"Bearer {known.tokens['ann']}"}
    )
    assert (repeated.json()["duplicate"], repeated.json()["sequence"]) == (True, again.json()["sequence"])
    third = await client.resend(place)
    assert (third.duplicate, third.sequence) == (True, again.json()["sequence"])
    async with asyncio.timeout(60):
        while (found := await known.get("/v1/rejections"))["total"] < 3:
            await asyncio.sleep(0.02)
    cause = found["items"][0]["data"]["cause"]
    assert (cause["actor"], cause["extensions"]) == ("bob/ops", {"actor": "ann"})


async def test_who_may_speak_as_some_sources_sends_nothing_of_others_again(known: Known, tmp_path: Path) -> None:
    place = await refused_event(known, "ann")
    limited = tokens.add(tmp_path / "tokens", "desk", ["read", "operate", "source:/desk"])
    headers = {"authorization": f"Bearer {limited}"}
    async with asyncio.timeout(60):
        while (await known.api.http.get("/v1/counts", headers=headers)).status_code != 200:
            await asyncio.sleep(0.02)  # the file of tokens is looked at each second
    answer = await known.api.http.post(f"/v1/rejections/{place}/resend", headers=headers)
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:phaseline:problem:source-refused")


async def test_retries_see_events_that_were_sent_in_somebodys_name(known: Known, shell: Shell) -> None:
    place = await refused_event(known, "ann")
    found = await known.get(f"/v1/rejections/{place}")
    sequence, reason = found["rejection"]["data"]["cause"]["sequence"], found["rejection"]["data"]["reason"]

    async def hindrances() -> list[str]:
        said = await shell("rejections", "retry", "--reason", reason, "--dry-run", "--json")
        return [one["hindrance"] for one in said.lines]

    assert await hindrances() == [""]
    await known.api.http.post(
        f"/v1/rejections/{place}/resend", headers={"authorization": f"Bearer {known.tokens['bob/ops']}"}
    )
    async with asyncio.timeout(60):
        while len(again := await hindrances()) < 2:
            await asyncio.sleep(0.02)
    assert again == [f"it was sent again as event {sequence + 1}", ""]


async def test_a_purge_finds_them_and_an_audit_decides_the_same(known: Known, client: Client, wire: Wire) -> None:
    await known.send(event(), "ann")
    await client.publish_and_wait("cluster", "heartbeat", "c1")
    await known.send(event("cluster/c1", "update", id="e3"), "bob/ops")
    installation = known.api.service.installation
    report = await audited(wire, installation.layout)
    assert (report.holds, report.events) == (True, 3)
    assert len((await purge.find(installation, "cluster", "c1")).positions) == 3


async def test_what_live_copies_is_found_there_whoever_sent_it(known: Known, wire: Wire) -> None:
    live = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "words", "namespace": "shop"},
        "data": {"a": "b"},
    }
    name = "shop/shop/core:ConfigMap/shop/words"
    sent = event(f"resource/{name}", "observed", data={"live": live, "desired": live})
    answer = await known.send(sent, "ann")
    assert answer.status_code == 200, answer.text
    installation = known.api.service.installation
    async with asyncio.timeout(60):
        while not (found := await stored(wire, installation.layout.live, [">"])):
            await asyncio.sleep(0.02)
    assert codec.decode(found[-1].data)["actor"] == "ann"
    assert answer.json()["records"][0]["data"]["cause"]["extensions"] == {"actor": "ann"}


async def test_only_the_account_of_the_workers_can_name_an_actor(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    token = tokens.add(path, "ann", ["read", "publish"])
    async with accounts_installation() as server:
        async with http_server(server.settings("operator"), access=AccessSettings(path)) as api:
            assert causes(await Known(api, {"ann": token}).send(event(), "ann")) == ["ann"]
        async with Wire.open(server.settings("tree-c1")) as wire:
            for subject in ("pl.events.c1.~.ann.cluster.heartbeat", "pl.events.c1.~.tree-c1.cluster.heartbeat"):
                with pytest.raises(NotPermitted, match="the role operator may"):
                    await wire.publish_acked(subject, codec.encode(event(trigger="heartbeat")))
        async with Client.open(server.settings("tree-c1"), source="/agent/c1") as agent:
            await agent.publish("cluster", "reported", "c1", {"phase": "Stopped"}, extensions={"actor": "ann"})
        async with Client.open(server.settings("operator")) as reading:
            async with asyncio.timeout(60):
                while len(found := [one async for one in reading.history("cluster", "c1")]) < 2:
                    await asyncio.sleep(0.05)
        assert [(one.cause.actor, one.cause.extensions) for one in found] == [("ann", {}), ("", {"actor": "ann"})]
