"""Files of the repository that pages link and that are no pages: each becomes a page of the site, folders too.

Belongs here: finding such links, and the pages of files and folders. Does not: links between pages, which MyST
resolves. So a link from a page to a module works without the repository and without a network.
"""

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

FOLDER = "files"
"""Below this folder of the site they stand, each under its own path."""
LARGEST = 400_000
"""Bytes of a file that is shown."""


def path_of(env: BuildEnvironment, page: str, target: str) -> "str | None":
    """The path in the repository of what a link on a page names; None if there is no such file or folder."""
    if not target:
        return None
    root = Path(env.srcdir).resolve()
    found = (root / target.lstrip("/") if target.startswith("/") else root / f"{page}.md" / ".." / target).resolve()
    inside = found.is_relative_to(root) and found.exists() and ".git" not in found.parts
    return found.relative_to(root).as_posix() if inside else None


def links_of_page(app: Sphinx, document: nodes.document) -> None:
    """Mark the links of a page to files and folders, before Sphinx makes downloads of them and MyST errors."""
    page = app.env.current_document.docname
    for node in [*document.findall(addnodes.download_reference), *document.findall(addnodes.pending_xref)]:
        path = path_of(app.env, page, target_of(app.env, node))
        if path is not None:
            linked(app).add(path)
            kept = addnodes.pending_xref("", *node.children, refdomain="", reftype="file", refexplicit=True)
            kept["reftarget"], kept["refdoc"] = path, page
            node.replace_self(kept)


def target_of(env: BuildEnvironment, node: nodes.Element) -> str:
    """What a link names that is no link to a page of the site or to a heading; empty for those."""
    target = str(node["reftarget"]).partition("#")[0]
    if isinstance(node, addnodes.download_reference):
        return target
    if node.get("reftype") != "myst" or target in env.found_docs:
        return ""
    return f"/{target}.md" if node.get("refdomain") == "doc" else target


def link(app: Sphinx, _: BuildEnvironment, node: addnodes.pending_xref, shown: nodes.Node) -> "nodes.Node | None":
    """The link to the page of a file or folder that was marked."""
    if node.get("reftype") != "file":
        return None
    address_of_it = app.builder.get_relative_uri(node["refdoc"], address(node["reftarget"]))
    return nodes.reference("", "", *(node.children or [shown]), internal=True, refuri=address_of_it)


def linked(app: Sphinx) -> "set[str]":
    """The files and folders that pages link."""
    found: set[str] = app.__dict__.setdefault("linked_files", set())
    return found


def address(path: str) -> str:
    """The name of the page of a file or folder. `.` alone would be the folder of all of them."""
    return f"{FOLDER}/{path}" if path != "." else f"{FOLDER}/repository"


def pages(app: Sphinx) -> "Iterator[tuple[str, dict[str, Any], str]]":
    """The pages of all that is linked, and of the files in folders that are linked."""
    root, shown = Path(app.srcdir).resolve(), linked(app)
    members = {path: sorted(filter(is_shown, (root / path).iterdir())) for path in shown if (root / path).is_dir()}
    shown |= {one.relative_to(root).as_posix() for found in members.values() for one in found if has_page(one)}
    shown -= {f"{page}.md" for page in app.env.found_docs}
    for path in sorted(shown):
        body = listing(app, path, members[path], shown) if path in members else content(app, root / path)
        title = "The repository" if path == "." else path
        yield address(path), {"title": title, "body": f"<h1>{html.escape(title)}</h1>{body}"}, "page.html"


def has_page(path: Path) -> bool:
    """Whether a member of a linked folder gets a page. Modules have one if a page links them: they are too many."""
    return path.is_file() and (path.suffix != ".py" or "examples" in path.parts)


def is_shown(path: Path) -> bool:
    """Whether a member of a folder belongs to the repository: no cache, no hidden file, no link."""
    hidden = path.name.startswith((".", "_"))
    return not hidden and not path.is_symlink() and (path.is_dir() or path.stat().st_size <= LARGEST)


def listing(app: Sphinx, path: str, members: "list[Path]", shown: "set[str]") -> str:
    """The members of a folder, with links to those that have pages."""
    rows = []
    for member in members:
        name, inside = html.escape(member.name), member.relative_to(Path(app.srcdir).resolve()).as_posix()
        to = inside.removesuffix(".md") if inside.removesuffix(".md") in app.env.found_docs else address(inside)
        where = html.escape(app.builder.get_relative_uri(address(path), to))
        is_linked = inside in shown or to != address(inside)
        rows.append(f'<li><a href="{where}">{name}</a></li>' if is_linked else f"<li>{name}</li>")
    return f"<ul>{''.join(rows)}</ul>"


def content(app: Sphinx, path: Path) -> str:
    """The text of a file, coloured."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return "<p>This file is no text.</p>"
    try:
        language = get_lexer_for_filename(path.name).aliases[0]
    except (ClassNotFound, IndexError):
        language = "text"
    return str(app.builder.highlighter.highlight_block(text, language, force=True))  # type: ignore[attr-defined]


def setup(app: Sphinx) -> None:
    """Add these steps to Sphinx's."""
    app.connect("doctree-read", links_of_page, priority=400)
    app.connect("missing-reference", link)
    app.connect("html-collect-pages", pages)
