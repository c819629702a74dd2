"""Sends what waits: follows deliveries, claims one, sends it, and reports what came of it.

Each receiver has a queue of its own, so a slow one delays nobody. A claim is a request with the version that was seen,
so of several senders one has it. A sender that ends between claim and report leaves the delivery to the next one, by a
timer of the table: each is sent at least once. An Alertmanager takes for over what is not sent again. So what is open
is sent to it again each minute, and what is over for a quarter of an hour: one that was away, or a sender that was
late, leaves nothing open.
Belongs here: `sending`, `NoticeSender`. Does not: what waits (`pending`), one try (`ways`).
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from typing import Any

from phaseline.engine import logs
from phaseline.engine.log.when import NOW
from phaseline.engine.nats.wire import Wire
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage
from phaseline.engine.products.notices.fold.bodies.shapes import ALERT_AGAIN
from phaseline.engine.products.notices.fold.fields import in_one_line
from phaseline.engine.products.notices.fold.rules import Receiver
from phaseline.engine.products.notices.sending import ways
from phaseline.engine.products.notices.sending.attempts import GIVE_UP, Attempt, pause
from phaseline.engine.products.notices.sending.counts import DeliveryCounts, SendOutcome
from phaseline.engine.products.notices.sending.pending import PendingDeliveries, PendingDelivery, message_of
from phaseline.engine.products.notices.sending.secret_options import NotFoundSecret, looked_up
from phaseline.engine.publish.compose import default_source
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.surfaces.client.reading_client import session_of
from phaseline.machines.built_in import installed
from phaseline.machines.kinds.notices.delivery import LOST
from phaseline.schemas.errors import InvalidInput, NotFound, PhaselineError, RequestTimedOut, Undecided
from phaseline.schemas.records import SECOND, nanoseconds, timestamp

log = logs.get_logger(__name__)
CLAIM, LIMIT = LOST / 3, LOST * 2 / 3
"""Seconds that the claim of a delivery may take, and then all else, whatever its receiver does: until it is taken for
lost."""
AGAIN = 1.0
"""Seconds after which NATS is tried again."""
SWEEP = 60.0
"""Seconds between two looks at what is not needed any more."""
UNKNOWN = 3_600 * SECOND
"""After how long a delivery is given up whose receiver stands in no file of rules, ns: other senders may know it."""
REMEMBERED = 1_000
"""After how many deliveries those that are not queued any more are forgotten."""
RIVALS = 0.5
"""The most seconds that a sender waits before it claims, when another one was faster lately."""
GRACE = 10.0
"""Seconds that a message under way may take when the sender stops."""


async def sending(
    settings: Settings, receivers: Mapping[str, Receiver], counts: DeliveryCounts, stop: asyncio.Event
) -> None:
    """Send what waits in the installation of notices with these settings, until `stop` is set.

    Raises `InvalidInput.bad_rules` if a receiver needs what the environment does not have, `NotInstalled`.
    """
    check(receivers)
    has_bus = any(one.type == "nats" for one in receivers.values())
    kinds = installed(settings.prefix)
    async with (
        Client.open(settings, kinds=kinds, source=default_source("send")) as client,
        Wire.open(settings, name="phaseline-sender") if has_bus else nullcontext() as wire,
    ):
        await NoticeSender(client, settings.prefix, receivers, counts, wire).run(stop)


def check(receivers: Mapping[str, Receiver]) -> None:
    """Raise `InvalidInput.bad_rules` unless all that receivers name is there, and `NotInstalled`."""
    missing = list[str]()
    for one in receivers.values():
        ways.need(one)
        try:
            looked_up(one)
        except NotFoundSecret as error:
            missing.append(f"receiver {one.name}: {error}")
    if missing:
        raise InvalidInput.bad_rules(name="receivers", problem=in_one_line(missing))


class NoticeSender:
    """Sends to these receivers."""

    def __init__(
        self, client: Client, prefix: str, receivers: Mapping[str, Receiver], counts: DeliveryCounts,
        wire: Wire | None = None,
    ) -> None:  # fmt: skip
        """client: of the installation of notices, which has this prefix. wire: for receivers on NATS."""
        self.client, self.receivers, self.counts, self.wire = client, receivers, counts, wire
        self.source = f"phaseline/{prefix}"
        self._repeats = [name for name, one in receivers.items() if one.type == "alertmanager"]
        self.pending = PendingDeliveries(self._repeats)
        self._ahead = 0
        """How much the clock of the server is ahead of this one, ns."""
        self._queues = {name: ReceiverQueue(self, one) for name, one in receivers.items()}

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop` is set. What is under way then is ended first, if that does not take long."""
        queues = self._queues.values()
        works = [self._follow(), self._tidy(), *(queue.run() for queue in queues)]
        works += [
            keep_alerts(lambda: self.pending, self.now, self.receivers[name], self.source, self.counts)
            for name in self._repeats
        ]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
            await stop.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE):
                    for queue in queues:
                        await queue.under_way.acquire()
            for task in tasks:
                task.cancel()

    async def _follow(self) -> None:
        """Follow the records, from the states on; from the states again when NATS was away."""
        while True:
            try:
                await self._followed()
            except PhaselineError as error:
                log.warning("sender_waits", error=str(error))
                await asyncio.sleep(AGAIN)

    async def _followed(self) -> None:
        view, found = await self.client.at(NOW), PendingDeliveries(self._repeats)
        for record in sorted([one async for one in view.unsorted()], key=lambda one: one.time_ns):
            found.take(record)
        installation = await session_of(self.client).installation()
        self._ahead = await installation.server_time() - time.time_ns()
        found.sweep(self.now())
        self.pending = found
        for queue in self._queues.values():
            queue.news.set()
        async with self.client.watch(start=view.moment) as watch:
            while some := await watch.batch():
                for one in some:
                    name = self.pending.take(one.record)  # type: ignore[arg-type]  # no rejections were asked for
                    if name in self._queues:
                        self._queues[name].news.set()

    async def _tidy(self) -> None:
        """Forget what is over, and give up what nobody can send."""
        while True:
            await asyncio.sleep(SWEEP)
            now = self.now()
            self.pending.sweep(now)
            for name in self.pending.receivers():
                for one in self.pending.queued(name) if name not in self.receivers else ():
                    if now - one.queued > UNKNOWN:
                        with suppress(PhaselineError):  # it is looked at again
                            await self._give_up(one)

    async def _give_up(self, one: PendingDelivery) -> None:
        if (claim := await self.claimed(one)) is not None:
            error = f"no file of rules has a receiver {one.receiver}"
            await self.report(one, claim, "given_up", {"error": error})
            self.counts.note(one.receiver, "unknown", "given_up")

    def now(self) -> int:
        """The time of the server, ns, as far as it is known."""
        return time.time_ns() + self._ahead

    async def claimed(self, delivery: PendingDelivery) -> int | None:
        """Claim a delivery: the number of the claim if this sender, and no other one, is to send it now."""
        data = {"if_version": delivery.version, **({"tried": delivery.opened} if delivery.opened else {})}
        try:
            async with asyncio.timeout(CLAIM):
                outcome = await self.client.publish_and_wait(
                    "delivery", "send", delivery.id, data, check=False, timeout=CLAIM / 2
                )
        except TimeoutError as error:
            raise RequestTimedOut(subject=f"delivery {delivery.id}", seconds=CLAIM, hint="") from error
        except Undecided:  # if it is claimed all the same, it is lost soon, and sent then
            return None
        return outcome.receipt.sequence if outcome.transitions and outcome.rejection is None else None

    async def message(self, delivery: PendingDelivery) -> NoticeMessage:
        """What a delivery tells now. Raises `NotFound`."""
        notice = self.pending.notices.get(delivery.notice) or await self.client.get("notice", delivery.notice)
        if not delivery.is_about(notice):
            async for record in self.client.history("notice", delivery.notice):
                notice = record.entity if delivery.is_about(record.entity) else notice
        return message_of(delivery, notice, self.now())

    async def report(self, delivery: PendingDelivery, claim: int, trigger: str, data: Mapping[str, Any]) -> None:
        """Store what came of a claim, once. NATS is tried until the delivery is taken for lost."""
        said = {**data, "answers": claim}
        try:
            await self.client.publish("delivery", trigger, delivery.id, said, check=False, until_stored=LOST)
        except PhaselineError as error:
            log.warning("delivery_unreported", delivery=delivery.id, outcome=trigger, error=str(error))


class ReceiverQueue:
    """What waits for one receiver. One message is under way at a time, in order."""

    def __init__(self, sender: NoticeSender, receiver: Receiver) -> None:
        self.receiver, self.news = receiver, asyncio.Event()
        self._sender, self._failures, self._has_rivals = sender, 0, False
        self._has_taken = False
        """Whether the receiver took a message since this sender began: what failed before that waits for long."""
        self.under_way = asyncio.Lock()
        self._tried: dict[str, int] = {}
        """The versions that were claimed, or found to be claimed: older ones are no news."""

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self.news.wait()
            self.news.clear()
            while (found := self._next()) is not None:
                try:
                    await self._deliver(found)
                except PhaselineError as error:
                    log.warning("delivery_waits", delivery=found.id, error=str(error))
                    self._tried.pop(found.id, None)
                    await asyncio.sleep(AGAIN)

    def _next(self) -> PendingDelivery | None:
        queued = self._sender.pending.queued(self.receiver.name)
        found = next((one for one in queued if one.version > self._tried.get(one.id, -1)), None)
        if found is None or len(self._tried) > REMEMBERED:
            left = {one.id for one in self._sender.pending.queued(self.receiver.name)}
            self._tried = {name: version for name, version in self._tried.items() if name in left}
        return found

    async def _deliver(self, delivery: PendingDelivery) -> None:
        if self._has_rivals:
            await asyncio.sleep(random.uniform(0, RIVALS))  # noqa: S311  # it only spreads senders
            if self._next() != delivery:
                return
        self._tried[delivery.id] = delivery.version
        async with self.under_way:
            claim = await self._sender.claimed(delivery)
            self._has_rivals = claim is None
            if claim is None:
                return
            attempt = await self._sent(delivery, claim)
        if attempt.outcome == "sent":
            await self._recovered()
        elif attempt.outcome == "failed" and not attempt.about_message:
            await asyncio.sleep(max(attempt.wait, pause(self._failures)))

    async def _sent(self, delivery: PendingDelivery, claim: int) -> Attempt:
        """Send what was claimed, and report what came of it."""
        attempt, word = await self._tried_once(delivery)
        if attempt.outcome == "sent":
            data = {"told": word, "heard": delivery.opened or None, "handle": attempt.handle and dict(attempt.handle)}
            found = {name: one for name, one in data.items() if one} | ({"more": True} if delivery.has_more else {})
            await self._sender.report(delivery, claim, "sent", found)
            self._note("sent", delivery, attempt)
        else:
            await self._failed(delivery, claim, attempt)
        return attempt

    async def _tried_once(self, delivery: PendingDelivery) -> tuple[Attempt, str]:
        """What came of one try, and the word that was told."""
        try:
            async with asyncio.timeout(LIMIT):
                message = await self._sender.message(delivery)
                if message.is_over and delivery.is_over:
                    return Attempt("sent", "it has heard of this end"), delivery.told
                attempt = await ways.send(
                    self.receiver, message, self._sender.source, wire=self._sender.wire,
                    handle=delivery.attributes.get("handle"),
                )  # fmt: skip
        except TimeoutError:
            return Attempt("failed", f"it took more than {LIMIT:g} s"), ""
        except NotFound as error:
            return Attempt("refused", str(error)), ""
        except PhaselineError as error:
            return Attempt("failed", str(error)), ""
        except Exception as error:  # whatever is wrong with one message, others are sent
            log.exception("delivery_broke", delivery=delivery.id)
            return Attempt("failed", f"an error in phaseline: {type(error).__name__}", about_message=True), ""
        return attempt, message.word

    async def _failed(self, delivery: PendingDelivery, claim: int, attempt: Attempt) -> None:
        """Report a failure."""
        now, tries = self._sender.now(), int(delivery.attributes.get("tries") or 0) + 1
        since = str(delivery.attributes.get("failing_since") or "") or timestamp(now)
        self._failures += not attempt.about_message
        wait = max(attempt.wait, pause(max(tries, self._failures)))
        is_over = attempt.outcome == "refused" or now - _time(since, now) > GIVE_UP * SECOND
        data: dict[str, Any] = {
            "error": attempt.said, "message": attempt.said, "tries": tries, "wait": wait, "failing_since": since,
        }  # fmt: skip
        if attempt.handle:
            data["handle"] = dict(attempt.handle)
        elif attempt.outcome == "refused" or attempt.about_message:
            data["tried"] = ""  # it has surely not arrived
        await self._sender.report(delivery, claim, "given_up" if is_over else "failed", data)
        self._note("given_up" if is_over else "failed", delivery, attempt)

    async def _recovered(self) -> None:
        """The receiver takes messages again: what failed meanwhile is tried at once."""
        if self._has_taken and not self._failures:
            return
        self._has_taken, self._failures = True, 0
        for one in self._sender.pending.failed(self.receiver.name):
            with suppress(PhaselineError):
                await self._sender.client.publish("delivery", "retry", one.id, check=False)

    def _note(self, outcome: SendOutcome, delivery: PendingDelivery, attempt: Attempt) -> None:
        self._sender.counts.note(self.receiver.name, self.receiver.type, outcome)
        if outcome == "sent":
            log.info("delivery_sent", delivery=delivery.id, said=attempt.said)
        elif outcome == "failed":
            log.warning("delivery_failed", delivery=delivery.id, said=attempt.said)
        else:
            log.warning("delivery_given_up", delivery=delivery.id, said=attempt.said)


def _time(text: str, otherwise: int) -> int:
    try:
        return nanoseconds(text)
    except (ValueError, OverflowError):
        return otherwise


MOST_ALERTS = 200
"""The most alerts in a request."""


async def keep_alerts(
    known: Callable[[], PendingDeliveries], clock: Callable[[], int], receiver: Receiver, source: str,
    counts: DeliveryCounts,
) -> None:  # fmt: skip
    """Send the states of what a receiver has heard of again and again, until cancelled.

    known: what there is now. clock: the time, ns.
    """
    while True:
        await asyncio.sleep(ALERT_AGAIN)
        told = [*known().states_for(receiver.name, clock())]
        for at in range(0, len(told), MOST_ALERTS):
            attempt = await ways.send_states(receiver, told[at : at + MOST_ALERTS], source)
            counts.note(receiver.name, receiver.type, "repeated" if attempt.outcome == "sent" else "failed")
            if attempt.outcome != "sent":
                log.warning("alerts_not_repeated", receiver=receiver.name, said=attempt.said)
                break
