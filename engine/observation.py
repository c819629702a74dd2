"""The last observation of a Kubernetes object, and what its manifests say by the settings of its application as they are now.

Belongs here: reading both, putting them together. Does not: the rules (`machines`), layout (`cli`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from phaseline.engine import queries
from phaseline.engine.errors import EntityUnknown, NotObserved
from phaseline.engine.fold import partition_of_id
from phaseline.engine.sandbox import shared
from phaseline.engine.streams import Layout
from phaseline.engine.tree import Tree
from phaseline.engine.wire import Wire
from phaseline.machines.gitops.app_settings import application_of, overrides_of
from phaseline.machines.kinds import Kinds
from phaseline.machines.kubernetes.assess import Assessment
from phaseline.machines.kubernetes.observation import ObservedPair
from phaseline.machines.kubernetes.profiles import Profile
from phaseline.schemas import codec
from phaseline.schemas.records import nanoseconds
from phaseline.schemas.subjects import Subjects

KIND = "resource"


class Observation(NamedTuple):
    """What was seen of an object. time: when the event was stored, ns since 1970. None: it was not there, or not declared.

    is_known: whether the event said what Git declares. event: its id and its source.
    """

    live: Mapping[str, Any] | None
    desired: Mapping[str, Any] | None
    is_known: bool
    time: int
    event: tuple[str, str]


class Judged(NamedTuple):
    """An observation, and what it says by these settings."""

    observation: Observation
    said: Assessment
    profile: Profile


async def last(wire: Wire, layout: Layout, kinds: Kinds, resource_id: str) -> Observation:
    """The last observation of a resource; raises `NotObserved`, `IdUnfit`."""
    queries.check_name(kinds, KIND, resource_id)
    subject = Subjects(layout.prefix).live(partition_of_id(resource_id, layout.partitions), resource_id)
    reply = await queries.direct(wire, f"{layout.live}.{subject}")
    if reply is None:
        raise NotObserved(id=resource_id)
    event = codec.decode(reply.data)
    data = event.get("data") or {}
    stored = nanoseconds(reply.headers["Nats-Time-Stamp"])
    return Observation(*ObservedPair.of(data), stored, (event["id"], event["source"]))


async def judged(wire: Wire, layout: Layout, kinds: Kinds, resource_id: str) -> Judged:
    """The last observation of a resource, by its application's settings as they are now; raises as `last` does."""
    found = await last(wire, layout, kinds, resource_id)
    tree = Tree(kinds)
    application = application_of(resource_id)
    for kind, entity_id in (("application_set", application.partition("/")[0]), ("application", application)):
        try:
            tree.put((await queries.last(wire, layout, kind, entity_id)).entity)
        except EntityUnknown:
            continue
    overrides = overrides_of(tree, resource_id)
    pair = ObservedPair(found.live, found.desired, found.is_known)
    said = pair.assess(overrides, shared(), found.time, explains=True)
    return Judged(found, said, overrides.profile)
