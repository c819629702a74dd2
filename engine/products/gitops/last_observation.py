"""The last observation of a Kubernetes object, assessed by the present settings of its application.

Belongs here: reading both, assessing. Does not: the rules (`kinds.kubernetes.assess`), texts for people
(`surfaces.cli`).
"""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import Latest, check_name
from phaseline.engine.nats.direct_get import direct, stored_ns
from phaseline.machines.kinds.gitops.app_settings import application_of, merged_settings
from phaseline.machines.kinds.kubernetes.assess import Assessment
from phaseline.machines.kinds.kubernetes.kind_facts import UNTOLD, KindFacts
from phaseline.machines.kinds.kubernetes.observation import ObservedPair
from phaseline.machines.kinds.kubernetes.profiles import Profile
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import binary_mode
from phaseline.schemas.errors import EntityUnknown, NotFound
from phaseline.schemas.records import utc

KIND, KINDS = "resource", ("resource", "owned_object")
COPIED = (0.0, 0.05, 0.2, 0.75, 2.0)
"""Seconds to wait before each look for an observation that LIVE has not copied yet."""


class Observation(NamedTuple):
    """The content of the last `resource.observed` event of an object.

    live: the manifest in the cluster; None if it was absent. desired: the manifest in Git; None if it was not
    declared. is_known: whether the event said what Git declares. event: the event's id and source. facts: what the
    observer knew of the kind.
    """

    live: Mapping[str, Any] | None
    desired: Mapping[str, Any] | None
    is_known: bool
    time_ns: int
    event: tuple[str, str]
    facts: KindFacts = UNTOLD

    @property
    def time(self) -> datetime:
        """When the event was stored."""
        return utc(self.time_ns)


class ObjectDiff(NamedTuple):
    """The last observation of an object, and its assessment by `profile`, which the application's settings name."""

    observation: Observation
    assessment: Assessment
    profile: Profile


async def last(installation: Installation, resource_id: str, kind: str = KIND) -> Observation:
    """The last observation of an object; raises `NotFound.not_observed`, `InvalidInput.invalid_id`.

    kind: one of `KINDS`.

    LIVE copies events a moment after they are stored. So the observation of a known resource is asked for again.
    """
    check_name(installation.kinds, kind, resource_id)
    branch = installation.kinds.copies[kind].branch
    subject = installation.subjects.live(branch, installation.partition_of(resource_id), resource_id)
    for pause in COPIED:
        await asyncio.sleep(pause)
        reply = await direct(installation.wire, f"{installation.layout.live}.{subject}")
        if reply is not None:
            break
        if pause == 0 and not await Latest(installation).exists(kind, resource_id):
            raise NotFound.not_observed(id=resource_id, kind=kind)
    else:
        raise NotFound.not_observed(id=resource_id, kind=kind)
    event = codec.decode(binary_mode.structured(reply.data, reply.block))
    data = event.get("data") or {}
    stored = stored_ns(reply)
    pair = ObservedPair.of(data)
    return Observation(*pair[:3], stored, (event["id"], event["source"]), pair.facts)


async def object_diff(installation: Installation, resource_id: str) -> ObjectDiff:
    """The last observation of a resource, assessed by its application's settings; raises as `last` does."""
    observation = await last(installation, resource_id)
    tree, states = installation.tree(), Latest(installation)
    application = application_of(resource_id)
    for kind, entity_id in (("application_set", application.partition("/")[0]), ("application", application)):
        try:
            tree.put((await states.last(kind, entity_id)).entity)
        except EntityUnknown:
            continue
    overrides = merged_settings(tree, resource_id).overrides
    pair = ObservedPair(observation.live, observation.desired, observation.is_known, observation.facts)
    assessment = pair.assess(overrides, installation.scripts, observation.time_ns, explains=True)
    return ObjectDiff(observation, assessment, overrides.profile)
