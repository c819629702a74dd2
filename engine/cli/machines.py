"""The command `machines`: the installed tables.

Belongs here: its options, and tables on a terminal. Does not: the tables (`phaseline.machines`), other forms
(`machines.docs`).
"""

import click

from phaseline.engine.cli import broken_kinds, names, options, render
from phaseline.engine.cli.help import Page
from phaseline.engine.cli.styled import Text
from phaseline.engine.errors import NameUnknown
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import markdown, mermaid, plain, printing, wording

COMMAND = "phaseline machines --format markdown"


@click.command(
    cls=Page,
    examples=[
        ("phaseline machines", "all kinds"),
        ("phaseline machines node", "one kind, with its whole table"),
        ("phaseline machines node --format mermaid > node.mmd", "a diagram"),
        ("phaseline machines --format markdown > machines.md", "a page with all tables"),
    ],
)
@click.argument("kind", type=names.KIND, required=False)
@click.option("--format", "form", type=click.Choice(["table", "markdown", "json", "mermaid"]), default="table",
              show_default=True, help="Output format.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@options.verbose
def machines(kind: str | None, *, form: str, as_json: bool) -> int | None:
    """Print the state machines: the list of kinds, or the whole table of one kind. Needs no server."""
    broken_kinds.warn()
    kinds = installed()
    if kind is not None and kind not in kinds:
        raise NameUnknown.among("kind", kind, kinds)
    form = "json" if as_json else form
    if form == "mermaid" and kind is None:
        raise click.UsageError("a Mermaid diagram shows one kind: give its name")
    {"table": show_tables, "markdown": show_markdown, "json": show_maps, "mermaid": show_diagram}[form](kinds, kind)
    return 0


def show_tables(kinds: Kinds, kind: str | None) -> None:
    """Print all kinds, one a line; or one kind with all its sections."""
    if kind is not None:
        show_kind(kinds[kind])
        return
    shown = render.columns("KIND", "ID", "PARENT", "FACETS", "TRIGGERS", "VERSION", "DESCRIPTION")
    for one in kinds.values():
        cells = (one.name, wording.id_shape(one.table.id), one.parent or "", ", ".join(one.names),
                 str(len(one.roles)), one.version, one.table.doc)  # fmt: skip
        shown.add_row(*map(render.text_of, cells))
    render.show(shown)
    render.show_line(render.text_of(f"digest of all tables: {kinds.digest}", "bright_black"))


def show_kind(kind: Kind) -> None:
    """Print one kind, section by section."""
    render.show_line(Text(printing.heading(kind), "bold"))
    for remark in printing.remarks(kind):
        render.show_line(Text(remark))
    for section in printing.sections(kind):
        title = f"{section.facet}: {section.title}" if section.facet else section.title
        render.show_line(Text())
        render.show_line(Text(title, "bold underline"))
        shown = render.columns(*(column.upper() for column in section.columns))
        for row in section.rows:
            shown.add_row(*map(render.text_of, row))
        render.show(shown)
        for note in section.notes:
            render.show_line(Text(note, "italic"))


def show_markdown(kinds: Kinds, kind: str | None) -> None:
    """Print a page of one kind, or of all kinds."""
    print(markdown.book(kinds, COMMAND) if kind is None else markdown.page(kinds[kind], diagram=True), end="")


def show_maps(kinds: Kinds, kind: str | None) -> None:
    """Print one JSON object per kind."""
    for name in kinds if kind is None else [kind]:
        render.show_json(plain.kind(kinds[name]))


def show_diagram(kinds: Kinds, kind: str | None) -> None:
    """Print one kind as a Mermaid diagram."""
    print(mermaid.diagram(kinds[kind or ""]), end="")
