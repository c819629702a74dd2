"""The command `accounts`: the NATS accounts of an installation, as the configuration of a server.

Belongs here: its options, the files that it writes. Does not: who may do what (`nats.accounts.roles`), the form
(`nats.accounts.nats_conf`).
"""

from pathlib import Path

import click

from phaseline.engine.nats.accounts.keys import KeyFolder
from phaseline.engine.nats.accounts.nats_conf import nats_conf
from phaseline.engine.nats.accounts.users import AccountPlan
from phaseline.engine.surfaces.cli import options, terminal
from phaseline.engine.surfaces.cli.connection import FILE, connection_option
from phaseline.engine.surfaces.cli.help import Page


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin accounts --trees c1,c2 --keys ./keys > accounts.conf", "then: include accounts.conf"),
        ("phaseline admin accounts --trees c1,c2,c3 --keys ./keys > accounts.conf", "add a tree; other keys stay"),
        ("PHASELINE_NKEY=keys/tree-c1.nk PHASELINE_INBOX_PREFIX=_INBOX_tree-c1 phaseline publish ...", "as a user"),
    ],
)
@click.option("--trees", type=options.WORDS, default="", metavar="NAMES",
              help="Roots of trees, separated by commas. Each gets a user who may publish its events.")  # fmt: skip
@click.option("--readers", type=options.WORDS, default="reader", show_default=True, metavar="NAMES",
              help="Users who may read states, histories and the live feed.")  # fmt: skip
@click.option("--watchers", type=options.WORDS, default="watcher", show_default=True, metavar="NAMES",
              help="Users who may receive the live feed, and nothing else.")  # fmt: skip
@click.option("--operators", type=options.WORDS, default="operator", show_default=True, metavar="NAMES",
              help="Users who maintain the installation. Trust them as you trust the workers.")  # fmt: skip
@click.option("--edges", type=options.WORDS, default="", metavar="NAMES",
              help="Edges, separated by commas. Each gets an account for the leaf node of its server.")  # fmt: skip
@click.option("--keys", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR",
              help="Folder with the users' seeds, one file each. Keys that are there are kept.")  # fmt: skip
@click.option("--output", type=FILE, metavar="FILE", help="Write to this file.  [default: stdout]")
@connection_option("prefix")
@options.verbose
def accounts(*, prefix: str, keys: Path, output: Path | None, **names: tuple[str, ...]) -> int | None:
    """Print the NATS accounts of an installation: who may publish, read and maintain what. Needs no server.

    The output is a part of nats-server's configuration. It holds no secrets; these are in the folder of --keys,
    readable by their owner only. docs/security.md says what each user may do.
    """
    text = nats_conf(AccountPlan(prefix, **names), KeyFolder(keys).public)
    if output is None:
        click.echo(text, nl=False)
        return 0
    try:
        output.write_text(text)
    except OSError as error:
        raise click.BadParameter(f"cannot write {output}: {error.strerror}", param_hint="--output") from error
    terminal.say(f"wrote {output}")
    return 0
