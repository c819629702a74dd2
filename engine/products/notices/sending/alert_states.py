"""Keeps an Alertmanager informed: it takes for over what is not sent again.

What is open is sent again each minute; what is over, for a quarter of an hour, so that an Alertmanager that was away,
or a sender that was late, leaves nothing open.
Belongs here: sending states again. Does not: the first time and the end of each, which are deliveries (`sender`).
"""

import asyncio
from collections.abc import Callable

from phaseline.engine import logs
from phaseline.engine.products.notices.fold.bodies.shapes import ALERT_AGAIN
from phaseline.engine.products.notices.fold.rules import Receiver
from phaseline.engine.products.notices.sending import ways
from phaseline.engine.products.notices.sending.counts import DeliveryCounts
from phaseline.engine.products.notices.sending.pending import PendingDeliveries

log = logs.get_logger(__name__)
MOST = 200
"""The most alerts in a request."""


async def keep(
    known: Callable[[], PendingDeliveries], clock: Callable[[], int], receiver: Receiver, source: str,
    counts: DeliveryCounts,
) -> None:  # fmt: skip
    """Send the states of what a receiver has heard of again and again, until cancelled.

    known: what there is now. clock: the time, ns.
    """
    while True:
        await asyncio.sleep(ALERT_AGAIN)
        told = [*known().states_for(receiver.name, clock())]
        for at in range(0, len(told), MOST):
            attempt = await ways.send_states(receiver, told[at : at + MOST], source)
            counts.note(receiver.name, receiver.type, "repeated" if attempt.outcome == "sent" else "failed")
            if attempt.outcome != "sent":
                log.warning("alerts_not_repeated", receiver=receiver.name, said=attempt.said)
                break
