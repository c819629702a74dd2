"""The command `machines`: the installed tables.

Belongs here: its options, and tables on a terminal: state machines, and the health rows of Kubernetes kinds. Does not:
the tables (`phaseline.machines`), other forms (`machines.docs`).
"""

from typing import Final

import click

from phaseline.engine.surfaces.cli import names, options, render
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column, columns
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.machines.built_in import OF_NOTICES, installed
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import known_kinds, markdown, mermaid, plain, printing, triggers, wording
from phaseline.machines.kinds.kubernetes.health.registry import RULES
from phaseline.machines.kinds.kubernetes.known.table import STATUSLESS
from phaseline.schemas.errors import NameUnknown

COMMAND = "phaseline kinds show --format markdown"
FORMS = ("table", "markdown", "json", "mermaid", "python")


@click.command(
    cls=Page,
    examples=[
        ("phaseline kinds show", "all kinds"),
        ("phaseline kinds show node", "one kind, with its whole table"),
        ("phaseline kinds show node --format mermaid > node.mmd", "a diagram"),
        ("phaseline kinds show --format markdown > machines.md", "a page with all tables"),
        ("phaseline kinds show node --format python", "its triggers, for editors and type checkers"),
        ("phaseline kinds show notice", "a kind of an installation of notices"),
        ("phaseline kinds show cert-manager.io/Certificate", "what the status of a Kubernetes kind means"),
        ("phaseline kinds show '*/*'", "the same of all Kubernetes kinds that are known"),
    ],
)
@click.argument("kind", type=names.KIND, required=False)
@click.option("--format", "form", type=click.Choice([*FORMS]), default="table",
              show_default=True, help="Output format.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@options.verbose
def machines(kind: str | None, *, form: str, as_json: bool) -> int | None:
    """Print the state machines: the list of kinds, or the whole table of one kind. Needs no server.

    A KIND such as GROUP/KIND is one of Kubernetes: it prints the rows that decide its health.
    """
    names.warn_of_broken_kinds()
    kinds = installed(OF_NOTICES if kind in installed(OF_NOTICES) else "")
    if kind is not None and "/" in kind:
        return show_known_kinds(kind, as_json=as_json or form == "json")
    if kind is not None and kind not in kinds:
        raise NameUnknown.among("kind", kind, kinds)
    form = "json" if as_json else form
    if form == "mermaid" and kind is None:
        raise click.UsageError("a Mermaid diagram shows one kind: give its name")
    SHOWN[form](kinds, kind)
    return 0


KINDS: Final[tuple[Column[Kind], ...]] = (
    Column("KIND", lambda kind: Text(kind.name)),
    Column("ID", lambda kind: Text(wording.id_shape(kind.table.id)), worth=65),
    Column("PARENT", lambda kind: Text(kind.parent or ""), worth=60),
    Column("FACETS", lambda kind: Text(", ".join(kind.names)), worth=50, wraps=True),
    Column("TRIGGERS", lambda kind: Text(str(len(kind.roles))), worth=20),
    Column("VERSION", lambda kind: Text(kind.version), worth=40),
    Column("DESCRIPTION", lambda kind: Text(kind.table.doc), worth=70, wraps=True),
)


def show_tables(kinds: Kinds, kind: str | None) -> None:
    """Print all kinds, one a line; or one kind with all its sections."""
    if kind is not None:
        show_kind(kinds[kind])
        return
    with Output() as output:
        output.table(KINDS, kinds.values())
        output.line(Text(f"digest of all tables: {kinds.digest}", "bright_black"))


def show_kind(kind: Kind) -> None:
    """Print one kind, section by section."""
    with Output() as output:
        output.line(Text(printing.heading(kind), "bold"))
        for remark in printing.remarks(kind):
            output.line(remark)
        for section in printing.sections(kind):
            output.line()
            output.line(Text(f"{section.facet}: {section.title}" if section.facet else section.title, "bold underline"))
            output.table(columns(*section.columns), section.rows)
            for note in section.notes:
                output.line(Text(note, "italic"))


def show_known_kinds(name: str, *, as_json: bool) -> int:
    """Print the health rows of the Kubernetes kinds that fit `<group>/<Kind>`."""
    found = [*known_kinds.sections(name)]
    if not found:
        raise click.UsageError(f"{name} has no rows: {_judged_by(name)}")
    for section in found:
        for kind in section.kinds:
            if as_json:
                render.show_json(known_kinds.as_map(section, kind))
                continue
            with Output() as output:
                output.line(Text(f"{kind.group or 'core'}: {kind.kind}", "bold"))
                output.line(Text(f"{section.family.name}, {section.family.source}", "bright_black"))
                output.table(columns(*known_kinds.COLUMNS), map(known_kinds.cells, kind.rows), indent=2)
                output.line()
    return 0


def _judged_by(name: str) -> str:
    """What judges the health of a kind without rows."""
    group, _, kind = name.rpartition("/")
    named = "" if group == "core" else group, kind
    if named in RULES:
        return "a rule of its own judges it (docs/spec/gitops.md)"
    if named in STATUSLESS:
        return "it has no status, and takes no part in health (docs/spec/gitops.md)"
    return "the general rule judges it (docs/known-kinds.md)"


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


def show_triggers(kinds: Kinds, kind: str | None) -> None:
    """Print a Python module with the triggers of one kind, or of all."""
    print(triggers.module(kinds.values() if kind is None else [kinds[kind]]), end="")


SHOWN = dict(zip(FORMS, (show_tables, show_markdown, show_maps, show_diagram, show_triggers), strict=True))
"""What prints each form."""
