"""Checks of an installation: its streams, workers, partitions and tables.

Belongs here: what only an installation has. Does not: checks of the server alone (`server_checks`).
"""

from phaseline.engine.doctor.check_result import CheckResult, ok, problem, unknown, warning
from phaseline.engine.doctor.server_checks import age, size
from phaseline.engine.errors import ApiFailed, NoResponders, NotPermitted, RequestTimedOut
from phaseline.engine.jetstream.direct_get import gather
from phaseline.engine.jetstream.streams import STREAM_NOT_FOUND, Layout
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log import table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.publish.backlog import first_waiting
from phaseline.machines import built_in

WAITING = 5.0
"""Seconds that an event may wait for its decision before that is a problem."""
START = "start one: `phaseline worker`, or `phaseline up` for a whole system"


async def streams(wire: Wire, layout: Layout) -> list[CheckResult]:
    """Whether each stream exists, how large it is, and whether its copies keep up."""
    return [await _stream(wire, name) for name in layout.streams]


async def _stream(wire: Wire, name: str) -> CheckResult:
    try:
        info = await wire.api(f"STREAM.INFO.{name}")
    except NotPermitted:
        return unknown(f"stream {name}", "this user may not ask for it")
    except NoResponders:
        if wire.has_consumers:
            raise
        return unknown(f"stream {name}", "the account of this user does not import it")
    except ApiFailed as error:
        if error.err_code != STREAM_NOT_FOUND:
            raise
        return problem(f"stream {name}", "does not exist", f"a worker creates it: {START}")
    state, cluster = info["state"], info.get("cluster") or {}
    found = f"{state['messages']:,} messages, {size(state['bytes'])}, replicas {info['config']['num_replicas']}"
    if late := [peer["name"] for peer in cluster.get("replicas") or () if not peer.get("current", True)]:
        advice = f"look at the servers {', '.join(late)}: are they running, do they reach the others?"
        return warning(f"stream {name}", f"{found}; not up to date on {', '.join(late)}", advice)
    return ok(f"stream {name}", found)


async def workers(installation: Installation) -> CheckResult:
    """Which workers are alive, and whether each partition has one."""
    start = f"{installation.prefix}.lease."
    try:
        replies = await gather(
            installation.wire,
            installation.wire.api_subject(f"DIRECT.GET.{installation.layout.lease}"),
            {"multi_last": [f"{start}>"]},
            installation.wire.settings.request_timeout,
        )
    except (NotPermitted, NoResponders, RequestTimedOut):  # the server does not answer a request that it refuses
        return unknown("workers", "this user may not read leases")
    found = [reply.headers.get("Nats-Subject", "").removeprefix(start) for reply in replies]
    alive = sorted(key.removeprefix("worker.") for key in found if key.startswith("worker."))
    division = installation.layout.division
    owned = len({f"partition.{number}" for number in division.numbers} & set(found))
    if not alive:
        return problem("workers", "no worker is running, so no event is decided", START)
    said = f"{len(alive)} running ({', '.join(alive)}), which own {owned} of {division.count} partitions"
    if owned < division.count:
        advice = "wait for some seconds: workers take free partitions by themselves. If it stays so, read their logs"
        return warning("workers", said, advice)
    return ok("workers", said)


async def decisions(installation: Installation) -> CheckResult:
    """Whether events wait to be decided, and for how long."""
    try:
        found = [await first_waiting(installation, partition) for partition in installation.layout.division.numbers]
    except NotPermitted:
        return unknown("decisions", "this user may not read events")
    waiting = [one for one in found if one is not None]
    if not waiting:
        return ok("decisions", f"all events of {installation.layout.division.count} partitions are decided")
    oldest = min(waiting, key=lambda one: one.since)
    seconds = age(oldest.since)
    said = (
        f"events wait in {len(waiting)} of {installation.layout.division.count} partitions; the oldest for "
        f"{max(seconds, 0):.1f} s (event {oldest.position}, partition {oldest.partition})"
    )
    if seconds < WAITING:
        return ok("decisions", said)
    return problem("decisions", said, f"look whether a worker owns the partition, and at its log; {START}")


def kinds() -> CheckResult | None:
    """Whether all kinds of other packages can be used; None if there is nothing to say."""
    found = built_in.broken()
    if not found:
        return None
    advice = "mend the package or uninstall it; until then no worker starts here, and commands leave this kind out"
    return problem("kinds", "; ".join(map(str, found)), advice)


async def tables(installation: Installation) -> CheckResult:
    """Whether the tables here are those by which the partitions are decided."""
    kinds = installation.kinds
    try:
        numbers = installation.layout.division.numbers
        eras = [await table_eras.latest(installation, partition) for partition in numbers]
    except NotPermitted:
        return unknown("tables", "this user may not read the log")
    if not any(eras):
        return ok("tables", f"{len(kinds)} kinds, digest {kinds.digest}; no worker has decided an event yet")
    differing = [era for era in eras if era is not None and era.digest not in (kinds.digest, "")]
    if not differing:
        return ok("tables", f"{len(kinds)} kinds, digest {kinds.digest}, as in the installation")
    advice = "install the same version and kinds here, or see Changing a table in docs/operating.md"
    found = f"those here differ from those that decide ({table_eras.how(kinds, differing[0])})"
    return warning("tables", found, advice)
