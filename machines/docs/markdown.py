"""Tables as a Markdown page.

Belongs here: the syntax of Markdown, and the text at the top of the page. Does not: the cells (`printing`,
`wording`).
"""

from collections.abc import Iterable, Iterator

from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import mermaid, printing
from phaseline.machines.docs.printing import ROLE, TRIGGER, Section

LEGEND = """\
Each kind is a table. A row says: *on this trigger, from one of these states, with such data, the base becomes that.*

| sign or word | meaning |
| --- | --- |
| `∅` | the phase of an unknown entity |
| live | every phase except `∅` and Deleted |
| `[+C]` | the condition C is added to the conditions that are there |
| attributes (in the column *data*) | the event's data may set the attributes of the entity |
| *trigger in italics*, (trigger) in a diagram | a derived trigger: only the engine fires it |
| any live state (in a diagram) | every phase from which a row with *live* starts |

- An **intent** asks for something. It is judged by the *state*. If it is not legal, it is rejected.
- An **observation** reports something. It is judged by the *base*. If it reports what the base already is, it leaves no
  record; if it cannot be true, it is rejected.
- A **derived** trigger is rejected if it comes from outside.
- The **state** is the base seen through the **views**: the first view that fits is shown. Views change no base and fire
  nothing.

The data of every event may have `reason` and `message`. The observation `adopt` makes an entity known that existed
before. An observation of something below an unknown entity adopts that entity too, as Running [Ok] unless its table
names another base. [Reading the tables](spec/reading-the-tables.md) has the details."""


def book(kinds: Kinds, command: str) -> str:
    """One page with every kind and its diagram. `command`: the command that writes the page, which the page names."""
    contents = [f"- [{name}](#{_anchor(kind)})" for name, kind in kinds.items()]
    return "\n".join(
        [
            f"<!-- Written by `{command}` from the tables in machines/. Edit the tables, not this page. -->",
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
    """The part of the page about one kind. `diagram`: whether its Mermaid diagram is at the end."""
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
    """The cell as Markdown; within back quotes only `|` needs a backslash."""
    parts = cell.replace("|", "\\|").split("`")
    return "`".join(part if index % 2 else part.replace("<", "&lt;") for index, part in enumerate(parts))


def _paragraphs(sentences: Iterable[str]) -> list[str]:
    text = " ".join(sentences)
    return [text, ""] if text else []
