"""Checks of an installation: its streams, workers, partitions, tables, edges, and who follows its log.

Belongs here: what only an installation has. Does not: checks of the server alone (`server_checks`), how an edge is
(`worker.sites`), followers themselves (`engine.surfaces.follow`).
"""

import time
from typing import Any

from phaseline.engine.log import table_eras
from phaseline.engine.log.explain import identities
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import Latest
from phaseline.engine.log.restored import identity
from phaseline.engine.nats.direct_get import direct, gather, stored_ns
from phaseline.engine.nats.stream_settings.fill import size
from phaseline.engine.nats.stream_settings.report import StreamReport, report_on
from phaseline.engine.nats.streams import Layout
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.backlog import first_waiting, living_workers
from phaseline.engine.publish.source_counts import source_counts
from phaseline.engine.surfaces.doctor.check_result import CheckResult, failed, ok, problem, unknown, warning
from phaseline.engine.surfaces.follow import follower
from phaseline.engine.surfaces.follow.follower import FollowerState
from phaseline.engine.worker.sites import adding, edge_state
from phaseline.engine.worker.sites.edge_state import WAITS, EdgeState
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import NoResponders, NotFound, SetupError
from phaseline.schemas.records import SECOND, timestamp

WAITING = 5.0
"""Seconds that an event may wait for its decision before that is a problem."""
MOST_STATES = 200_000
"""The most states that are read to compare them; more take too long for an examination."""
MORE_ROOM = "make room, or raise its limit with `phaseline admin streams --apply` (The limits of streams, docs/run.md)"
ANEW = (
    "is its program started anew without its numbers, or twice? Let it send an epoch: client.source does so (Repeats, "
    "docs/bad-input.md); or give each program a source of its own"
)
MOST_SOURCES = 10
"""The most sources in trouble that are named one by one."""
SHOWN = 128
"""The most characters of a source that are shown."""
RECENTLY = 7 * 86_400 * SECOND
"""For so long, in ns, it is a warning that the log was put back."""
START = "start one: `phaseline worker`, or `phaseline up` for a whole system"


async def stream(wire: Wire, name: str, config: dict[str, Any]) -> CheckResult:
    """Whether a stream exists and is as it is wanted, how full it is, and whether its copies keep up."""
    report = await report_on(wire, name, config)
    if report is None:
        return problem(f"stream {name}", "does not exist", f"a worker creates it: {START}")
    return _judged(report)


def _judged(report: StreamReport) -> CheckResult:
    fill, check = report.fill, f"stream {report.stream}"
    limit = f" of {size(fill.limit)} ({fill.percent} %)" if fill.limit else ""
    found = f"{report.messages:,} messages, {size(fill.bytes)}{limit}, replicas {report.replicas}"
    needed = next((one for one in report.differences if one.needed), None)
    if needed is not None:
        advice = needed.way_out or "change it with `phaseline admin streams --apply`; no worker starts before"
        return problem(check, f"{found}; {needed.setting}: {needed.found}", advice)
    if report.late:
        late = ", ".join(report.late)
        advice = f"look at the servers {late}: are they running, do they reach the others?"
        return warning(check, f"{found}; not up to date on {late}", advice)
    if fill.is_almost_full:
        return (problem if fill.is_full else warning)(check, found, MORE_ROOM)
    if report.differences:
        differs = ", ".join(f"{one.setting} {one.found}, wanted {one.wanted}" for one in report.differences)
        return warning(check, f"{found}; {differs}", "`phaseline admin streams` says more, and --apply changes it")
    return ok(check, found)


async def workers(installation: Installation) -> CheckResult:
    """Which workers are alive, and whether each partition has one."""
    wire, layout, start = installation.wire, installation.layout, f"{installation.prefix}.lease.partition."
    seconds, leases = wire.settings.request_timeout, wire.api_subject(f"DIRECT.GET.{layout.lease}")
    alive = sorted(await living_workers(wire, layout, seconds))
    replies = await gather(wire, leases, {"multi_last": [f"{start}>"]}, seconds)
    found = {reply.headers.get("Nats-Subject", "").removeprefix(start) for reply in replies}
    owned = len({str(number) for number in range(layout.partitions)} & found)
    if not alive:
        return problem("workers", "no worker is running, so no event is decided", START)
    said = f"{len(alive)} running ({', '.join(alive)}), which own {owned} of {layout.partitions} partitions"
    if owned < layout.partitions:
        advice = "wait for some seconds: workers take free partitions by themselves. If it stays so, read their logs"
        return warning("workers", said, advice)
    return ok("workers", said)


async def decisions(installation: Installation) -> CheckResult:
    """Whether events wait to be decided, and for how long."""
    found = [await first_waiting(installation, partition) for partition in range(installation.layout.partitions)]
    waiting = [one for one in found if one is not None]
    if not waiting:
        return ok("decisions", f"all events of {installation.layout.partitions} partitions are decided")
    oldest = min(waiting, key=lambda one: one.since)
    seconds = await _age(installation, oldest.since)
    said = (
        f"events wait in {len(waiting)} of {installation.layout.partitions} partitions; the oldest for "
        f"{seconds:.1f} s (event {oldest.position}, partition {oldest.partition})"
    )
    if seconds < WAITING:
        return ok("decisions", said)
    return problem("decisions", said, f"look whether a worker owns the partition, and at its log; {START}")


async def sources(installation: Installation) -> list[CheckResult]:
    """Which sources are ignored: those that count from the beginning again, or of which two programs send."""
    try:
        report = await source_counts(installation)
    except NoResponders:
        return [unknown("sources", "no worker answers", START)]
    rows = [*report.rows()]
    found = [
        warning(f"source {source[:SHOWN]}", f"{one.trouble} (counted since {timestamp(one.since_ns)[:19]}Z)", ANEW)
        for source, one in rows[:MOST_SOURCES]
        if one.is_in_trouble
    ]
    more = sum(one.is_in_trouble for _, one in rows[MOST_SOURCES:])
    if more:
        found.append(warning("sources", f"{more:,} more are in trouble too", "`phaseline admin sources` lists them"))
    if report.silent:
        said = f"the owners of {len(report.silent)} of {installation.layout.partitions} partitions do not answer"
        found.append(unknown("sources", said, "see the check of workers"))
    return found or [ok("sources", f"{len(rows):,} heard; of none are the last events repeats")]


async def log(installation: Installation) -> CheckResult | None:
    """Which log this is, and whether it goes on from a backup; None before a worker has made its identity."""
    note = await identity.last(installation)
    read = None if note is None else await _made(installation)
    if note is None or read is None:
        return None
    if any(note.made.get(name, when) != when for name, when in read.items()):
        return problem("log", f"{note.number} was put back, or made anew, since a worker looked last", START)
    if not note.was_restored:
        return ok("log", f"{note.number}, made {timestamp(note.found_ns)[:19]}Z")
    advice = (
        "reporters should read and report anew; requests after the backup are gone: see `phaseline list -o wide`, and "
        "docs/restored.md"
    )
    found = f"{note.number} goes on from {note.former} {identity.restore_text(note)}"
    recent = time.time_ns() - note.found_ns < RECENTLY
    return warning("log", found, advice) if recent else ok("log", found)


async def _made(installation: Installation) -> dict[str, str]:
    """When the server made the streams that hold the log and the events."""
    names = (installation.layout.log, installation.layout.events)
    return {name: str((await installation.wire.api(f"STREAM.INFO.{name}"))["created"]) for name in names}


def kinds(found: Kinds) -> CheckResult | None:
    """Whether all kinds of other packages can be used; None if there is nothing to say."""
    if not found.broken:
        return None
    advice = "mend the package or uninstall it; until then no worker starts here, and commands leave this kind out"
    return problem("kinds", "; ".join(map(str, found.broken)), advice)


async def tables(installation: Installation) -> CheckResult:
    """Whether the tables here are those by which the partitions are decided."""
    kinds = installation.kinds
    eras = [await table_eras.latest(installation, one) for one in range(installation.layout.partitions)]
    if not any(eras):
        return ok("tables", f"{len(kinds)} kinds, digest {kinds.digest}; no worker has decided an event yet")
    differing = [era for era in eras if era is not None and era.digest not in (kinds.digest, "")]
    if not differing:
        return ok("tables", f"{len(kinds)} kinds, digest {kinds.digest}, as in the installation")
    advice = "install the same version and kinds here, or see Changing a table in docs/upkeep.md"
    found = f"those here differ from those that decide ({table_eras.differing_kinds(kinds, differing[0])})"
    return warning("tables", found, advice)


async def things(installation: Installation) -> CheckResult | None:
    """Whether a thing stands at two places of one tree, by its identities; None if no entity has any."""
    view = Latest(installation)
    number = (await installation.wire.api(f"STREAM.INFO.{installation.layout.state}"))["state"]["messages"]
    if number > MOST_STATES:
        return unknown("things", f"there are {number:,} states", "`phaseline list --duplicates` compares them all")
    entities = [record.entity for record in await view.states()]
    known = await identities.all_remembered(view, entities)
    if all(one.memory is None or not one.memory.uids for one in known):
        return None
    twice = identities.doubled(known)
    if not twice:
        return ok("things", "each identity stands at one place of its tree")
    (kind, entity_id), found = next(iter(twice.items()))
    uid, places = next(iter(found.items()))
    also = ", ".join(" ".join(place) for place in places[:3])
    said = f"{len(twice):,} entities stand for what is elsewhere too: {uid} is at {kind} {entity_id} and {also}"
    advice = "look at `phaseline list --duplicates`, and report gone what is not there: nothing ends by itself"
    return warning("things", said, advice)


LATE = 600.0
"""Seconds for which a transition may wait for a follower."""
IS_ONE_RUNNING = (
    "is a program running that follows under this name? `phaseline admin followers --remove {}` forgets its place"
)


async def followers(installation: Installation) -> list[CheckResult]:
    """One finding for all followers that keep up, and one for each other; none if there are no followers."""
    found = {one.name: await _of_follower(installation, one) for one in await follower.all_of(installation)}
    well = [name for name, finding in found.items() if finding is None]
    all_well = [ok("followers", f"{len(well)} of {len(found)} keep up ({', '.join(well)})")] if well else []
    return [*all_well, *(finding for finding in found.values() if finding is not None)]


async def _of_follower(installation: Installation, one: FollowerState) -> CheckResult | None:
    """What is wrong with a follower; None if it keeps up."""
    try:
        await follower.check_goes_on(installation, one)
    except NotFound as error:
        return failed(f"follower {one.name}", error)
    waits = await _waits_for_follower(installation, one) if one.behind or one.in_hand else 0.0
    if waits < LATE:
        return None
    again = f"; {one.again} of these were handed out before" if one.again else ""
    said = f"{one.behind} transitions wait, and {one.in_hand} are in hand{again}; the oldest for {waits / 60:,.0f} min"
    return warning(f"follower {one.name}", said, IS_ONE_RUNNING.format(one.name))


async def _waits_for_follower(installation: Installation, one: FollowerState) -> float:
    """For how many seconds the first record behind its place is in the log."""
    stored = list[int]()
    for subject in one.subjects:
        asked = {"seq": one.place + 1, "next_by_subj": subject}
        reply = await direct(installation.wire, installation.layout.log, asked)
        if reply is not None:
            stored.append(stored_ns(reply))
    return await _age(installation, min(stored)) if stored else 0.0


async def _age(installation: Installation, since_ns: int) -> float:
    """Seconds since a moment, by the clock of the server: that of this machine may be wrong."""
    return max(0.0, (await installation.server_time() - since_ns) / SECOND)


async def edges(wire: Wire, layout: Layout) -> list[CheckResult]:
    """One finding for all edges that are well, and one for each other; none if there are no edges."""
    if not await adding.added(wire, layout):
        return []
    try:
        found = await edge_state.edges(wire, wire.settings)
    except SetupError as error:
        if not SetupError.edge_account_missing.made(error):
            raise
        return [unknown("edges", "this user may not ask how they are")]
    well = [one for one in found if one.state == "connected"]
    waiting = sum(one.waiting or 0 for one in well)
    where = f"{waiting:,} events are on the way" if waiting else "all that they have is here"
    repeats = sum(one.repeats for one in found)
    where += f"; {repeats:,} events came twice, and counted once" if repeats else ""
    all_well = [ok("edges", f"{len(well)} of {len(found)} connected; {where}")] if well else []
    return [*all_well, *(_of_edge(one) for one in found if one.state != "connected")]


def _of_edge(one: EdgeState) -> CheckResult:
    make = warning if one.state in WAITS else problem
    return make(f"edge {one.edge}", one.state, one.advice)
