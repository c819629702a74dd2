"""Tables as Markdown: a page that reads like the spec's.

Belongs here: marks of Markdown. Does not: what the cells say (`printing`, `wording`).
"""

from collections.abc import Iterable, Iterator

from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import mermaid, printing
from phaseline.machines.docs.printing import ROLE, TRIGGER, Section

LEGEND = """\
Read a row from left to right: *on this trigger, from one of these states, with such data, the base becomes that.*
`∅` is what is unknown, *live* is every phase but `∅` and Deleted, `[+C]` adds the condition C to those that stand.
Every event may carry `data.reason` and `data.message`; where a row says *attributes*, `data` may set them.

- **intents** ask for something; they are judged by the *state*, as the person who asks sees it, and an illegal one is rejected;
- **observations** report something; they are judged by the *base*; what is already so leaves no record, what cannot be so is rejected;
- *derived* triggers, in italics, are fired by the engine only; from outside they are rejected.

The **state** is the base seen through the **views**: the first one that holds, while it holds. Views store nothing and fire nothing.
`adopt` makes known what was there before; an observation of something below an entity that is unknown adopts that one too,
as Running [Ok] unless its table says otherwise. In the diagrams, triggers in parentheses are derived, and *any live state*
stands for every phase that a row with *live* starts from."""


def book(kinds: Kinds, command: str) -> str:
    """One page with every kind and its diagrams; `command`: what makes the page, for the reader who would edit it."""
    contents = [f"- [{name}](#{_anchor(kind)})" for name, kind in kinds.items()]
    return "\n".join(
        [
            f"<!-- Made by `{command}` from the tables in machines/. Change those, not this page. -->",
            "",
            "# The machines",
            "",
            LEGEND,
            "",
            *contents,
            "",
            *(page(kind, diagram=True) for kind in kinds.values()),
        ]
    )


def page(kind: Kind, *, diagram: bool = False) -> str:
    """One kind, from heading to fields; with its Mermaid diagram at the end where asked for."""
    lines, facet = [_heading(kind), "", *_paragraphs(printing.remarks(kind))], ""
    for section in printing.sections(kind):
        if section.facet != facet:
            facet = section.facet
            lines += [f"### {facet or 'all facets'}", ""]
        lines += [*_table(section), "", *_paragraphs(section.notes)]
    if diagram:
        lines += ["```mermaid", mermaid.diagram(kind).rstrip(), "```", ""]
    return "\n".join(lines)


def _heading(kind: Kind) -> str:
    name, _, shape = printing.heading(kind).partition(": id ")
    return f"## {name}: id `{shape}`"


def _anchor(kind: Kind) -> str:
    kept = (c for c in printing.heading(kind).lower().replace(" ", "-") if c.isalnum() or c in "-_")
    return "".join(kept)


def _table(section: Section) -> Iterator[str]:
    yield _line(section.columns)
    yield _line(["---"] * len(section.columns))
    derived = section.columns.index(ROLE) if ROLE in section.columns else None
    for row in section.rows:
        cells = [_escaped(cell) for cell in row]
        if derived is not None and row[derived] == "derived":
            cells[section.columns.index(TRIGGER)] = f"*{row[section.columns.index(TRIGGER)]}*"
        yield _line(cells)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("<", "&lt;")


def _paragraphs(sentences: Iterable[str]) -> list[str]:
    text = " ".join(sentences)
    return [text, ""] if text else []
