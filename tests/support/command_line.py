"""The command in this process: whether it takes a command line that others write for us, in a manifest or a unit.

Belongs here: parsing without running, and what tests of commands take from the engine. Does not: the files
(`compose_file`, `units`), running commands (`command`).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import click

from phaseline.engine.surfaces.cli import cli, failures, options, render, render_replay
from phaseline.engine.surfaces.cli.failures import say_error
from phaseline.engine.surfaces.cli.get import get
from phaseline.engine.surfaces.cli.new import package
from phaseline.engine.surfaces.cli.output import Output

__all__ = ["Output", "cli", "failures", "get", "options", "package", "render", "render_replay", "say_error"]


def command_of(words: Sequence[str]) -> tuple[click.Command, list[str]]:
    """The command that the first words name, and the words that follow it."""
    command: click.Command = cli
    context, rest = click.Context(cli), [*words]
    while isinstance(command, click.Group):
        found = command.get_command(context, rest[0])
        assert found is not None, words
        command = found
        context = click.Context(command, info_name=rest.pop(0), parent=context)
    return command, rest


def parsed(words: Sequence[str]) -> dict[str, Any]:
    """The parameters that `phaseline WORDS...` takes, from the words and the environment; nothing runs."""
    command, rest = command_of(words)
    return command.make_context(command.name, rest).params


def variables_of(words: str) -> set[str]:
    """The variables of the environment that a command reads."""
    found = [param.envvar for param in command_of(words.split())[0].params]
    return {one for envvar in found for one in ([envvar] if isinstance(envvar, str) else envvar or [])}


def unread(words: str, variables: Iterable[str]) -> set[str]:
    """The variables of ours that the command does not read: typing errors."""
    return {one for one in variables if one.startswith("PHASELINE_")} - variables_of(words)
