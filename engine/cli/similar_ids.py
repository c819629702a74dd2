"""Which id was probably meant, where there is no entity of the one that was typed.

Belongs here: looking for it among the ids that exist, only after the error. Does not: similarity
(`phaseline.schemas.similar`), how notes of an error are printed (`failures`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from phaseline.engine.client.client import Client
from phaseline.engine.errors import EntityNotYetKnown, EntityUnknown, PhaselineError, TreeNotYetKnown, TreeUnknown
from phaseline.schemas.similar import did_you_mean

PATIENCE = 1.0
"""Seconds in which the ids must have been read."""
MOST = 5_000
"""How many ids are compared at most."""


@asynccontextmanager
async def suggested(client: Client) -> AsyncIterator[None]:
    """A block whose error about an unknown id gets a note: the id that was probably meant, if one is similar."""
    try:
        yield
    except (EntityNotYetKnown, TreeNotYetKnown):  # the id is right, the moment is not
        raise
    except EntityUnknown as error:
        kinds = [kind for kind in error.kind.split(" or ") if kind in client.kinds]
        await _note(client, error, kinds, error.id)
        raise
    except TreeUnknown as error:
        parts = error.root.count("/") + 1
        await _note(client, error, [kind.name for kind in client.kinds.values() if kind.arity == parts], error.root)
        raise


async def _note(client: Client, error: PhaselineError, kinds: list[str], typed: str) -> None:
    with suppress(PhaselineError, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            ids = await _ids(client, kinds, typed.partition("/")[0] if "/" in typed else None)
            ids = ids or await _ids(client, kinds, None)
        if meant := did_you_mean(typed, ids):
            error.add_note(meant.strip(" ()"))


async def _ids(client: Client, kinds: list[str], tree: str | None) -> list[str]:
    """The ids of these kinds, of one tree or of all."""
    found: list[str] = []
    for kind in kinds:
        async for entity in client.list(kind, tree=tree):
            found.append(entity.id)
            if len(found) >= MOST:
                return found
    return found
