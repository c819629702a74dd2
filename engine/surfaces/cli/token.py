"""The command `token`: a token for the HTTP server.

Belongs here: its arguments and messages. Does not: the file of tokens (`http.access.tokens`).
"""

from pathlib import Path

import click

from phaseline.engine.surfaces.cli import serve, terminal
from phaseline.engine.surfaces.cli.help import Page


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin token --tokens tokens alice read operate", "Alice may read everything and send events again"),
        ("phaseline admin token --tokens tokens agent-c1 read:c1 publish:c1", "only the tree c1"),
        ("phaseline admin token --tokens tokens agent-c2 publish:c2 'source:/agent/c2*'", "only these sources"),
    ],
)
@click.argument("name")
@click.argument("roles", nargs=-1, required=True, metavar="ROLE...")
@click.option("--tokens", "path", type=click.Path(dir_okay=False, path_type=Path), required=True, metavar="FILE",
              envvar="PHASELINE_TOKENS", show_envvar=True, help="The file of `phaseline serve --tokens`.")  # fmt: skip
def token(path: Path, *, name: str, roles: tuple[str, ...]) -> None:
    """Make a token for NAME, print it, and add its digest to the file of tokens.

    Roles: read, read:TREE, publish, publish:TREE, operate (send rejected events again). source:PATTERN limits the
    sources of its events. Records name NAME as the actor of what the token is used for. The token is shown this once.
    To take it away, delete its line; the server notices.
    """
    serve.check_libraries()
    # it needs the libraries that were looked for
    from phaseline.engine.surfaces.http.access import tokens  # noqa: PLC0415

    print(tokens.add(path, name, roles))
    terminal.say(f"the token of {name}: send it as `Authorization: Bearer TOKEN`, or open the page with /#token=TOKEN")
