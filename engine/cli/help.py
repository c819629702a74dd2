"""Help pages: what a command's `--help` has beside click's own.

Belongs here: examples, sections of options. Does not: any command or option.
"""

from collections.abc import Sequence
from typing import Any

import click


class Shared(click.Option):
    """An option of the connection, which all commands that have one share."""


class Page(click.Command):
    """A command with examples, whose help keeps what it shares with others apart from its own options.

    examples: command lines, each with a word on it or none; they end the page.
    """

    def __init__(self, *, examples: Sequence[tuple[str, str]] = (), **rest: Any) -> None:
        """`rest` is what click's commands take."""
        super().__init__(**rest)
        self.examples = tuple(examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Own options first, then those of the connection; then commands, where it is a group."""
        for title, records in (("Options", self.own(ctx)), ("Connection", self.shared(ctx))):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)

    def own(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Its own options and what they do."""
        return _records(ctx, [p for p in self.get_params(ctx) if not isinstance(p, Shared)])

    def shared(self, ctx: click.Context) -> list[tuple[str, str]]:
        """The options it shares with other commands."""
        return _records(ctx, [p for p in self.get_params(ctx) if isinstance(p, Shared)])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, and what click puts there."""
        if self.examples:
            with formatter.section("Examples"):
                width = max((len(line) for line, word in self.examples if word), default=0)
                for line, word in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{f'{line:<{width}}  {word}' if word else line}\n")
        super().format_epilog(ctx, formatter)


def _records(ctx: click.Context, parameters: Sequence[click.Parameter]) -> list[tuple[str, str]]:
    found = [p.get_help_record(ctx) for p in parameters if isinstance(p, click.Option)]
    return [record for record in found if record is not None]
