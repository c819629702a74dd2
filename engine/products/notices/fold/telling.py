"""What an event of a notice says: the head of those concerned with its state, reason and cause, numbers and names.

Belongs here: the data of events.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from phaseline.engine.products.notices.fold.groups import Name, NoticeGroup
from phaseline.schemas.records import Rejection, Transition, own_facets, timestamp
from phaseline.schemas.subjects import natural

NAMED = 100
"""How many of those concerned are named. Of the others there is the number."""
MOST_TEXT = 8_192
"""The most characters of all names together."""
LONGEST = 1_024
"""The most characters of a message that is repeated."""


def data_of(group: NoticeGroup, head: Name | None, below: int, why: Transition | None) -> dict[str, Any]:
    """The data of an event of a notice. head: the topmost of those concerned; None if nobody is any more.

    below: how many more are concerned in notices that it holds. why: the last record of what explains the head, if that
    is not concerned itself.
    """
    record = group.last if head is None else group.records[head]
    found: dict[str, Any] = {
        "severity": group.rule.severity, "to": list(group.rule.to), "number": len(group.members), "most": group.most,
        "below": below, "names": [*_names(group.members)], "kinds": dict(_kinds(group.members)),
        "since": timestamp(group.since), "begins": group.begins, "flapping": group.is_flapping,
        "held_by": "" if group.held_by is None else "/".join(group.held_by),
        "window": "" if group.window is None else group.window.name,
        "opened_by": "" if group.window is None else group.window.by,
        "opened": timestamp(group.opened_at) if group.opened_at else "",
        "ended": timestamp(group.ended_at) if group.ended_at else "", "ended_as": group.ended_as,
        "left": dict(sorted(group.left.items())),
    }  # fmt: skip
    return {**found, **(_about(record) if record is not None else {}), **_explained(why)}


def sentence(data: Mapping[str, Any]) -> str:
    """What a notice is about, in a sentence: `node/c1/p/n1 is Failed [NotReady], and 41 more`; empty if unknown."""
    about, more = data.get("about"), max(0, data.get("number", 0) - 1) + data.get("below", 0)
    if not about:
        return ""
    said = f"{about} is {data.get('state', '')}" + (f", and {more:,} more" if more else "")
    return said[:LONGEST]


def head_of(members: Iterable[Name]) -> Name | None:
    """The topmost of those concerned; None if there is none."""
    return min(members, key=lambda name: (name[1].count("/"), natural(name[1]), name[0]), default=None)


def _names(members: Mapping[Name, int]) -> Iterable[str]:
    room = MOST_TEXT
    for kind, entity_id in islice(members, NAMED):
        room -= len(kind) + len(entity_id) + 1
        if room < 0:
            return
        yield f"{kind}/{entity_id}"


def _kinds(members: Mapping[Name, int]) -> list[tuple[str, int]]:
    return Counter(kind for kind, _ in members).most_common(NAMED)


def _about(record: Transition | Rejection) -> dict[str, Any]:
    """What the record of the head says."""
    cause = record.cause
    if isinstance(record, Rejection):
        about, state = f"{record.kind}/{record.id}", "rejected"
    else:
        about, state = f"{record.entity.kind}/{record.entity.id}", states_of(record)
    return {
        "about": about,
        "state": state,
        "trigger": record.trigger,
        "said": {"reason": record.reason or "", "message": (record.message or "")[:LONGEST]},
        "cause": {
            "event": cause.event, "source": cause.source, "by": cause.by, "position": cause.sequence,
            "actor": cause.actor,
        },
    }  # fmt: skip


def _explained(why: Transition | None) -> dict[str, Any]:
    if why is None:
        return {"because": {}}
    about, said = f"{why.entity.kind}/{why.entity.id}", (why.message or why.reason or "")[:LONGEST]
    return {"because": {"about": about, "state": states_of(why), "trigger": why.trigger, "said": said}}


def states_of(record: Transition) -> str:
    """The states of the entity of a record, as text."""
    return ", ".join(str(facet.state) for facet in own_facets(record.entity))
