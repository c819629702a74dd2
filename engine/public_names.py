"""Names public classes and functions after the module that offers them, so that help and repr show that module.

Belongs here: `name_as_public`. Does not: which names are public (`phaseline`, `phaseline.sync`).
"""

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
