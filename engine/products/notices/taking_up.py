"""What the installation of notices knows when a notifier starts: notices under way, and how far the log was followed.

Belongs here: reading both. Does not: what follows from them (`fold.following`).
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from phaseline.engine.products.notices.events import OWN
from phaseline.engine.products.notices.fold.following import FollowedTo, LiveNotice
from phaseline.engine.products.notices.fold.groups import PER_PLACE, Key
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.kinds.notices.notice import UNDER_WAY
from phaseline.schemas.errors import EntityUnknown
from phaseline.schemas.records import Entity, nanoseconds


class KnownNotices(NamedTuple):
    """What a notifier finds. checkpoint: None if the log was never followed.

    identity, rules: those of the log that was followed, and of the rules at work then. live: the notices under way.
    said: up to which place and time something was said of that log, also since the checkpoint. later: the notices that
    are over, of which something was said since the checkpoint.
    """

    checkpoint: FollowedTo | None
    identity: int
    rules: str
    live: Mapping[Key, LiveNotice]
    said: tuple[int, int] = (0, 0)
    later: Collection[Key] = ()


async def known(notices: Client, prefix: str) -> KnownNotices:
    """What the installation of notices knows of the one with a prefix."""
    view = await notices.at("now")
    try:
        found = (await view.get("notifier", prefix)).attributes
    except EntityUnknown:
        return KnownNotices(None, 0, "", {})
    heard = defaultdict[Key, list[tuple[str, str]]](list)
    async for record in view.unsorted("delivery"):
        rule, group, receiver = record.entity.id.split("/")
        heard[rule, group].append((receiver, record.entity.attributes.get("opened") or ""))
    live: dict[Key, LiveNotice] = {}
    checkpoint = FollowedTo(found["place"], nanoseconds(found["at"]), found["first"])
    said, later = [(checkpoint.place, checkpoint.at)], set[Key]()
    async for record in view.unsorted("notice"):
        rule, group = record.entity.id.split("/")
        told = record.entity.attributes
        if rule != OWN and told.get("log_identity") == found["log_identity"] and told.get("due"):
            said.append((told.get("sequence", 0) // PER_PLACE, nanoseconds(told["due"]) + 1))
            if said[-1][0] > checkpoint.place or said[-1][1] > checkpoint.at:
                later.add((rule, group))
        if rule != OWN and record.entity.facets[0].base.phase in UNDER_WAY:
            live[rule, group] = _live(record.entity, heard[rule, group])
    up_to = (max(place for place, _ in said), max(at for _, at in said))
    return KnownNotices(checkpoint, found["log_identity"], found["rules"], live, up_to, later)


def _live(entity: Entity, heard: Iterable[tuple[str, str]]) -> LiveNotice:
    """heard: of all deliveries of it the receiver, and when it had opened then."""
    said = entity.attributes
    opened = said.get("opened") or ""
    to = tuple(receiver for receiver, of in heard if of in ("", opened))
    phase = entity.facets[0].base.phase
    return LiveNotice(
        phase, said.get("begins", 1), said.get("sequence", 0),  # type: ignore[arg-type]  # one of these
        nanoseconds(opened) if opened else 0, to, nanoseconds(said["due"]) if said.get("due") else 0,
    )  # fmt: skip
