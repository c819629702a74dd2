"""The command `help`: the page of a command, or of a group of options.

Belongs here: finding the page. Does not: how it looks (`help`).
"""

import click

from phaseline.engine.cli.help import GROUPS, Page, of_group, records
from phaseline.schemas.similar import did_you_mean


@click.command(
    name="help",
    cls=Page,
    examples=[
        ("phaseline help connection", "how commands reach the server"),
        ("phaseline help list", "the same as phaseline list --help"),
    ],
)
@click.argument("topic", nargs=-1)
def help_(topic: tuple[str, ...]) -> None:
    """Show the help of a command, or a group of options: connection, reading, selection, output, and so on."""
    context = click.get_current_context().find_root()
    root = context.command
    assert isinstance(root, click.Group)
    if len(topic) == 1 and topic[0] in GROUPS:
        click.echo(page_of_group(topic[0], root, context))
        return
    command: click.Command = root
    for word in topic:
        below = command.get_command(context, word) if isinstance(command, click.Group) else None
        if below is None:
            known = [*GROUPS, *(command.list_commands(context) if isinstance(command, click.Group) else ())]
            raise click.UsageError(f"there is no help about {word!r}{did_you_mean(word, known)}: phaseline --help")
        context, command = click.Context(below, info_name=word, parent=context), below
    click.echo(command.get_help(context))


def page_of_group(name: str, root: click.Group, context: click.Context) -> str:
    """The options of a group, with their help."""
    formatter, group = context.make_formatter(), GROUPS[name]
    with formatter.section(group.title):
        formatter.write_text(group.says)
        formatter.write_paragraph()
        formatter.write_dl([record for one, below in of_group(name, root, context) for record in records(below, [one])])
    return formatter.getvalue().rstrip("\n")
