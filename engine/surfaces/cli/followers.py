"""The command `followers`: who follows the log under a name, how far they are, and removing one.

Belongs here: its options, its layout. Does not: followers themselves (`surfaces.follow`).
"""

from typing import Final

import click
import msgspec

from phaseline.engine.log.installation import Installation
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.cli import options, render, terminal
from phaseline.engine.surfaces.cli.help import Page
from phaseline.engine.surfaces.cli.layout import Column
from phaseline.engine.surfaces.cli.operations import leave_note, on_installation
from phaseline.engine.surfaces.cli.output import Output
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.engine.surfaces.follow import follower
from phaseline.engine.surfaces.follow.follower import FollowerState
from phaseline.schemas.records import timestamp

COLUMNS: Final[tuple[Column[FollowerState], ...]] = (
    Column("NAME", lambda one: Text(one.name)),
    Column("FOLLOWS", lambda one: render.text_of(str(one.follows)), wraps=True),
    Column("PLACE", lambda one: Text(str(one.place))),
    Column("BEHIND", lambda one: Text(f"{one.behind:,}")),
    Column("IN HAND", lambda one: Text(f"{one.in_hand:,}"), worth=80),
    Column("AGAIN", lambda one: Text(f"{one.again:,}", "yellow" if one.again else ""), worth=70),
    Column("MADE", lambda one: Text(render.local_time(one.made_ns)), worth=60),
)


@click.command(
    cls=Page,
    examples=[
        ("phaseline admin followers", "who follows, and how far behind"),
        ("phaseline admin followers --remove pager", "forget the place of one that is not needed any more"),
    ],
)
@click.option("--remove", metavar="NAME", help="Remove this follower. Programs that follow under the name end.")
@options.connected
@options.output("json", "yaml", "wide")
def followers(settings: Settings, *, remove: str | None, output: Output) -> int | None:
    """Show who follows the log under a name (`client.follow`): the server keeps the place of each.

    PLACE is the place up to which everything was acknowledged, BEHIND the number of records that wait. IN HAND were
    given to programs and not acknowledged yet, AGAIN of these were given more than once. A program that follows under a
    name without a follower makes one: MADE says when.

    --remove forgets the place, and prints it. Who follows under the name again begins now, or where its `start` says.
    """

    async def work() -> None:
        async with on_installation(settings, "followers") as installation:
            if remove is not None:
                await _remove(installation, settings, remove, output)
                return
            found = await follower.all_of(installation)
        output.list(COLUMNS, found, _shown)
        if not found:
            terminal.say("nobody follows under a name")

    return terminal.run(work())


async def _remove(installation: Installation, settings: Settings, name: str, output: Output) -> None:
    there = await follower.one_of(installation, name)
    await leave_note(installation.wire, settings, "followers", f"remove {name}, which had read up to {there.place}")
    found = await follower.delete(installation, name)
    if output.is_data:
        output.show(_shown(found))
        return
    output.line(f"removed {name}, which had read up to place {found.place}; {found.behind:,} records waited for it")
    output.flush()
    terminal.say(f"who follows as {name} again begins now; start={found.place + 1} in client.follow goes on from here")


def _shown(one: FollowerState) -> dict[str, object]:
    """A follower for programs."""
    return {
        "name": one.name, "follows": msgspec.to_builtins(one.follows), "log": one.log, "place": one.place,
        "behind": one.behind, "in_hand": one.in_hand, "again": one.again, "made": timestamp(one.made_ns),
    }  # fmt: skip
