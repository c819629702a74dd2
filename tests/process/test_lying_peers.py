"""Servers that we ask by HTTP and that lie: bodies without end, answers without end, our own token in what they say."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from structlog.testing import capture_logs

from phaseline.engine import outgoing
from phaseline.schemas import bounds
from phaseline.schemas.errors import BadArchive, NoAnswer, SetupError
from tests.support.archives import Bucket
from tests.support.http_server import KEY_PACE, JwtSettings, KeyPace, jwts
from tests.support.lying_server import Answer, dripping, endless, head, lying, unfolding
from tests.support.observing import AnswerTooLarge, Resource, Unavailable, cluster, discovery, kubernetes_api
from tests.support.raising import raises

TOKEN = "sha256~Zm9vYmFyLXNlY3JldC10b2tlbg"
PODS = Resource("/api/v1", "pods", "v1", "Pod", namespaced=True)
GZIP = "Content-Encoding: gzip"


@asynccontextmanager
async def api_of(answer: Answer, tmp_path: Path) -> AsyncIterator[Any]:
    """A client of an API server that answers so."""
    async with lying(answer) as port:
        path = tmp_path / "kubeconfig"
        cluster_ = {"name": "x", "cluster": {"server": f"http://127.0.0.1:{port}"}}
        context = {"name": "x", "context": {"cluster": "x", "user": "x"}}
        user = {"name": "x", "user": {"token": TOKEN}}
        said = {"current-context": "x", "contexts": [context], "clusters": [cluster_], "users": [user]}
        path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **said}))
        async with kubernetes_api.connected(path, None) as api:
            yield api


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that are soon reached."""
    monkeypatch.setattr(kubernetes_api, "ANSWER", 1 << 20)
    monkeypatch.setattr(bounds, "LARGEST", 1 << 20)


@pytest.mark.parametrize("body", [endless(head("200 OK")), unfolding(head("200 OK", GZIP))])
async def test_a_body_without_end(body: AsyncIterator[bytes], tmp_path: Path, small: None) -> None:
    async with api_of(lambda _: body, tmp_path) as api:
        with pytest.raises(AnswerTooLarge, match="more than 1,048,576 bytes"):
            await kubernetes_api.get(api, "/api/v1")


async def test_a_page_that_is_too_large_is_asked_for_in_parts(tmp_path: Path, small: None) -> None:
    """As large as real objects can be: 20 of them are more than we take at once."""
    asked: list[int] = []

    async def answer(request: bytes) -> AsyncIterator[bytes]:
        query = dict(one.split("=") for one in request.split()[1].decode().partition("?")[2].split("&"))
        limit, at = int(query["limit"]), int(query.get("continue", 0))
        asked.append(limit)
        items = [{"metadata": {"name": f"p{n}"}, "spec": "x" * 50_000} for n in range(at, min(40, at + limit))]
        more = {"continue": str(at + limit)} if at + limit < 40 else {"resourceVersion": "7"}
        yield head("200 OK", GZIP) + gzip.compress(json.dumps({"items": items, "metadata": more}).encode())

    async with api_of(answer, tmp_path) as api:
        found = [(one, version) async for page, version in cluster._pages(api, PODS, None) for one in page]
    assert [one["metadata"]["name"] for one, _ in found] == [f"p{n}" for n in range(40)]
    assert found[-1][1] == "7"
    assert asked[:3] == [500, 62, 7]


async def test_an_answer_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubernetes_api, "TOTAL", 0.3)
    for start in (head("200 OK"), b"HTTP/1.1 200 OK\r\nX: "):
        body = dripping(start)
        async with api_of(lambda _, body=body: body, tmp_path) as api:  # type: ignore[misc]  # it is called once
            with pytest.raises(Unavailable, match="TimeoutError"):
                await kubernetes_api.get(api, "/api/v1")


@pytest.mark.parametrize("status", ["403 Forbidden", f"403 no {TOKEN}", "401 Unauthorized", "301 Moved"])
@pytest.mark.parametrize("packed", [False, True])
async def test_an_error_that_repeats_the_token(status: str, tmp_path: Path, *, packed: bool) -> None:
    async def answer(request: bytes) -> AsyncIterator[bytes]:
        if packed:
            yield head(status, GZIP) + gzip.compress(request * 200)
        else:
            async for piece in endless(head(status) + b"\x1b[31m" + request, request):
                yield piece

    async with api_of(answer, tmp_path) as api:
        with raises(SetupError.cluster_unusable, match=r"Bearer \*\*\*") as raised:
            await kubernetes_api.get(api, "/api/v1/pods")
    assert TOKEN[:10] not in str(raised.value)
    assert len(str(raised.value)) < 1_000
    assert str(raised.value).isprintable()


async def test_troubles_that_repeat_the_token(tmp_path: Path) -> None:
    """In whatever part of an answer: a head that is none, a body that is no JSON, messages, the events of a watch."""
    echo = f"you sent {TOKEN}".encode()
    message = json.dumps({"message": f"you sent {TOKEN}\n" * 500, "code": 500}).encode()
    for answer in (
        head("503 Bad") + echo, b"HTTP/1.1 " + echo + b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + echo + b"\r\n\r\n",
        head("200 OK") + echo + b"\n", head("200 OK", f"Content-Encoding: {TOKEN}"),
        head("200 OK") + b'{"type": "ERROR", "object": ' + message + b"}\n", head("500 no") + message,
    ):  # fmt: skip

        async def told(_: bytes, answer: bytes = answer) -> AsyncIterator[bytes]:
            yield answer

        async with api_of(told, tmp_path) as api:
            with capture_logs() as logged:
                with pytest.raises(Unavailable) as raised:
                    async for _ in cluster._watch(api, PODS, None, "1", set()):
                        pass
                assert not await cluster.is_gone(api, PODS, "shop/x")
        for text in (str(raised.value), json.dumps(logged)):
            assert TOKEN[:10] not in text
            assert len(text) < 2_000


async def test_a_change_without_end(tmp_path: Path, small: None) -> None:
    async with api_of(lambda _: endless(head("200 OK")), tmp_path) as api:
        with pytest.raises(Unavailable, match="a change has more than 1,048,576 bytes"):
            await anext(cluster._watch(api, PODS, None, "1", set()))
        with raises(SetupError.cluster_unusable, match="does not answer"):
            await discovery.cluster_of(api, None)


def jwts_at(port: int, user: str = "", pace: KeyPace = KEY_PACE) -> jwts.Jwts:
    url = f"http://{user}127.0.0.1:{port}/keys?key={TOKEN}"
    return jwts.Jwts(JwtSettings(url, "https://id.example", "phaseline", pace=pace))


REDIRECTS = ["http://id.example/keys", "file:///etc/passwd", "ftp://127.0.0.1/keys"]


@pytest.mark.parametrize(
    "body",
    [
        endless(head("200 OK")), unfolding(head("200 OK", GZIP)), dripping(head("200 OK")),
        dripping(b"HTTP/1.1 200 OK\r\nX: "), dripping(head("200 OK", "Transfer-Encoding: chunked")),
        endless(head(f"500 no {TOKEN}")), *(endless(head("302 Found", f"Location: {one}?{TOKEN}")) for one in REDIRECTS),
    ],
)  # fmt: skip
async def test_keys_that_do_not_come(body: AsyncIterator[bytes]) -> None:
    """Whoever presents a token learns in bounded time that it cannot be checked."""
    async with lying(lambda _: body) as port, asyncio.timeout(60):
        with capture_logs() as logged, raises(NoAnswer.keys_unread):
            await jwts_at(port, pace=KeyPace(patience=0.4)).caller("eyJhbGciOiJSUzI1NiJ9.e30.c2ln")
    assert TOKEN[:10] not in json.dumps(logged)
    assert [one["event"] for one in logged] == ["jwks_unreadable"]


async def test_keys_that_come_packed() -> None:
    async def answer(_: bytes) -> AsyncIterator[bytes]:
        yield head("200 OK", GZIP) + gzip.compress(b'{"keys": []}')

    async with lying(answer) as port:
        url = f"http://127.0.0.1:{port}/"
        found = await asyncio.to_thread(outgoing.fetch, url, 100, 60, lambda _: False)
    assert found == b'{"keys": []}'


async def test_an_object_store_that_repeats_our_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token of a session goes with each request."""

    async def answer(_: bytes) -> AsyncIterator[bytes]:
        yield head("403 no") + f"you are {TOKEN}".encode()

    async with lying(answer) as port:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_SESSION_TOKEN": TOKEN, "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        with pytest.raises(BadArchive, match="you are") as raised:
            await asyncio.to_thread(lambda: Bucket("s3://bucket/log").manifest())
    assert TOKEN[:10] not in str(raised.value)
