"""The reads of products by name: what the client and its views have beside their own methods.

Belongs here: finding the `ClientView` of a name among the products, and loading it. Does not: any read
(`engine.products`, installed packages), the seam (`language.product`), its form without asyncio (`sync_client`).
"""

from functools import cache
from typing import Any

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
