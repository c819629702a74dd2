"""The command `hook`: what a webhook becomes.

Belongs here: its arguments, and the layout. Does not: the hooks (`phaseline.engine.http.intake`).
"""

import sys
from pathlib import Path

import click

from phaseline.engine.cli import serve, terminal
from phaseline.engine.cli.help import Page
from phaseline.engine.error_help.exit_codes import Exit
from phaseline.engine.errors import PhaselineError
from phaseline.engine.publish import compose
from phaseline.machines.built_in import installed
from phaseline.schemas import codec
from phaseline.schemas.subjects import Subjects

TRY = "phaseline hook try --hooks examples/hooks/hooks.yaml alertmanager < examples/hooks/alertmanager.json"


class HookGroup(Page, click.Group):
    """A group of commands with examples."""


@click.group(cls=HookGroup, examples=[(TRY, "the events that an example becomes")])
def hook() -> None:
    """Try the webhooks that `phaseline serve --hooks` takes."""


@hook.command(
    "try",
    cls=Page,
    examples=[(TRY, "")],
)
@click.argument("name")
@click.option("--hooks", "path", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
              envvar="PHASELINE_HOOKS", show_envvar=True, help="The file of `phaseline serve --hooks`.")  # fmt: skip
@click.option("--header", "headers", multiple=True, metavar="NAME:VALUE", help="A header of the request.")
def attempt(path: Path, *, name: str, headers: tuple[str, ...]) -> int:
    """Show the events that the hook NAME makes of the body on standard input, as JSON lines. Nothing is sent.

    An event that would be rejected, whatever the state of its entity, is named with the reason (exit code 1). The
    secrets of the hooks are not needed.
    """
    serve.check_libraries()
    from phaseline.engine.http.intake import mapping  # noqa: PLC0415  # it needs the libraries that were looked for
    from phaseline.engine.http.intake.hook_file import Hooks  # noqa: PLC0415  # likewise

    found = Hooks.read(path, secrets=False).find(name)
    pairs = (one.partition(":") for one in headers)
    given = {key.strip().lower(): value.strip() for key, _, value in pairs}
    body = sys.stdin.buffer.read()
    kinds, subjects, refused = installed(), Subjects("pl"), 0
    for event in mapping.events(found.name, found.program, given, body):
        print(codec.encode_json(event).decode())
        try:
            compose.pack(subjects, event, kinds)
        except PhaselineError as error:
            refused += 1
            terminal.say(f"{event.get('type')} {event.get('subject')}: {error}")
    return Exit.NO if refused else 0
