"""The reads of products by name: what the client and its views have beside their own methods.

Belongs here: finding the `ClientView` of a name among the products, loading it, and its form without asyncio. Does not:
any read (`engine.products`, installed packages), the seam (`language.product`).
"""

from collections.abc import Callable
from functools import cache, wraps
from inspect import iscoroutine
from typing import Any

from phaseline.engine.client.portal import Portal
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.product import ClientView, load
from phaseline.schemas.errors import SetupError


def names(kinds: Kinds, *, of_moments: bool = False) -> list[str]:
    """The names of the reads that products add. of_moments: only those that views have too."""
    return [one.name for one in _offered(kinds) if one.view or not of_moments]


def of_client(client: Any, name: str) -> Any:
    """What `client.NAME` is; raises `AttributeError`, and `SetupError.kinds_broken` if it cannot be loaded."""
    found = _found(client, name)
    return _loaded(found.name, found.client)(client)


def of_view(view: Any, name: str) -> Any:
    """The same for the view of a moment."""
    found = _found(view, name)
    if not found.view:
        raise _absent(view, name)
    return _loaded(found.name, found.view)(view)


def plain(portal: Portal, source: Any, name: str) -> Any:
    """The same without asyncio. source: the client or the view with asyncio."""
    found, reads = _found(source, name), getattr(source, name)
    if not found.plain:
        return PlainReads(portal, reads)
    return _loaded(name, f"{found.plain}:{type(reads).__name__}")(portal, reads)


class PlainReads:
    """The reads of a product without asyncio: a method runs to its end, an asynchronous iterator is an iterator."""

    def __init__(self, portal: Portal, source: Any) -> None:
        """Run the reads of `source` in the portal."""
        self._portal, self._source = portal, source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise _absent(self, name)
        found = getattr(self._source, name)
        return self._run(found) if callable(found) else found

    def __dir__(self) -> list[str]:
        return [one for one in dir(self._source) if not one.startswith("_")]

    def _run(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            made = method(*arguments, **named)
            if iscoroutine(made):
                return self._portal.run(made)
            return self._portal.iterate(made) if hasattr(made, "__anext__") else made

        return call


def _offered(kinds: Kinds) -> list[ClientView]:
    return [view for product in kinds.products or () for view in product.views]


def _found(source: Any, name: str) -> ClientView:
    """The reads of that name. Names with an underscore are never asked for: the object may not be complete yet."""
    offered = () if name.startswith("_") else _offered(source.kinds)
    for one in offered:
        if one.name == name:
            return one
    raise _absent(source, name)


def _absent(source: object, name: str) -> AttributeError:
    return AttributeError(f"{type(source).__name__!r} object has no attribute {name!r}", name=name, obj=source)


@cache
def _loaded(name: str, at: str) -> Any:
    try:
        return load(at)
    except Exception as error:
        problem = f"the reads {name} ({at}) cannot be loaded: {type(error).__name__}: {error}"
        raise SetupError.kinds_broken(problem=problem) from error
