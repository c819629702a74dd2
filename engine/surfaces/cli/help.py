"""Help pages, and options that several commands share: each belongs to a group, which is described once.

Belongs here: the groups, examples, sections of options, the command `help`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from phaseline.schemas.errors import did_you_mean

Function = Callable[..., int | None]


class OptionGroup(NamedTuple):
    """Options that several commands share. title: on a help page. says: what they are for. brief: only named there."""

    title: str
    says: str
    brief: bool = False


GROUPS = {
    #              title             says                                                                       brief
    "snapshot": OptionGroup("Of a snapshot", "They belong to publish KIND ID --snapshot FILE."),
    "selection": OptionGroup("Which entities", "They choose the entities that a command is about."),
    "reading": OptionGroup("What is read", "They say what a command reads, and how it shows it."),
    "output": OptionGroup("Output", "They say in which form a command prints. A command names the forms that it has."),
    "workers": OptionGroup("Installation", "A worker makes and changes an installation with these options."),
    "streams": OptionGroup("Streams", "A setting without its option stays as it is."),
    "telemetry": OptionGroup("Metrics and traces", "They say what a worker tells about itself."),
    "connection": OptionGroup("Connection", "Every command that connects to NATS has these options. They can stand "
                              "before the command too, and each can be set in the environment.", brief=True),
}  # fmt: skip
"""The groups, in the order of a help page."""


class Shared(click.Option):
    """An option of a group. One that stands before the command counts as one behind it."""

    def __init__(self, *words: Any, group: str, **rest: Any) -> None:
        """`rest` is what click's options take."""
        super().__init__(*words, **rest)
        self.group = group

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, ParameterSource]:
        """The value of the command line, before or behind the command; else as click finds it."""
        name, root = str(self.name), ctx.find_root()
        if ctx.parent is None and isinstance(ctx.command, click.Group):  # the command reads the environment
            return opts.get(name), ParameterSource.COMMANDLINE if name in opts else ParameterSource.DEFAULT
        if name not in opts and root is not ctx and root.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            return root.params[name], ParameterSource.COMMANDLINE
        return super().consume_value(ctx, opts)


def option(group: str, *words: str, **details: Any) -> Callable[[Function], Function]:
    """An option of a group. One with an environment variable shows it."""
    return click.option(*words, cls=Shared, group=group, show_envvar="envvar" in details, **details)


class Page(click.Command):
    """A command whose help separates its own options from those of groups, and ends with examples.

    examples: command lines, each with a comment or "".
    """

    def __init__(self, *, examples: Sequence[tuple[str, str]] = (), **rest: Any) -> None:
        """`rest` is what click's commands take."""
        super().__init__(**rest)
        self.examples = tuple(examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, those of each group, and the commands of a group of commands."""
        own = [one for one in self.get_params(ctx) if not isinstance(one, Shared)]
        with formatter.section("Options"):
            formatter.write_dl(records(ctx, own))
        for name, found in self.groups(ctx).items():
            with formatter.section(GROUPS[name].title):
                if GROUPS[name].brief:
                    flags = ", ".join(one.opts[-1] for one in found)
                    formatter.write_text(f"{flags} (phaseline help {name})")
                else:
                    formatter.write_dl(records(ctx, found))
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def groups(self, ctx: click.Context) -> dict[str, list[Shared]]:
        """The options of groups, by group."""
        found = [one for one in self.get_params(ctx) if isinstance(one, Shared)]
        return {name: some for name in GROUPS if (some := [one for one in found if one.group == name])}

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then click's own epilog. Where they are too wide, a comment is above its command."""
        if self.examples:
            with formatter.section("Examples"):
                width = max((len(line) for line, comment in self.examples if comment), default=0)
                beside = width + max(len(comment) for _, comment in self.examples) + 6 <= formatter.width
                for line, comment in self.examples:
                    if comment and not beside:
                        formatter.write(f"{'':{formatter.current_indent}}# {comment}\n")
                    shown = f"{line:<{width}}  # {comment}" if comment and beside else line
                    formatter.write(f"{'':{formatter.current_indent}}{shown}\n")
        super().format_epilog(ctx, formatter)


def no_command(ctx: click.Context, word: str, meant: str) -> click.UsageError:
    """The error for a word that names no command. meant: what it probably means."""
    return click.UsageError(f"there is no command {word!r}{meant}: {ctx.command_path} --help lists all commands", ctx)


class DefaultGroup(Page, click.Group):
    """A group with a default command."""

    def __init__(self, *, default: str = "list", **rest: Any) -> None:
        """default: its name. `rest` is what click's groups take."""
        super().__init__(**rest)
        self._default = default

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, each with its whole first sentence."""
        found = [(name, self.commands[name].get_short_help_str(limit=1_000)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(found)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Add the default command if none is given, then parse as click does.

        Where the default command takes no arguments, a word that names no command is an error.
        """
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            takes_words = any(isinstance(one, click.Argument) for one in self.commands[self._default].params)
            if args and not takes_words and not args[0].startswith("-") and not ctx.resilient_parsing:
                raise no_command(ctx, args[0], did_you_mean(args[0], self.commands))
            args = [self._default, *args]
        return super().parse_args(ctx, args)


def records(ctx: click.Context, parameters: Sequence[click.Parameter]) -> list[tuple[str, str]]:
    """The options as a help page shows them."""
    found = [one.get_help_record(ctx) for one in parameters if isinstance(one, click.Option)]
    return [one for one in found if one is not None]


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """All commands below a group, in order."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None:
            below = click.Context(command, info_name=name, parent=context)
            yield command, below
            if isinstance(command, click.Group):
                yield from commands(command, below)


def of_group(name: str, root: click.Group, context: click.Context) -> list[tuple[Shared, click.Context]]:
    """The options of a group, from all commands that have some, each once: the one that says most."""
    found: dict[str, tuple[Shared, click.Context]] = {}
    for command, below in commands(root, context):
        for one in command.params:
            if isinstance(one, Shared) and one.group == name:
                known = found.setdefault(str(one.name), (one, below))
                if len(str(one.help)) > len(str(known[0].help)):
                    found[str(one.name)] = (one, below)
    return [*found.values()]


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
    for word in getattr(root, "now_called", list)(topic):  # a former name has the help of the new one
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
