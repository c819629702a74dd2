"""Libraries that only some features need, and the extra of Phaseline that installs each of them.

Belongs here: `EXTRAS`, `require` and `needed`; where other packages register
(`ENTRY_POINTS`). Does not: imports of these libraries (each has one importer), which rules need which library
(`Product.libraries`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from phaseline.schemas.errors import NotInstalled

ENTRY_POINTS = "phaseline.kinds"
"""The entry point group in which packages register a product, a table, or a tuple of tables."""
EXTRAS = {
    "yaml": ("PyYAML", "gitops"),
    "lupa": ("lupa", "gitops"),
    "jq": ("jq", "gitops"),
    "jsonpointer": ("jsonpointer", "gitops"),
    "kubernetes_asyncio": ("kubernetes-asyncio", "kubernetes"),
    "aiohttp": ("aiohttp", "notices"),
    "aiosmtplib": ("aiosmtplib", "notices"),
    "click": ("click", "cli"),
    "rich": ("rich", "cli"),
    "zstandard": ("zstandard", "cli"),
    "obstore": ("obstore", "objects"),
    "nkeys": ("nkeys", "nkeys"),
    "starlette": ("starlette", "http"),
    "uvicorn": ("uvicorn", "http"),
    "httptools": ("httptools", "http"),
    "prometheus_client": ("prometheus-client", "metrics"),
    "opentelemetry": ("opentelemetry-api", "otel"),
    "jwt": ("PyJWT", "jwt"),
}
"""By module: the distribution that holds it, and the extra of Phaseline that installs that distribution."""


def not_installed(module: str, what: str) -> NotInstalled:
    """The error for a feature whose library is missing. Of one that another package needs only the name is known."""
    if module not in EXTRAS:
        return NotInstalled(what=what, library=module, package=module)
    library, extra = EXTRAS[module]
    return NotInstalled(what=what, library=library, package=f"'phaseline[{extra}]'")


def is_installed(module: str) -> bool:
    """Whether a library can be imported; it is not imported here."""
    return find_spec(module) is not None


def require(module: str, what: str) -> None:
    """Raise `NotInstalled` unless the library is there. what: the feature that needs it."""
    if not is_installed(module):
        raise not_installed(module, what)


@contextmanager
def needed(module: str, what: str) -> Iterator[None]:
    """A block that imports the library; raises `NotInstalled` if it is missing. what: the feature that needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        raise not_installed(module, what) from error
