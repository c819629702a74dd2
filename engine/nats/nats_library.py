"""nats-py, without what only its users of WebSockets and of its JetStream client need.

Belongs here: the parts of nats-py that every connection uses. Does not: using them (`connection`), services
(`micro`, which has the part of nats-py for them).
nats-py loads aiohttp if that is installed, and aiohttp reads all certificates of the machine: a third of the time that
a command takes to start. nats-py's JetStream client, which we do not use, takes half as long as its connection: it is
loaded when somebody uses it. nats-py reads its own version from all that is written about it as a package, which takes
as long; the version is in the name of a folder too.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

JETSTREAM = "nats.js"
PACKAGES = "importlib.metadata"


def _version(name: str) -> str:
    """The version of a package that is installed beside nats-py; raises `LookupError` if none is."""
    found = find_spec("nats")
    beside = Path((found and found.origin) or "").parent.parent
    for folder in beside.glob(f"{name.replace('-', '_')}-*.dist-info"):
        return folder.name.removesuffix(".dist-info").rpartition("-")[2]
    raise LookupError(name)


@contextmanager
def _standing_in(name: str, module: ModuleType | None) -> Iterator[None]:
    """A block in which a library is that module, unless it is loaded already. None: it cannot be imported."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = module  # type: ignore[assignment]  # for None Python says that it is not there
    try:
        yield
    finally:
        del sys.modules[name]


@contextmanager
def sparing() -> Iterator[None]:
    """A block that imports from nats-py."""
    packages = ModuleType(PACKAGES)
    vars(packages)["version"] = _version
    with (
        _standing_in("aiohttp", None),
        _standing_in(JETSTREAM, ModuleType(JETSTREAM)),
        _standing_in(PACKAGES, packages),
    ):
        yield


with sparing():
    import nats
    from nats import errors
    from nats.aio import transport
    from nats.aio.client import Client
    from nats.aio.msg import Msg

__all__ = ["Client", "Msg", "errors", "load_websockets", "sparing"]


def _part_of_nats(name: str) -> ModuleType:
    """What nats-py gets for `nats.js` when it first uses it. Threads wait for each other, as for any import."""
    if name != "js":
        raise AttributeError(f"module 'nats' has no attribute {name!r}")
    return import_module(JETSTREAM)


vars(nats)["__getattr__"] = _part_of_nats


def load_websockets() -> None:
    """Let nats-py use WebSockets, if aiohttp is installed. Otherwise nats-py says that it needs it."""
    with suppress(ImportError):
        vars(transport)["aiohttp"] = import_module("aiohttp")
