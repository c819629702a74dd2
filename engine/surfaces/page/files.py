"""The files of the page, as they are served.

Belongs here: finding and reading them, the type of each; style sheets and scripts without what only people need.
"""

import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

INDEX, LOGIN, MAIN = "index.html", "login.html", "main.js"
FIRST_SCREEN = "now"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
"""The content types of what a page is made of, by the end of a name. Files with other ends are not served."""
_BLANKS = ((re.compile(r"\s*([{}])\s*"), r"\1"), (re.compile(r"([;:,])\s+"), r"\1"))
"""Blanks in a style sheet that mean nothing. A blank before a colon means something: `a :hover` is not `a:hover`."""
_INDENTS = ((re.compile(r"^[\t ]+", re.MULTILINE), ""), (re.compile(r"^(?://|/\*\*).*$", re.MULTILINE), ""))
"""Indents and lines of comment in a script. Its lines keep their numbers, so what a browser reports can be found."""
_PACKED = {"css": _BLANKS, "js": _INDENTS}
_IMPORTED = re.compile(r'^(?:import|export) .* from "\./([\w.-]+)";$', re.MULTILINE)


class PageFile(NamedTuple):
    """A file of the page. `name`: its path below the package, with `/`."""

    name: str
    type: str
    body: bytes


@cache
def files() -> dict[str, PageFile]:
    """All files of the page, by name. They are read once."""
    return {one.name: one for one in _below(resources.files(__package__), "")}


@cache
def modules(*names: str) -> tuple[str, ...]:
    """These modules, as far as they exist, and all that they import."""
    found: dict[str, None] = {}
    todo = [name for name in names if name in files()]
    while todo:
        name = todo.pop(0)
        if name not in found:
            found[name] = None
            todo += _IMPORTED.findall(files()[name].body.decode())
    return tuple(found)


def _below(folder: Traversable, path: str) -> list[PageFile]:
    found: list[PageFile] = []
    for one in sorted(folder.iterdir(), key=lambda each: each.name):
        if one.is_dir():
            found += _below(one, f"{path}{one.name}/")
        elif (type_ := TYPES.get(f".{one.name.rpartition('.')[2]}")) is not None:
            body = one.read_bytes()
            found.append(PageFile(f"{path}{one.name}", type_, packed(one.name, body)))
    return found


def packed(name: str, body: bytes) -> bytes:
    """A file without what only people need, as far as we know that of its type."""
    patterns = _PACKED.get(name.rpartition(".")[2])
    if patterns is None:
        return body
    text = body.decode()
    for pattern, made in patterns:
        text = pattern.sub(made, text)
    return text.rstrip().encode()
