"""nats-py, without what it loads for WebSockets only. The only importer of `nats`.

Belongs here: the parts of nats-py that we use. Does not: using them (`connection`, `micro`).
nats-py loads aiohttp if that is installed, and aiohttp reads all certificates of the machine: a third of the time that
a command takes to start.
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    """A block in which a library cannot be imported, unless it is loaded already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # so Python says that it is not there
    try:
        yield
    finally:
        del sys.modules[name]


with _hidden("aiohttp"):
    from nats import errors
    from nats.aio import transport
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.micro.service import Service, ServiceConfig

__all__ = ["Client", "Msg", "Service", "ServiceConfig", "errors", "load_websockets"]


def load_websockets() -> None:
    """Let nats-py use WebSockets, if aiohttp is installed. Otherwise nats-py says that it needs it."""
    with suppress(ImportError):
        vars(transport)["aiohttp"] = importlib.import_module("aiohttp")
