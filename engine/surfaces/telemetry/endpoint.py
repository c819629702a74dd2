"""Answers `/metrics`, `/livez` and `/readyz` in threads, so that it answers also while the event loop does not turn.

Belongs here: requests and their bounds. Does not: what is answered (`exposing`).
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from phaseline.engine import logs

MOST_REQUESTS = 16
"""Requests that are answered at the same time, at most. One more ends the oldest of them."""
PATIENCE = 5
"""Seconds to wait for a client."""
LOOK = 0.1
"""Seconds after which the end is noticed."""
TEXT = {"Content-Type": "text/plain; charset=utf-8"}

log = logs.get_logger(__name__)


class ProbeRequest(NamedTuple):
    """What a request asks for. headers: with names in lower case."""

    query: str
    headers: Mapping[str, str]


class ProbeAnswer(NamedTuple):
    """What is sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Answering = Callable[[ProbeRequest], ProbeAnswer]
"""Called in a thread."""


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    server: "_Server"
    server_version, sys_version = "phaseline", ""

    def do_GET(self) -> None:
        path = urlsplit(self.path)
        answering = self.server.paths.get(path.path)
        if answering is None:
            known = " ".join(self.server.paths)
            answer = ProbeAnswer(404, TEXT, f"there is no such path; there are {known}\n".encode())
        else:
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = self._answered(path.path, answering, ProbeRequest(path.query, headers))
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    def _answered(self, path: str, answering: "Answering", request: ProbeRequest) -> ProbeAnswer:
        try:
            return answering(request)
        except Exception as error:  # it is logged, and whoever asks learns of it
            log.exception("request_failed", path=path, error=repr(error))
            return ProbeAnswer(500, TEXT, b"an error in phaseline; its log says more\n")

    do_HEAD = do_GET  # noqa: N815  # the name that the library calls

    def log_message(self, *_: Any) -> None:
        """Requests are not logged."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listening: socket.socket, paths: Mapping[str, Answering]) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.paths = listening, paths
        self._open: list[socket.socket] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open = [one for one in self._open if one.fileno() >= 0]
        if len(self._open) >= MOST_REQUESTS:
            _end(self._open.pop(0))
        self._open.append(request)
        super().process_request(request, client_address)

    def handle_error(self, *_: Any) -> None:
        """A client that leaves in the middle is no error of ours."""


def _end(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # it has ended by itself
        return


@asynccontextmanager
async def answering(listening: socket.socket, paths: Mapping[str, Answering]) -> AsyncIterator[None]:
    """Answer requests for these paths while the block runs."""
    server = _Server(listening, paths)
    threading.Thread(target=server.serve_forever, args=(LOOK,), name="metrics", daemon=True).start()
    try:
        yield
    finally:
        await asyncio.to_thread(server.shutdown)
        server.server_close()
