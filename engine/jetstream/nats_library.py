"""nats-py, without what only its users of WebSockets and of its JetStream client need.

Belongs here: the parts of nats-py that every connection uses. Does not: using them (`connection`), services
(`micro`, which has the part of nats-py for them).
nats-py loads aiohttp if that is installed, and aiohttp reads all certificates of the machine: a third of the time that
a command takes to start. nats-py's JetStream client, which we do not use, takes half as long as its connection: it is
loaded when somebody uses it.
"""

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType


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


class _Later(MetaPathFinder):
    """Finds one module, which is then executed when an attribute of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target) if fullname == self._name else None
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found


@contextmanager
def _later(name: str) -> Iterator[None]:
    """A block in which a module is imported, but not executed before it is used."""
    finder = _Later(name)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def sparing() -> Iterator[None]:
    """A block that imports from nats-py."""
    with _hidden("aiohttp"), _later("nats.js"):
        yield


with sparing():
    from nats import errors
    from nats.aio import transport
    from nats.aio.client import Client
    from nats.aio.msg import Msg

__all__ = ["Client", "Msg", "errors", "load_websockets", "sparing"]


def load_websockets() -> None:
    """Let nats-py use WebSockets, if aiohttp is installed. Otherwise nats-py says that it needs it."""
    with suppress(ImportError):
        vars(transport)["aiohttp"] = importlib.import_module("aiohttp")
