"""All requests that a server answers: its own, and those of products.

Belongs here: loading the routes that products name, and refusing those that do not fit. Does not: the table of our own
(`routes`), finding the route of a request (`app`).
"""

import re
from collections.abc import Iterable

from phaseline.engine.http.routes import ROUTES, Route, pattern
from phaseline.machines.language.product import Product, load
from phaseline.schemas.errors import SetupError

ROOT = "/v1/"
"""What the paths of products begin with."""


def all_routes(products: Iterable[Product] | None) -> tuple[Route, ...]:
    """Our own routes, then those of products. Raises `SetupError.kinds_broken`."""
    found = list(ROUTES)
    for product in products or ():
        for name in product.routes:
            for route in _loaded(product, name):
                if problem := _problem(route, found):
                    raise SetupError.kinds_broken(
                        problem=f"a route of {product.name} ({name}) cannot be served: {problem}"
                    )
                found.append(route)
    return tuple(found)


def _loaded(product: Product, name: str) -> tuple[Route, ...]:
    try:
        found = load(name)
    except Exception as error:
        problem = f"the routes of {product.name} ({name}) cannot be loaded: {type(error).__name__}: {error}"
        raise SetupError.kinds_broken(problem=problem) from error
    if not isinstance(found, tuple) or not all(isinstance(one, Route) for one in found):
        raise SetupError.kinds_broken(
            problem=f"{name}, which {product.name} names, is no tuple of `phaseline.http.Route`"
        )
    return found


def _problem(route: Route, before: Iterable[Route]) -> str:
    """Why a route does not fit to those before it; empty if it does."""
    if not route.path.startswith(ROOT):
        return f"{route.path} does not begin with {ROOT}"
    in_path = re.findall(r"\{(\w+)\}", route.path)
    if in_path != [one.name for one in route.parameters if one.is_path]:
        return f"the parameters with is_path=True are not those of the path {route.path}, in their order"
    for other in before:
        if other.name == route.name:
            return f"another route has the name {route.name}"
        if other.method == route.method and re.fullmatch(pattern(other.path), route.path):
            return f"{route.method} {route.path} is a request of {other.name} ({other.path})"
    return ""
