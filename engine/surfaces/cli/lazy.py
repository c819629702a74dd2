"""Groups of commands whose modules are imported when a command is called, and what is said of words that name none.

Belongs here: `Lazy`, the commands of installed packages, former names. Does not: which commands there are (`cli`,
`groups`).
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import click

from phaseline.engine.collecting import loading_modules
from phaseline.engine.surfaces.cli.help import Page, no_command
from phaseline.schemas.errors import Exit, did_you_mean
from phaseline.schemas.libraries import ENTRY_POINTS, registered

PACKAGE = __name__.rpartition(".")[0]
OF_PRODUCTS = "phaseline.engine.products.commands"
"""Where the commands of products are, which this package does not import."""
Sections = dict[str, dict[str, tuple[str, str]]]
"""By title, the commands of a section: name -> (`module.function` in this package or in full, one line of help)."""
Moved = Mapping[tuple[str, ...], tuple[str, ...]]
"""By the words of a command as earlier versions had it, its words now."""


def of_packages() -> dict[str, tuple[str, str]]:
    """The commands that installed packages add, as in `Sections`, but each named `package.module:attribute`."""
    if not registered(ENTRY_POINTS):
        return {}  # to load all tables takes several times as long as the rest of `--help`
    from phaseline.machines.built_in import installed  # noqa: PLC0415  # as above

    commands = (one for product in installed().products or () for one in product.commands)
    return {one.name: (one.command, one.help) for one in commands}


class Lazy(Page, click.Group):
    """A group in sections, whose commands are imported when they are called."""

    def __init__(self, *, sections: Sections, **rest: Any) -> None:
        """`rest` is what click's groups take."""
        super().__init__(**rest)
        self.sections = sections
        self.table = {name: entry for commands in sections.values() for name, entry in commands.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # as click calls it
        """The names, in the order of the sections."""
        return [*self.table]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command of that name."""
        if name not in self.table:
            return super().get_command(ctx, name)
        module, _, function = self.table[name][0].rpartition(".")
        with loading_modules():
            named = module if "." in module else f"{PACKAGE}.{module}"
            command: click.Command = getattr(import_module(named), function)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; a wrong word is answered with the most similar command."""
        name = str(args[0])
        if name in self.table or name in self.list_commands(ctx) or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        raise no_command(ctx, name, self.meant(name, ctx))

    def meant(self, word: str, ctx: click.Context) -> str:
        """What a word that names no command probably means, as the end of a sentence."""
        return did_you_mean(word, self.list_commands(ctx))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section, without importing any."""
        width = max(map(len, self.list_commands(ctx)))
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", help_) for name, (_, help_) in commands.items()])


class Commands(Lazy):
    """The command itself: with the commands of installed packages, former names, and an answer to wrong words."""

    def __init__(
        self, *, moved: Moved, removed: Mapping[str, str], elsewhere: Mapping[str, str], **rest: Any
    ) -> None:  # fmt: skip
        """removed: by the names of commands that are gone, what to use instead. elsewhere: by words, what is meant."""
        super().__init__(**rest)
        self.moved, self._removed, self._elsewhere = moved, removed, elsewhere

    @cached_property
    def added(self) -> dict[str, tuple[str, str]]:
        """The commands of installed packages. Phaseline's own go before them."""
        return {name: entry for name, entry in of_packages().items() if name not in self.table}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the sections."""
        return [*super().list_commands(ctx), *self.added]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command of that name."""
        if name not in self.table and name in self.added:
            return _of_package(name, self.added[name][0])
        return super().get_command(ctx, name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first words name. A former name is answered with the new one, and works."""
        name = str(args[0])
        if name not in self.table and name not in self.added and not ctx.resilient_parsing:
            if name in self._removed:
                raise click.UsageError(f"{name!r} was removed; {self._removed[name]}", ctx)
            if former := self.former(args):
                click.echo(
                    f"`phaseline {' '.join(former)}` is now `phaseline {' '.join(self.moved[former][:2])}`", err=True
                )
                args = self.now_called(args)
        return super().resolve_command(ctx, args)

    def former(self, words: Sequence[str]) -> tuple[str, ...]:
        """The former name with which the words begin; none: ()."""
        starts = (tuple(map(str, words[:length])) for length in (2, 1))
        return next((start for start in starts if start in self.moved), ())

    def now_called(self, words: Sequence[str]) -> list[str]:
        """The same words with the name that a command has now."""
        former = self.former(words)
        return [*self.moved.get(former, ()), *words[len(former) :]]

    def meant(self, word: str, ctx: click.Context) -> str:
        """The same, with the words of other commands, and former names, which still work."""
        if word in self._elsewhere:
            return f" (did you mean {self._elsewhere[word]}?)"
        return did_you_mean(word, [*self.list_commands(ctx), *(first for first, *_ in self.moved)])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, those of installed packages last."""
        super().format_commands(ctx, formatter)
        if self.added:
            with formatter.section("Commands of installed packages"):
                formatter.write_dl([(name, help_) for name, (_, help_) in self.added.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the exit codes."""
        super().format_epilog(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), code.meaning) for code in Exit])


def _of_package(name: str, at: str) -> click.Command:
    """The command of an installed package; raises `ClickException` if it cannot be loaded."""
    module, _, attribute = at.partition(":")
    try:
        command = getattr(import_module(module), attribute)
    except Exception as error:
        raise click.ClickException(f"the command {name} ({at}) cannot be loaded: {error}") from error
    if not isinstance(command, click.Command):
        raise click.ClickException(f"the command {name} ({at}) is no command of click")
    return command
