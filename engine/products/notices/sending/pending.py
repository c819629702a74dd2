"""Which deliveries wait, and the notices that they are about: a fold over the records of an installation of notices.

It keeps what is under way only. Records come in the order of the log, so the notice of a delivery is at least as new
as the delivery itself.
Belongs here: `PendingDeliveries`, the message of a delivery. Does not: following the log, sending (`sender`).
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.engine.products.notices.fold.bodies.message import OVER, NoticeMessage, time_of, word_now
from phaseline.engine.products.notices.fold.bodies.shapes import ALERT_AFTER
from phaseline.engine.products.notices.fold.following import LOST_TRACK
from phaseline.machines.kinds.notices.delivery import FAILED, QUEUED, SENT
from phaseline.machines.kinds.notices.notice import CLEARING, CLOSED, GIVEN_BACK, OPEN, TAKEN
from phaseline.machines.language.table import DELETED
from phaseline.schemas.records import SECOND, Entity, Transition

DONE = (SENT, DELETED)
"""In these phases of a delivery nothing is to be sent."""
LATELY = 60 * SECOND
"""For how long what is over is kept, ns: the deliveries of its end come right behind it."""


class PendingDelivery(NamedTuple):
    """A delivery that is not done. Times in ns. queued: since when it waits, which tells who is first."""

    id: str
    version: int
    phase: str
    attributes: Mapping[str, Any]
    queued: int

    @property
    def notice(self) -> str:
        """The id of the notice."""
        return self.id.rpartition("/")[0]

    @property
    def receiver(self) -> str:
        """The name of the receiver."""
        return self.id.rpartition("/")[2]

    @property
    def opened(self) -> str:
        """When the notice opened of which is told next. A notice may have ended and opened anew meanwhile.

        The end of what the receiver has heard of, or may have heard of, comes first: nothing begins twice, and nothing
        is left open. Empty if the record of the delivery does not say it.
        """
        asked, tried, heard = (str(self.attributes.get(name) or "") for name in ("opened", "tried", "heard"))
        if asked and heard and heard != asked and self.attributes.get("told") not in OVER:
            return heard
        return tried if asked and tried not in ("", heard) else asked

    @property
    def has_more(self) -> bool:
        """Whether something else is to be told after that."""
        return self.opened != str(self.attributes.get("opened") or "")

    @property
    def told(self) -> str:
        """What the receiver has heard last of what is told next."""
        heard = str(self.attributes.get("heard") or "")
        return str(self.attributes.get("told") or "") if heard in ("", self.opened) else ""

    @property
    def is_over(self) -> bool:
        """Whether the receiver has heard already that it is over."""
        return self.attributes.get("heard") == self.opened != "" and self.told in OVER

    def is_about(self, notice: Entity) -> bool:
        """Whether that is told of a notice as it is now."""
        return self.opened in ("", notice.attributes.get("opened"))


class PendingDeliveries:
    """All deliveries that are not done, and the notices that are open, have such a delivery, or are over lately."""

    def __init__(self, repeats: Collection[str] = ()) -> None:
        """Nothing is known yet. repeats: the receivers for whom `states_for` tells what is open or over lately."""
        self._repeats, self._kept = repeats, 2 * ALERT_AFTER if repeats else LATELY
        self._waiting: dict[str, dict[str, PendingDelivery]] = {}
        self._heard: dict[str, dict[str, str]] = {}
        self.notices: dict[str, Entity] = {}

    def take(self, record: Transition) -> str:
        """Look at a record: the name of the receiver to whom it may matter, or nothing."""
        entity = record.entity
        if entity.kind == "notice":
            self.notices[entity.id] = entity
            return ""
        if entity.kind != "delivery":
            return ""
        notice, _, receiver = entity.id.rpartition("/")
        phase = entity.facets[0].state.phase
        waiting = self._waiting.setdefault(receiver, {})
        known = waiting.get(entity.id)
        if known is not None and known.phase != phase:
            del waiting[entity.id]  # it goes to the end: the order is that of the records
        if phase not in DONE:
            since = known.queued if known is not None and known.phase == phase else record.time_ns
            waiting[entity.id] = PendingDelivery(entity.id, entity.version, phase, entity.attributes, since)
        if receiver in self._repeats:
            heard = self._heard.setdefault(receiver, {})
            heard.pop(notice, None)
            if phase != DELETED and (told := str(entity.attributes.get("told") or "")):
                heard[notice] = told
        return receiver

    def queued(self, receiver: str) -> Iterator[PendingDelivery]:
        """What waits to be sent to a receiver, the oldest first."""
        return (one for one in self._waiting.get(receiver, {}).values() if one.phase == QUEUED)

    def failed(self, receiver: str) -> list[PendingDelivery]:
        """What failed and waits for the next try."""
        return [one for one in self._waiting.get(receiver, {}).values() if one.phase == FAILED]

    def receivers(self) -> list[str]:
        """The names of those for whom something waits."""
        return [name for name, found in self._waiting.items() if found]

    def states_for(self, receiver: str, now: int) -> Iterator[NoticeMessage]:
        """The notices that a receiver has heard of and that are open, or over since a short time."""
        for notice, told in self._heard.get(receiver, {}).items():
            entity = self.notices.get(notice)
            if entity is None or not entity.attributes.get("opened"):
                continue
            phase = entity.facets[0].state.phase
            is_open = phase in (OPEN, CLEARING) and told not in OVER
            if is_open or (phase == CLOSED and told in ("end", "past") and now - _closed_at(entity) < ALERT_AFTER):
                yield NoticeMessage(notice, receiver, "begin" if is_open else "end", entity.attributes, now, now)

    def sweep(self, now: int) -> None:
        """Forget the notices that are over, and of which nothing waits."""
        needed = {one.notice for found in self._waiting.values() for one in found.values()}
        for notice, entity in [*self.notices.items()]:
            phase = entity.facets[0].state.phase
            if notice not in needed and phase in (CLOSED, DELETED) and now - _closed_at(entity) > self._kept:
                del self.notices[notice]
        self._heard = {
            receiver: {notice: told for notice, told in found.items() if notice in self.notices}
            for receiver, found in self._heard.items()
        }


def _closed_at(entity: Entity) -> int:
    return max(time_of(entity.attributes, "ended"), time_of(entity.attributes, "due"))


def message_of(delivery: PendingDelivery, notice: Entity, now: int) -> NoticeMessage:
    """What a delivery tells. notice: as it is now, or as it was last when it was over and did not open anew yet."""
    data, phases = notice.attributes, [facet.state.phase for facet in notice.facets]
    if not delivery.is_about(notice):  # the log does not have it any more
        data = {**data, "opened": delivery.opened, "number": 0, "ended": "", "ended_as": LOST_TRACK}
    is_given_back = GIVEN_BACK in phases
    word = word_now(
        str(delivery.attributes.get("word") or ""), delivery.told, data,
        is_closed=phases[0] in (CLOSED, DELETED) or data is not notice.attributes, is_given_back=is_given_back,
    )  # fmt: skip
    is_first = word in ("begin", "past", "happened")
    due = (time_of(data, "opened") if is_first else 0) or time_of(data, "due") or delivery.queued
    due = delivery.queued if word == "given_back" else due
    taken_by = str(data.get("taken_by") or "") if TAKEN in phases or is_given_back else ""
    return NoticeMessage(delivery.notice, delivery.receiver, word, data, due, max(now, due), taken_by)
