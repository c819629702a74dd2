"""The public names of `phaseline`: each is loaded when it is first used, and named after the module that offers it.

Belongs here: `offer`, which makes a module of a table of names; `name_as_public`. Does not: which names are public (the
modules of `src/phaseline`), the stubs for type checkers (`surfaces.generate`).
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FunctionType
from typing import Any, get_overloads


def name_as_public(found: Any, home: str, public: str) -> None:
    """Make `public` the module of a class or function of the module `home`, and of the methods of the class.

    A method with overloads keeps its module, by which `typing.get_overloads` finds them.
    """
    if getattr(found, "__module__", None) != home:
        return
    found.__module__ = public
    for member in vars(found).values() if isinstance(found, type) else ():
        function = getattr(member, "__func__", member)
        if isinstance(function, FunctionType) and function.__module__ == home and not get_overloads(function):
            function.__module__ = public


def offer(
    into: dict[str, Any], names: Mapping[str, str], modules: str = "", former: Callable[[str], Any] | None = None, *,
    renames: bool = True,
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:  # fmt: skip
    """What a public module has as `__all__`, `__getattr__` and `__dir__`.

    into: the globals of that module. names: its names, by the modules that they come from. modules: public modules
    below it. former: what stood under other names; None for what never did. renames: whether help and repr name
    classes and functions after it.
    """
    public: str = into["__name__"]
    home_of = {name: home for home, listed in names.items() for name in listed.split()}
    every = sorted([*home_of, *modules.split(), *(["__version__"] if "__version__" in into else [])])
    if renames:
        _offered.append((into, names))

    def load(name: str) -> Any:
        if name in modules.split():
            return import_module(f"{public}.{name}")
        if name not in home_of and (found := former and former(name)) is not None:
            return found
        if name not in home_of:
            raise AttributeError(f"module {public!r} has no attribute {name!r}")
        into[name] = getattr(import_module(home_of[name]), name)
        if renames:
            _rename()
        return into[name]

    return every, load, lambda: every


_offered: list[tuple[dict[str, Any], Mapping[str, str]]] = []
_LATE = "errors emco fleet gitops levels types"
"""The public modules that rename classes once they are imported."""


def _rename() -> None:
    """Take over the names of all modules that are loaded, so that nobody meets one of them under its other name."""
    for late in _LATE.split():
        import_module(f"phaseline.{late}")
    for into, names in _offered:
        for home, listed in names.items():
            module = sys.modules.get(home)
            for name in listed.split() if module is not None else ():
                found = getattr(module, name)
                name_as_public(found, home, into["__name__"])
                into[name] = found
