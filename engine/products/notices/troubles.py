"""Notices about notices: deliveries to a receiver fail for long, or a notifier lags. Every other receiver is told.

Belongs here: seeing both, and telling them. Does not: sending, trying again, following (`notifier`).
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from phaseline.engine import logs
from phaseline.engine.products.notices.events import OWN, events_of
from phaseline.engine.products.notices.fold.groups import NoticeEvent, Word
from phaseline.engine.products.notices.notifier import SLOW, Notifier
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.reading_client import session_of
from phaseline.engine.worker.stopping import unless_stopped
from phaseline.machines.kinds.notices.delivery import FAILED, GIVEN_UP, SENT
from phaseline.machines.kinds.notices.notice import UNDER_WAY
from phaseline.schemas.errors import ApiFailed, NoAnswer
from phaseline.schemas.records import SECOND, Transition, nanoseconds, timestamp

FAILING = 900.0
"""Seconds for which deliveries to a receiver fail until the others are told."""
LOOK = 30.0
"""Seconds between two looks."""
LAG = "notifier"
"""The group of the notice about a notifier that lags; those about receivers have the names of these."""

log = logs.get_logger(__name__)


class OwnTrouble(NamedTuple):
    """What is wrong since a time, ns, and what was said of it last."""

    about: str
    state: str
    since: int
    said: str


class OwnTroubles:
    """The troubles of a notifier and of receivers."""

    def __init__(self, notices: Client, notifier: Notifier, prefix: str, receivers: Iterable[str]) -> None:
        """prefix: of the installation that is followed."""
        self._notices, self._notifier, self._prefix = notices, notifier, prefix
        self._receivers = tuple(receivers)

    async def run(self, stop: asyncio.Event) -> None:
        """Look now and then until `stop`."""
        while not stop.is_set():
            try:
                installation = await session_of(self._notices).installation()
                await self.look(await installation.server_time())
            except (NoAnswer, ApiFailed) as error:
                log.warning("troubles_unknown", error=str(error))
            await unless_stopped(asyncio.sleep(LOOK), stop)

    async def look(self, now: int) -> None:
        """Tell what has become wrong, and what is over. now: by the clock of the server, ns."""
        troubles = await self._failing(now)
        if self._notifier.lag > SLOW:
            since = now - round(self._notifier.lag * SECOND)
            troubles[LAG] = OwnTrouble(f"notifier/{self._prefix}", "Lagging", since, "notices are told late")
        known = await self._known()
        events = [*self._begun(troubles, known, now), *self._ended(troubles, known, now)]
        made = [each for one in events for each in events_of(one, 0)]
        if made:
            await self._notices.publish_many(made, check=False)

    # ---- what is wrong

    async def _failing(self, now: int) -> dict[str, OwnTrouble]:
        """By receiver, since when deliveries fail, where that is so for long and none has come through since."""
        view, found = await self._notices.at(), dict[str, OwnTrouble]()
        async for record in view.unsorted("delivery", class_=("bad", "busy")):
            receiver, since = record.entity.id.rpartition("/")[2], _failing_since(record)
            if since is None:
                continue
            said = record.entity.attributes.get("error") or ""
            if now - since >= FAILING * SECOND and (receiver not in found or since < found[receiver].since):
                found[receiver] = OwnTrouble(f"receiver/{receiver}", "Failing", since, said)
        if found:
            async for record in view.unsorted("delivery", state=SENT):
                receiver = record.entity.id.rpartition("/")[2]
                if receiver in found and record.entity.facets[0].since_ns > found[receiver].since:
                    del found[receiver]
        return found

    async def _known(self) -> dict[str, Transition]:
        """The notices about these troubles that are open, by group."""
        view = await self._notices.at()
        records = [record async for record in view.unsorted("notice", tree=OWN)]
        return {
            record.entity.id.partition("/")[2]: record
            for record in records
            if record.entity.facets[0].base.phase in UNDER_WAY
        }

    # ---- what is told

    def _begun(
        self, troubles: Mapping[str, OwnTrouble], known: Mapping[str, Transition], now: int
    ) -> Iterator[NoticeEvent]:  # fmt: skip
        for group, one in troubles.items():
            if group not in known:
                data = {
                    "severity": "critical", "to": [*self._others(group)], "about": one.about, "state": one.state,
                    "said": {"reason": "", "message": one.said}, "number": 1, "most": 1, "below": 0,
                    "since": timestamp(one.since), "opened": timestamp(now), "ended": "", "ended_as": "",
                }  # fmt: skip
                yield self._event(group, "opened", one.since, now, data, "begin")

    def _ended(
        self, troubles: Mapping[str, OwnTrouble], known: Mapping[str, Transition], now: int
    ) -> Iterator[NoticeEvent]:  # fmt: skip
        for group, record in known.items():
            if group not in troubles:
                told = record.entity.attributes
                since, was = nanoseconds(told["since"]), {"state": told["state"], **told["said"]}
                said = {"reason": "", "message": "", "was": was}
                data = {"number": 0, "said": said, "ended": timestamp(now), "ended_as": "good"}
                yield self._event(group, "closed", since, now, data, "end")

    def _event(
        self, group: str, trigger: str, since: int, now: int, data: dict[str, Any], word: Word
    ) -> NoticeEvent:  # fmt: skip
        """An event whose number follows from since when it is so: several notifiers tell it once."""
        number = int(trigger == "closed")
        return NoticeEvent(OWN, group, trigger, since // SECOND, number, now, data, word, self._others(group))

    def _others(self, group: str) -> tuple[str, ...]:
        return tuple(one for one in self._receivers if one != group)


def _failing_since(record: Transition) -> int | None:
    """Since when the tries of a delivery fail, ns; None if none has failed. One that is tried just now fails too."""
    said, phase = record.entity.attributes.get("failing_since"), record.entity.facets[0]
    if said:
        return nanoseconds(said)
    return phase.since_ns if phase.state.phase in (FAILED, GIVEN_UP) else None
