"""The installation as a whole: what is where, who decides, what waits.

Belongs here: the handler of this route. Does not: asking the owners (`publish.backlog`).
"""

import asyncio
from typing import Any

from phaseline.engine.log import latest, table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.restored import identity
from phaseline.engine.log.when import Moment
from phaseline.engine.publish.backlog import living_workers, owner_of
from phaseline.engine.surfaces.http.call import Call, HttpAnswer
from phaseline.engine.surfaces.http.fleet import columns
from phaseline.schemas.errors import ApiFailed, NoAnswer, NotPermitted
from phaseline.schemas.records import timestamp


async def summary(call: Call) -> HttpAnswer:
    """Counts, silent places, tables. Of the whole installation also workers, partitions and streams."""
    service, trees = call.service, call.trees
    fleet = await service.fleet()
    for tree in trees:
        latest.check_tree(tree)
    below = tuple(f"{tree}/" for tree in trees)
    present = columns.chosen(fleet, None, trees, deleted=False) if trees else None
    body = {
        "log": None if service.follower.note is None else identity.as_map(service.follower.note),
        **columns.tally(fleet, present), "connected": service.is_connected,
        "entities": len(columns.chosen(fleet, None, trees, deleted=True)) if trees else len(fleet),
        "silent": [
            {"kind": kind, "id": entity_id, "since": timestamp(since)}
            for (kind, entity_id), since in sorted(fleet.silent.items())
            if not trees or f"{entity_id}/".startswith(below)
        ],
        "workers": None, "partitions": None, "streams": None,
        "tables": {"digest": service.kinds.digest, "kinds": service.kinds.versions},
    }  # fmt: skip
    if not trees:
        body |= await _parts(service.installation)
    return HttpAnswer(body, Moment(fleet.place, fleet.time_ns))


async def _parts(installation: Installation) -> dict[str, Any]:
    """Who works, who decides what, what is stored where."""
    partitions = range(installation.layout.partitions)
    owned, streams, workers, eras = await asyncio.gather(
        asyncio.gather(*(_partition(installation, one) for one in partitions)),
        asyncio.gather(*(_stream(installation, name) for name in installation.layout.streams)),
        _workers(installation),
        asyncio.gather(*(_era(installation, one) for one in partitions)),
    )
    return {
        "workers": workers, "streams": streams,
        "partitions": [{**one, "tables": era} for one, era in zip(owned, eras, strict=True)],
    }  # fmt: skip


async def _partition(installation: Installation, partition: int) -> dict[str, Any]:
    """Who owns a partition, and how many events wait there; None where nobody says."""
    try:
        found = await owner_of(installation, partition)
    except (NoAnswer, NotPermitted) as error:
        return {"partition": partition, "worker": None, "position": None, "waiting": None, "problem": str(error)}
    return {"partition": partition, **found._asdict()}


async def _era(installation: Installation, partition: int) -> str | None:
    """The digest of the tables that decide a partition; None if nobody has decided yet, or if it is not known."""
    try:
        era = await table_eras.latest(installation, partition)
    except (NoAnswer, NotPermitted, ApiFailed):
        return None
    return None if era is None else era.digest


async def _workers(installation: Installation) -> list[str] | None:
    """The workers that are alive; None if this user may not read leases."""
    try:
        return sorted(await living_workers(installation.wire, installation.layout))
    except (NotPermitted, NoAnswer, ApiFailed):
        return None


async def _stream(installation: Installation, name: str) -> dict[str, Any]:
    """What a stream holds."""
    try:
        info = await installation.wire.api(f"STREAM.INFO.{name}")
    except (NoAnswer, NotPermitted, ApiFailed) as error:
        return {"stream": name, "problem": str(error)}
    state = info["state"]
    return {
        "stream": name, "messages": state["messages"], "bytes": state["bytes"], "first": state["first_seq"],
        "last": state["last_seq"], "last_time": state["last_ts"], "subjects": state.get("num_subjects", 0),
        "replicas": info["config"]["num_replicas"],
    }  # fmt: skip
