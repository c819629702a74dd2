"""The command `completion`: the script that makes a shell complete the command's words.

Belongs here: its options. Does not: what is offered for a word (`names`).
"""

import click
from click.shell_completion import get_completion_class

from phaseline.engine.surfaces.cli import options
from phaseline.engine.surfaces.cli.help import Page

VARIABLE = "_PHASELINE_COMPLETE"
"""The variable by which the shell asks the command for completions."""


@click.command(
    cls=Page,
    examples=[
        ('eval "$(phaseline completion bash)"', "in ~/.bashrc"),
        ('eval "$(phaseline completion zsh)"', "in ~/.zshrc, after compinit"),
        ("phaseline completion fish > ~/.config/fish/completions/phaseline.fish", ""),
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@options.verbose
def completion(shell: str) -> int | None:
    """Print the script that makes a shell complete commands, options, kinds, states, triggers and ids.

    Ids are those of the installation that the options and the PHASELINE_ variables name. They are read with the usual
    credentials, and left out if the server does not answer within a second and a half.
    """
    root = click.get_current_context().find_root().command
    script = get_completion_class(shell)
    assert script is not None  # click has all three
    print(script(root, {}, "phaseline", VARIABLE).source())
    return 0
