"""`machines`: the tables as they are.

Belongs here: options, and tables on a terminal. Does not: what the tables say (`phaseline.machines`).
"""

import click
from rich.text import Text

from phaseline.engine.cli import options, render
from phaseline.engine.cli.help import Page
from phaseline.engine.errors import NameUnknown
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import markdown, mermaid, plain, printing, wording

COMMAND = "phaseline machines --format markdown"


@click.command(
    cls=Page,
    examples=[
        ("phaseline machines", ""),
        ("phaseline machines node", ""),
        ("phaseline machines node --format mermaid > node.mmd", ""),
        ("phaseline machines --format markdown > machines.md", ""),
    ],
)
@click.argument("kind", required=False)
@click.option("--format", "form", type=click.Choice(["table", "markdown", "json", "mermaid"]), default="table",
              show_default=True, help="How to print.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@options.verbose
def machines(kind: str | None, *, form: str, as_json: bool) -> int | None:
    """Print the state machines: which kinds there are, or everything about one. Needs no server."""
    kinds = installed()
    if kind is not None and kind not in kinds:
        raise NameUnknown(what="kind", name=kind, known=", ".join(kinds))
    form = "json" if as_json else form
    if form == "mermaid" and kind is None:
        raise click.UsageError("a Mermaid diagram shows one kind: name it")
    {"table": show_tables, "markdown": show_markdown, "json": show_maps, "mermaid": show_diagram}[form](kinds, kind)
    return 0


def show_tables(kinds: Kinds, kind: str | None) -> None:
    """For a person: all kinds in a line each, or one with all its sections."""
    if kind is not None:
        show_kind(kinds[kind])
        return
    shown = render.columns("KIND", "ID", "PARENT", "FACETS", "TRIGGERS", "VERSION", "WHAT")
    for found in kinds.values():
        cells = (found.name, wording.id_shape(found.table.id), found.parent or "", ", ".join(found.names),
                 str(len(found.table.triggers)), found.version, found.table.doc)  # fmt: skip
        shown.add_row(*map(render.text_of, cells))
    render.show(shown)
    render.show_line(render.text_of(f"all together: {kinds.digest}", "bright_black"))


def show_kind(kind: Kind) -> None:
    """One kind, section by section."""
    render.show_line(Text(printing.heading(kind), "bold"))
    for remark in printing.remarks(kind):
        render.show_line(Text(remark))
    for section in printing.sections(kind):
        title = f"{section.facet}: {section.title}" if section.facet else section.title
        render.show_line(Text(f"\n{title}", "bold underline"))
        shown = render.columns(*(column.upper() for column in section.columns))
        for row in section.rows:
            shown.add_row(*map(render.text_of, row))
        render.show(shown)
        for note in section.notes:
            render.show_line(Text(note, "italic"))


def show_markdown(kinds: Kinds, kind: str | None) -> None:
    """A page of one kind, or of all of them."""
    print(markdown.book(kinds, COMMAND) if kind is None else markdown.page(kinds[kind], diagram=True), end="")


def show_maps(kinds: Kinds, kind: str | None) -> None:
    """One object, or one per line."""
    for name in kinds if kind is None else [kind]:
        render.show_json(plain.kind(kinds[name]))


def show_diagram(kinds: Kinds, kind: str | None) -> None:
    """One kind, as Mermaid draws it."""
    print(mermaid.diagram(kinds[kind or ""]), end="")
