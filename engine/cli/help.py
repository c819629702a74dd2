"""Help pages: what a command's `--help` has besides what click prints.

Belongs here: examples, sections of options. Does not: any command or option.
"""

from collections.abc import Sequence
from typing import Any

import click


class Shared(click.Option):
    """An option of the connection. All commands that connect have it."""


class Page(click.Command):
    """A command whose help separates its own options from those of the connection, and ends with examples.

    examples: command lines, each with a comment or "".
    """

    def __init__(self, *, examples: Sequence[tuple[str, str]] = (), **rest: Any) -> None:
        """`rest` is what click's commands take."""
        super().__init__(**rest)
        self.examples = tuple(examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, those of the connection, and the commands of a group."""
        for title, records in (("Options", self.own(ctx)), ("Connection", self.shared(ctx))):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def own(self, ctx: click.Context) -> list[tuple[str, str]]:
        """The options that only this command has, with their help."""
        return _records(ctx, [p for p in self.get_params(ctx) if not isinstance(p, Shared)])

    def shared(self, ctx: click.Context) -> list[tuple[str, str]]:
        """The options of the connection, with their help."""
        return _records(ctx, [p for p in self.get_params(ctx) if isinstance(p, Shared)])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then click's own epilog."""
        if self.examples:
            with formatter.section("Examples"):
                width = max((len(line) for line, comment in self.examples if comment), default=0)
                for line, comment in self.examples:
                    shown = f"{line:<{width}}  # {comment}" if comment else line
                    formatter.write(f"{'':{formatter.current_indent}}{shown}\n")
        super().format_epilog(ctx, formatter)


def _records(ctx: click.Context, parameters: Sequence[click.Parameter]) -> list[tuple[str, str]]:
    records = [p.get_help_record(ctx) for p in parameters if isinstance(p, click.Option)]
    return [record for record in records if record is not None]
