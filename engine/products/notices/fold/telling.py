"""What an event of a notice says: the head of those concerned with its state, reason and cause, numbers and names.

Belongs here: the data of events.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from phaseline.engine.products.notices.fold.groups import Name, NoticeGroup
from phaseline.engine.products.notices.fold.sayings import LONGEST, Saying
from phaseline.schemas.records import timestamp
from phaseline.schemas.subjects import natural

NAMED = 100
"""How many of those concerned are named. Of the others there is the number."""
MOST_TEXT = 8_192
"""The most characters of all names together."""


def data_of(group: NoticeGroup, head: Name | None, below: int, why: tuple[Name, Saying] | None) -> dict[str, Any]:
    """The data of an event of a notice. head: the topmost of those concerned; None if nobody is any more.

    below: how many more are concerned in notices that it holds. why: what explains the head, if that is not concerned
    itself.
    """
    about = group.last if head is None else (head, group.members[head].said, None)
    found: dict[str, Any] = {
        "severity": group.rule.severity, "to": list(group.rule.to), "number": len(group.members), "most": group.most,
        "below": below, "names": [*_names(group.members)],
        "kinds": dict(Counter(kind for kind, _ in group.members).most_common(NAMED)),
        "since": timestamp(group.since), "begins": group.begins, "flapping": group.is_flapping,
        "held_by": "" if group.held_by is None else "/".join(group.held_by),
        "window": "" if group.window is None else group.window.name,
        "opened_by": "" if group.window is None else group.window.by,
        "opened": timestamp(group.opened_at) if group.opened_at else "",
        "ended": timestamp(group.ended_at) if group.ended_at else "", "ended_as": group.ended_as,
        "left": dict(sorted(group.left.items())),
    }  # fmt: skip
    return {**found, **(_about(*about) if about is not None else {}), **_explained(why)}


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


def _names(members: Iterable[Name]) -> Iterable[str]:
    room = MOST_TEXT
    for kind, entity_id in islice(members, NAMED):
        room -= len(kind) + len(entity_id) + 1
        if room < 0:
            return
        yield f"{kind}/{entity_id}"


def _about(name: Name, said: Saying, was: Saying | None) -> dict[str, Any]:
    """What the last record of the head says. was: what one said before, by which it was concerned; None if it still is.

    Who hears of the end, or that it comes and goes, wants to know of what.
    """
    before = {} if was is None else {"was": {"state": was.state, "reason": was.reason, "message": was.message}}
    return {
        "about": "/".join(name),
        "state": said.state,
        "trigger": said.trigger,
        "said": {"reason": said.reason, "message": said.message, **before},
        "cause": {
            "event": said.event, "source": said.source, "by": said.by, "position": said.position, "actor": said.actor,
        },
    }  # fmt: skip


def _explained(why: tuple[Name, Saying] | None) -> dict[str, Any]:
    if why is None:
        return {"because": {}}
    name, said = why
    text = (said.message or said.reason)[:LONGEST]
    return {"because": {"about": "/".join(name), "state": said.state, "trigger": said.trigger, "said": text}}
