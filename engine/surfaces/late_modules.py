"""Modules of Python that a command loads only if it uses something of them.

Belongs here: which ones, and what stands for them until then. Does not: our own modules, which are imported where they
are called; parts of nats-py (`nats.nats_library`).
Each of these is imported by a module that every command needs, and used by few commands: TLS takes a twentieth of the
time in which a command starts. Python has a LazyLoader for this, but an import statement that finds such a module loads
it, and until 3.12 two threads that use one at once may see half of it.
"""

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

LATE: Mapping[str, Mapping[str, Any]] = {
    "ssl": {"SSLSocket": type("SSLSocket", (), {})},  # asyncio asks of each socket whether it is one
    "asyncio.sslproto": {},
}
"""By module, what it has until it is loaded."""


class _Late(ModuleType):
    """A module that is loaded when something of it is used that it does not have yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":  # what Python asks of any module
            raise AttributeError(name)
        waiting = _WAITING[self.__name__]
        with waiting.lock:  # another thread waits until all of it is there
            waiting.load(self)
        return ModuleType.__getattribute__(self, name)


class _Waiting:
    """A module that is not loaded yet."""

    def __init__(self, spec: ModuleSpec) -> None:
        self.lock, self._spec = RLock(), spec
        self._begun = False

    def load(self, module: ModuleType) -> None:
        """Load it. Nothing happens if that has begun, as when the module itself looks for what it lacks."""
        if self._begun or self._spec.loader is None:
            return
        self._begun = True
        try:
            self._spec.loader.exec_module(module)
        except BaseException:
            self._begun = False
            raise
        module.__class__ = ModuleType


_WAITING: dict[str, _Waiting] = {}


def spare() -> None:
    """Let this process load the modules `LATE` when it uses them, but for those that it has loaded."""
    for name, meanwhile in LATE.items():
        parent, _, child = name.rpartition(".")
        if name in sys.modules or parent in sys.modules:
            continue
        above = PathFinder.find_spec(parent) if parent else None
        spec = PathFinder.find_spec(name, above.submodule_search_locations if above else None)
        if spec is None:  # a Python without TLS, for instance
            continue
        module = module_from_spec(spec)
        vars(module).update(meanwhile)
        module.__class__ = _Late
        _WAITING[name], sys.modules[name] = _Waiting(spec), module
        if parent:
            setattr(import_module(parent), child, module)
