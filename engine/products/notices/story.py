"""What there is to say of one notice, or of the notices about one entity: out of the installation of notices.

Belongs here: reading it. Does not: why a rule selects no entity (`fold.matching`), the layout (`surfaces.cli`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.client import Client
from phaseline.machines.kinds.notices.notice import CLOSED
from phaseline.schemas.records import Transition, timestamp


class NoticeStory(NamedTuple):
    """A notice: its last record, what it was, and its deliveries, by receiver."""

    record: Transition
    history: Sequence[Transition]
    deliveries: Mapping[str, Transition]


async def story_of(notices: Client, notice: str) -> NoticeStory:
    """The story of a notice; raises `EntityUnknown`."""
    record = await notices.last("notice", notice)
    history = [one async for one in notices.history("notice", notice)]
    view = await notices.at()
    deliveries = {one.entity.id.rpartition("/")[2]: one async for one in view.unsorted("delivery", tree=notice)}
    return NoticeStory(record, history, dict(sorted(deliveries.items())))


async def about(notices: Client, kind: str, entity_id: str) -> list[Transition]:
    """The notices that concern an entity, or whose head it was, the latest first. Of many, a notice names a hundred."""
    name, view = f"{kind}/{entity_id}", await notices.at()
    found = [
        one
        async for one in view.unsorted("notice")
        if one.entity.attributes.get("about") == name or name in (one.entity.attributes.get("names") or ())
    ]
    return sorted(found, key=lambda one: -one.time_ns)


async def listed(notices: Client, *, closed: bool) -> list[Transition]:
    """The notices under way; with `closed` all that are known. The one that began last comes first."""
    view = await notices.at()
    classes = () if closed else ("busy", "excused", "bad", "unknown")
    found = [
        one
        async for one in view.unsorted("notice", class_=classes)
        if closed or one.entity.facets[0].base.phase != CLOSED
    ]
    return sorted(found, key=lambda one: (one.entity.attributes.get("since") or "", one.entity.id), reverse=True)


def story_map(notices: Client, story: NoticeStory) -> dict[str, Any]:
    """A story for programs."""
    return {
        **maps.entity_map(notices.kinds, story.record),
        "history": [
            {"time": timestamp(one.time_ns), "trigger": one.trigger, "state": str(one.after), "facet": one.facet,
             "message": one.message}
            for one in story.history
        ],
        "deliveries": {name: maps.entity_map(notices.kinds, one) for name, one in story.deliveries.items()},
    }  # fmt: skip
