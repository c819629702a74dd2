"""A warning about kinds of other packages that cannot be used, and are left out.

Belongs here: which commands say it. Does not: finding broken kinds (`compiler.packages`).
"""

import click

from phaseline.engine.surfaces.cli import terminal
from phaseline.machines.built_in import installed

OTHERWISE = ("worker", "up", "demo", "doctor")
"""The commands that end with an error about it, or have a check of their own."""


def warn() -> None:
    """Say on stderr which kinds are left out, one line each."""
    if click.get_current_context().command.name not in OTHERWISE:
        for one in installed().broken:
            terminal.say(f"{one}; it is left out here", terminal.styled("warning: ", "yellow"))
