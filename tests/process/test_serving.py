"""`serve` and `up --http` as processes: they answer, wait for NATS, and end in order."""

import re
import signal
import socket

import httpx2

from tests.support import closed_port
from tests.support.command import call, line_with, process
from tests.support.http_server import LIMIT


async def ask(url: str, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=url, timeout=LIMIT, trust_env=False, verify=False) as http:
        return await http.get(path)


async def test_up_serves_the_page_and_the_api() -> None:
    async with process("up", "--port", "0", "--http", "0") as started:
        said = await line_with(started.stderr, "  page ")
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert found
        assert "<title>Phaseline" in (await ask(found[0], "/")).text
        while (answer := await ask(found[0], "/v1/entities")).status_code == 503:
            assert answer.headers["retry-after"] == "1"
        assert (answer.status_code, answer.json()["total"]) == (200, 0)
        started.send_signal(signal.SIGINT)
        assert await started.wait() == 0


async def test_serve_waits_for_nats_and_says_so() -> None:
    async with process("serve", "--nats", closed_port.NATS, "--listen", "127.0.0.1:0") as started:
        found = re.search(r"http://127\.0\.0\.1:\d+", await line_with(started.stderr, "Ctrl-C"))
        assert found
        assert (await ask(found[0], "/livez")).status_code == 200
        for path in ("/v1/entities", "/v1/transitions", "/v1/counts", "/v1/columns", "/v1/strip", "/v1/summary"):
            answer = await ask(found[0], path)
            assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json"), path
            assert "still being loaded" in answer.json()["detail"]
        assert (await ask(found[0], "/readyz")).status_code == 503
        started.send_signal(signal.SIGTERM)
        assert await started.wait() == 0


async def test_serve_refuses_an_address_that_is_none_or_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        await _refused(taken)


async def _refused(taken: socket.socket) -> None:
    for listen, problem in (
        ("nowhere:nothing", "must be HOST:PORT"),
        ("0.0.0.0:0", "machines can reach 0.0.0.0"),
        (f"127.0.0.1:{taken.getsockname()[1]}", "or choose another with --listen"),
    ):
        code, _, said = await call("serve", "--listen", listen)
        assert (code in (2, 6), problem in said) == (True, True), said
