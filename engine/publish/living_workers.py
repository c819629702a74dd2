"""Which workers are alive, by their leases.

Belongs here: reading the leases of workers, and leaving out what no worker wrote. Does not: writing leases
(`worker.lease`), asking workers (`backlog`).
"""

from phaseline.engine.log import foreign
from phaseline.engine.nats.direct_get import LastMessage, gather
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire


async def living(wire: Wire, layout: Layout, timeout: float = 10.0) -> frozenset[str]:
    """The names of the workers that are alive. Keys that no worker wrote do not count, and are reported.

    Raises as `gather` does, and `ApiFailed`.
    """
    keys = f"{layout.prefix}.lease.worker."
    get = wire.api_subject(f"DIRECT.GET.{layout.lease}")
    alive = set[str]()
    for reply in await gather(wire, get, {"multi_last": [f"{keys}>"]}, timeout):
        name = reply.headers["Nats-Subject"].removeprefix(keys)
        if "Nats-TTL" in reply.headers and reply.data == name.encode() and not foreign.holds_copy(reply):
            alive.add(name)
        else:
            key = LastMessage(reply.data, int(reply.headers["Nats-Sequence"]), f"{keys}{name}", None)
            foreign.report(layout.lease, key)
    return frozenset(alive)
