"""Which id was probably meant, where there is no entity of the one that was typed.

Belongs here: looking for it among the ids that exist, only after the error. Does not: similarity
(`phaseline.schemas.errors`), how notes of an error are printed (`failures`).
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from phaseline.engine.surfaces.cli import names, terminal
from phaseline.engine.surfaces.client.reading_client import ReadingClient
from phaseline.schemas.errors import EntityUnknown, InvalidInput, PhaselineError, TreeUnknown, did_you_mean

PATIENCE = 1.0
"""Seconds in which the ids must have been read."""
SHOWN = 3
"""How many ids are named at most."""
MOST = 5_000
"""How many ids are compared at most."""


@asynccontextmanager
async def suggested(client: ReadingClient) -> AsyncIterator[None]:
    """A block whose error about an unknown id gets a note: the id that was probably meant, if one is similar.

    If the entity is known at another moment, the id is right.
    """
    try:
        yield
    except InvalidInput as error:
        if InvalidInput.wrong_id_length.made(error):
            await _note_ending(client, error, error.details["kind"], error.details["id"])
        raise
    except EntityUnknown as error:
        if EntityUnknown.entity_not_yet_known.made(error) or await _note_kind(client, error, error.id):
            raise
        kinds = [error.kind] if error.kind in client.kinds else _of_length(client, error.id)
        await _note(client, error, kinds, error.id)
        raise
    except TreeUnknown as error:
        if TreeUnknown.tree_not_yet_known.made(error) or await _note_kind(client, error, error.root):
            raise
        await _note(client, error, _of_length(client, error.root), error.root)
        raise


async def tell_absent(clients: Mapping[str, ReadingClient], root: str | None) -> None:
    """Say that nothing is known of an id yet, with the one that was probably meant, before a command shows nothing.

    clients: by name of the cell. root: the id of a tree or of a part of one; None for all trees.
    """
    if root is None:
        return
    for name, client in clients.items():
        kinds = _of_length(client, root)
        found = await asyncio.gather(*(client.get(kind, root) for kind in kinds), return_exceptions=True)
        if not all(isinstance(one, EntityUnknown) for one in found):
            continue
        error = EntityUnknown(kind="entity", id=root)
        await _note(client, error, kinds, root)
        meant = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
        terminal.say(f"{f'{name}: ' if name else ''}nothing is known of {root} yet{meant}")


def _of_length(client: ReadingClient, typed: str) -> list[str]:
    """The kinds whose ids have as many parts as what was typed."""
    parts = typed.count("/") + 1
    return [kind.name for kind in client.kinds.values() if kind.arity == parts]


async def _note(client: ReadingClient, error: PhaselineError, kinds: list[str], typed: str) -> None:
    with suppress(PhaselineError, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            ids = await _ids(client, kinds, typed.partition("/")[0] if "/" in typed else None)
            ids = ids or await _ids(client, kinds, None)
        if meant := did_you_mean(typed, ids):
            error.add_note(meant.strip(" ()"))


async def _note_kind(client: ReadingClient, error: PhaselineError, typed: str) -> bool:
    """Whether the text is a kind, or begins with one: then the note says what else was probably meant."""
    word, _, rest = typed.partition("/")
    kind = names.spelt(word, client.kinds)
    if kind not in client.kinds:
        return False
    if rest:
        return await _note_ending(client, error, kind, rest)
    error.add_note(f"{kind} is a kind: `phaseline list {kind}` lists its entities")
    return True


async def _note_ending(client: ReadingClient, error: PhaselineError, kind: str, typed: str) -> bool:
    """Note the ids of the kind that end with these parts, if there are any: an id is the whole path from the root."""
    with suppress(PhaselineError, TimeoutError):
        async with asyncio.timeout(PATIENCE):
            ending = [one for one in await _ids(client, [kind], None) if one.endswith(f"/{typed}")]
        if ending:
            others = f" There are {len(ending) - SHOWN:,} more" if len(ending) > SHOWN else ""
            error.add_note(f"did you mean {' or '.join(ending[:SHOWN])}?{others}")
            return True
    return False


async def _ids(client: ReadingClient, kinds: list[str], tree: str | None) -> list[str]:
    """The ids of these kinds, of one tree or of all."""
    found: list[str] = []
    for kind in kinds:
        async for entity in client.list(kind, tree=tree):
            found.append(entity.id)
            if len(found) >= MOST:
                return found
    return found
