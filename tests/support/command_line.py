"""A command line that others write for us, in a manifest, a unit or a compose file: whether the command takes it.

Belongs here: parsing without running. Does not: the files (`compose_file`, `units`).
"""

from collections.abc import Iterable, Sequence
from typing import Any

import click

from phaseline.engine.cli import cli


def command_named(name: str) -> click.Command:
    """The command of that name."""
    found = cli.get_command(click.Context(cli), name)
    assert found is not None, name
    return found


def parsed(words: Sequence[str]) -> dict[str, Any]:
    """The parameters that `phaseline WORDS...` takes, from the words and the environment; nothing runs."""
    name, *rest = words
    return command_named(name).make_context(name, rest).params


def variables_of(name: str) -> set[str]:
    """The variables of the environment that a command reads."""
    found = [param.envvar for param in command_named(name).params]
    return {one for envvar in found for one in ([envvar] if isinstance(envvar, str) else envvar or [])}


def unread(name: str, variables: Iterable[str]) -> set[str]:
    """The variables of ours that the command does not read: typing errors."""
    return {one for one in variables if one.startswith("PHASELINE_")} - variables_of(name)
