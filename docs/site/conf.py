"""How Sphinx makes a site of the pages. `python3 dev.py docs` runs it with the repository as source.

Belongs here: Sphinx's settings, and what a page gets beside its own text. Does not: which pages stand where
(`navigation`), files that pages link (`repository_files`), what a built page may load (`nothing_from_elsewhere`).
"""

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers.configs import IniLexer
from sphinx.application import Sphinx

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import navigation  # noqa: E402
import nothing_from_elsewhere  # noqa: E402
import repository_files  # noqa: E402

MERMAID = ROOT / ".site" / "node_modules" / "@mermaid-js" / "tiny" / "dist" / "mermaid.tiny.js"
"""What draws the diagrams, a package of npm; `dev.py docs` installs it."""
LISTS = navigation.listed(ROOT)

project = "Phaseline"
release = version = re.findall(r'^__version__ = "(.*)"', (ROOT / "schemas" / "version.py").read_text(), re.MULTILINE)[0]
copyright = ""  # noqa: A001  # the name is Sphinx's
root_doc = "README"
include_patterns = [f"{page}.md" for page in navigation.pages(ROOT)]
extensions = ["myst_parser"]
myst_heading_anchors = 6
myst_gfm_only = False
nitpicky = True
suppress_warnings = [
    "misc.highlighting_failure",  # JSON with comments, and samples that are cut
    "myst.header",                # a page may begin with a smaller heading
]  # fmt: skip
highlight_language = "text"

html_theme = "furo"
html_title = f"Phaseline {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = html_show_copyright = html_copy_source = html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}
templates_path: list[str] = []


def with_lists(_: Sphinx, page: str, source: list[str]) -> None:
    """Put the lists of other pages below a page's text, out of sight: they are what stands beside every page."""
    for heading, pages in LISTS.get(page, []):
        listed = "\n".join(f"/{one}" for one in pages)
        caption = f":caption: {heading}\n" if heading else ""
        source[0] += f"\n```{{toctree}}\n{caption}:hidden:\n\n{listed}\n```\n"


def with_diagrams(app: Sphinx, *told: Any) -> None:
    """Let a page with diagrams load what draws them. Others do not: it is large."""
    document: nodes.document | None = told[-1]  # the page's; None for pages that are no documents
    if document is not None and any(map(is_diagram, document.findall(nodes.literal_block))):
        app.add_js_file("mermaid.tiny.js")
        app.add_js_file("diagrams.js")


def is_diagram(block: nodes.literal_block) -> bool:
    """Whether a block is text of Mermaid."""
    return bool(block.get("language") == "mermaid")


def copied(app: Sphinx, error: Exception | None) -> None:
    """Put what draws the diagrams beside the other scripts."""
    if error is None:
        (Path(app.outdir) / "_static" / MERMAID.name).write_bytes(MERMAID.read_bytes())
        (Path(app.outdir) / "index.html").write_bytes((Path(app.outdir) / "README.html").read_bytes())


def setup(app: Sphinx) -> None:
    """Add our steps to Sphinx's."""
    app.add_lexer("conf", IniLexer)
    app.connect("source-read", with_lists)
    app.connect("html-page-context", with_diagrams)
    app.connect("build-finished", copied)
    repository_files.setup(app)
    nothing_from_elsewhere.setup(app)
