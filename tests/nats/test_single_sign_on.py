"""People log in at an identity provider, a proxy gives the gateway their token, and the gateway says what they may."""

import json
import tomllib
from collections.abc import AsyncIterator
from typing import NamedTuple

import httpx2
import pytest_asyncio

from phaseline import Client
from tests.support.command import ROOT
from tests.support.http_server import AccessSettings, Api, JwtSettings, http_server
from tests.support.installation import Settings
from tests.support.single_sign_on import Provider, Proxy, serving

CONFIG = tomllib.loads((ROOT / "deploy" / "single-sign-on" / "oauth2-proxy.cfg").read_text())
WORDS = ("everybody=read", "platform=read", "platform=publish", "platform=operate")
JSON_EVENT = "application/cloudevents+json"


class Site(NamedTuple):
    """browser: asks the proxy, and follows it to the provider and back."""

    provider: Provider
    api: Api
    browser: httpx2.AsyncClient

    async def log_in(self, **person: object) -> None:
        """Open the page as somebody who is logged in at the provider."""
        self.browser.cookies.clear()
        self.provider.person = person
        assert "<html" in (await self.browser.get("/")).text

    async def create(self, cluster: str, **headers: str) -> httpx2.Response:
        event = {"specversion": "1.0", "id": cluster, "source": "/phaseline/page", "type": "cluster.create",
                 "subject": f"cluster/{cluster}"}  # fmt: skip
        given = {"content-type": JSON_EVENT, "prefer": "wait=60", **headers}
        return await self.browser.post("/v1/events", content=json.dumps(event).encode(), headers=given)


@pytest_asyncio.fixture
async def site(client: Client, working: Settings) -> AsyncIterator[Site]:
    provider = Provider()
    async with serving(provider):
        jwt = JwtSettings(f"{provider.url}/keys", provider.url, CONFIG["client_id"], "groups", "email", WORDS)
        async with http_server(working, access=AccessSettings(jwt=jwt)) as api:
            proxy = Proxy(CONFIG, provider, api.url)
            async with (
                serving(proxy),
                httpx2.AsyncClient(base_url=proxy.url, timeout=120, trust_env=False, follow_redirects=True) as browser,
            ):
                yield Site(provider, api, browser)


async def test_who_is_logged_in_has_the_rights_of_their_groups(site: Site) -> None:
    assert (await site.browser.get("/v1/entities")).status_code == 401
    await site.log_in(sub="CiQ1", email="ann@example", email_verified=True, groups=["staff", "platform"])
    found = (await site.browser.get("/v1/session")).json()
    assert (found["name"], found["roles"]) == ("ann@example", ["operate", "publish", "read"])
    made = await site.create("c1")
    assert [one["data"]["cause"]["actor"] for one in made.json()["records"]] == ["ann@example"]
    async with site.browser.stream("GET", "/v1/transitions?from=1", headers={"accept": "text/event-stream"}) as stream:
        assert stream.status_code == 200
        assert "ann@example" in await first_batch(stream)
    await site.log_in(sub="CiQ2", email="li@example", email_verified=True, groups=["everybody", "operate"])
    assert (await site.browser.get("/v1/session")).json()["roles"] == ["read"], "a group is a role by the table only"
    assert (await site.create("c2")).status_code == 403


async def first_batch(stream: httpx2.Response) -> str:
    return await anext(line async for line in stream.aiter_lines() if line.startswith("data:") and "records" in line)


async def test_nobody_becomes_another_by_a_header(site: Site) -> None:
    await site.log_in(sub="CiQ2", email="li@example", email_verified=True, groups=["everybody"])
    stolen = site.provider.signed("another service", email="ann@example", groups=["platform"])
    forged = {"x-forwarded-user": "ann@example", "x-forwarded-email": "ann@example", "x-forwarded-groups": "platform"}
    assert (await site.create("c3", **forged, authorization=f"Bearer {stolen}")).status_code == 403
    for headers in (forged, {"authorization": f"Bearer {stolen}"}, {**forged, "authorization": "Bearer x.y.z"}):
        assert (await site.api.http.get("/v1/entities", headers=headers)).status_code == 401, headers


async def test_an_address_that_nobody_confirmed_names_nobody(site: Site) -> None:
    await site.log_in(sub="CiQ3", email="ann@example", email_verified=False, groups=["platform"])
    assert (await site.browser.get("/v1/entities")).status_code == 200
    answer = await site.create("c4")
    assert (answer.status_code, answer.json()["type"]) == (403, "urn:phaseline:problem:nameless")
