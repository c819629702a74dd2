"""What stands beside each page of the site: the pages by role, as the table on the README has them.

Belongs here: which pages there are, in which order, under which heading. Does not: building them (`conf`). It imports
nothing of Sphinx, so tests can ask it.
"""

import re
from pathlib import Path

FIRST, LAST = "Start", "Understand and change it"
SECTION = "## Where to go from here"
LINK = re.compile(r"\]\(([\w./-]+)\.md\)")
ROW = re.compile(r"^\| *([^|]*?) *\| *(.*?) *\|")
MORE = {"Run it": ("SECURITY",), LAST: ("benchmarks/RESULTS", "benchmarks/NOTES")}
"""Pages that the README names elsewhere, by heading."""
BELOW = {"docs/decisions/README": "docs/decisions/[0-9]*.md", "CONTRIBUTING": "docs/developing/*.md"}
"""Pages that stand below another one."""


def headings(readme: str) -> "dict[str, list[str]]":
    """The pages under each heading, without `.md`. The README's table names the role only in the first of its rows."""
    text = readme.partition(SECTION)[2]
    found: dict[str, list[str]] = {FIRST: LINK.findall(text.partition("\n|")[0])}
    heading = FIRST
    for line in text.splitlines():
        row = ROW.match(line)
        if row is None:
            continue
        role = row[1]
        if role == "page":
            heading = LAST
        elif "](" not in role and role not in ("", "you", "folder", "---"):
            heading = role[0].upper() + role[1:]
        found.setdefault(heading, []).extend(LINK.findall(line))
    for heading, pages in MORE.items():
        found[heading] += pages
    return {heading: once(pages) for heading, pages in found.items() if pages}


def once(pages: "list[str]") -> "list[str]":
    """Each page once, without those that stand below another one."""
    return [page for page in dict.fromkeys(pages) if not page.startswith("docs/developing/")]


def below(root: Path) -> "dict[str, list[str]]":
    """The pages below each page that has some."""
    return {
        page: sorted(path.relative_to(root).as_posix().removesuffix(".md") for path in root.glob(pattern))
        for page, pattern in BELOW.items()
    }


def listed(root: Path) -> "dict[str, list[tuple[str, list[str]]]]":
    """For each page that lists others: the lists, each with its heading, which may be empty."""
    found = headings((root / "README.md").read_text(encoding="utf-8"))
    return {"README": [*found.items()], **{page: [("", pages)] for page, pages in below(root).items()}}


def pages(root: Path) -> "list[str]":
    """All pages of the site, without `.md`."""
    lists = listed(root)
    return ["README", *(page for several in lists.values() for _, found in several for page in found)]
