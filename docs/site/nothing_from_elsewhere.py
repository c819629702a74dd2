"""No built page loads anything from another host: no fonts, scripts, styles or pictures. Links that people follow stay.

Belongs here: reading the built pages and styles for that, and failing the build. Does not: what scripts do
once they run (`tests/process/test_docs_site.py` watches a browser).
"""

import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|object|embed|video|audio)\b[^>]*?\b(?:src|href|data)=\"((?:https?:)?//[^\"]+)"
)
STYLED = re.compile(r"(?:@import\s+|url\(\s*)[\"']?((?:https?:)?//[^\"')]+)")


def from_elsewhere(folder: Path) -> Iterator[str]:
    """What pages and styles would load: the file, and the address."""
    for pattern, suffixes in ((LOADED, "html"), (STYLED, "css"), (STYLED, "html")):
        for path in sorted(folder.rglob(f"*.{suffixes}")):
            for found in pattern.findall(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(folder)}: {found}"


def check(app: Sphinx, error: Exception | None) -> None:
    """Fail if anything is found."""
    found = [] if error else [*from_elsewhere(Path(app.outdir))]
    if found:
        raise ExtensionError("pages load from other hosts:\n" + "\n".join(found))


def setup(app: Sphinx) -> None:
    """Add this step to Sphinx's, as the last one."""
    app.connect("build-finished", check, priority=900)
