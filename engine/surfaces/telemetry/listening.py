"""Sockets that listen, for servers of our own: reading `HOST:PORT`, opening.

Belongs here: what `phaseline serve` and metrics share, and the ports of both. Does not: answering (`http.server`,
`endpoint`).
"""

import errno
import socket

from phaseline.schemas.errors import BadSetting, SetupError

LOOPBACK = "127.0.0.1"
HTTP_PORT = 8223
"""The port of the page and the API, if none is named."""
METRICS_PORT = 9464
"""The port of metrics, if none is named."""
HTTP_LISTEN, METRICS_LISTEN = f"{LOOPBACK}:{HTTP_PORT}", f"{LOOPBACK}:{METRICS_PORT}"


def address_of(listen: str, name: str, port: int) -> tuple[str, int]:
    """The host and the port of `HOST:PORT`, `[HOST]:PORT`, `PORT`, or `HOST`; raises `BadSetting`.

    name: of the setting. port: if none is named. Without a host it is this machine only.
    """
    host, colon, named = listen.rpartition(":")
    if not colon:
        host, named = (LOOPBACK, listen) if listen.isdecimal() else (listen, str(port))
    if not named.isdecimal() or int(named) > 65_535 or not host:
        example = f"{LOOPBACK}:{port}"
        raise BadSetting(name=name, problem=f"must be HOST:PORT, such as {example}, found {listen[:128]!r}")
    return host.removeprefix("[").removesuffix("]"), int(named)


def bound(host: str, port: int, name: str) -> socket.socket:
    """A socket that listens; raises `SetupError.port_taken`, `BadSetting`. name: of the setting."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SetupError.port_taken(port=port, option=f"--{name}") from None
        raise BadSetting(name=name, problem=f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    # Connections inherit it. Without it, the body of an answer waits for the acknowledgement of its head: 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def url_of(host: str, listening: socket.socket) -> str:
    """Where a socket listens: `http://127.0.0.1:8223`."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
