"""What a command that reads the log from its very start says where the first part of it was archived.

Belongs here: looking, and the words. Does not: moments that the log cannot show any more (`engine.log.log`).
The words stand on stderr, so JSON on stdout stays what it is.
"""

from collections.abc import Mapping

from phaseline.engine.cli import terminal
from phaseline.engine.client.client import Client
from phaseline.engine.log.log import Log
from phaseline.engine.log.when import START
from phaseline.schemas.records import timestamp


async def tell(clients: Mapping[str, Client], start: object) -> None:
    """Say so for each of these that reads no archive. clients: by name of the cell. start: where the command begins."""
    if start != START:
        return
    for name, client in clients.items():
        installation = await client._session.installation()  # noqa: SLF001  # the client shows no notes of the log
        found = None if installation.archive is not None else await Log(installation).trimmed()
        if found is not None:
            cell = f"cell {name}: " if name else ""
            how = "phaseline watch --nats URL --archive DIR" if name else "--archive DIR"
            upto = f"{cell}archived up to {found.place} ({timestamp(found.time_ns)})"
            terminal.say(
                f"{upto}: before that the log keeps only the last record of each entity; {how} reads all of it"
            )
