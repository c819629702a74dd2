"""Libraries that only some features need, and the extra of Phaseline that installs each of them.

Belongs here: `EXTRAS`, `require` and `needed`; where other packages register (`ENTRY_POINTS`), and who does
(`registered`). Does not: imports of these libraries (each has one importer), which rules need which library
(`Product.libraries`).
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.schemas.errors import NotInstalled

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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


def registered(group: str) -> "list[EntryPoint]":
    """The entry points of a group that installed packages have.

    Most installations have none, and Python's own search, with the modules that it needs, takes a tenth of the time in
    which a command starts. So files are looked at first.
    """
    others = any(hasattr(one, "find_distributions") for one in sys.meta_path if one is not PathFinder)
    if not others and not any(_may_name(f"[{group}]".encode(), Path(place)) for place in sys.path):
        return []
    from importlib.metadata import entry_points  # noqa: PLC0415  # as above

    return list(entry_points(group=group))


def _may_name(section: bytes, place: Path) -> bool:
    """Whether a package in a place where Python looks for modules may have this section. An archive may."""
    if not place.is_dir():
        return place.is_file()
    return any(section in _read(file) for file in place.glob("*[iI][nN][fF][oO]/entry_points.txt"))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # a package that is being removed, or one that this user may not read: Python skips it too
        return b""


@contextmanager
def needed(module: str, what: str) -> Iterator[None]:
    """A block that imports the library; raises `NotInstalled` if it is missing. what: the feature that needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        raise not_installed(module, what) from error
