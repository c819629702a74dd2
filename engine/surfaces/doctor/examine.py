"""All checks, in the order in which one needs the other.

Belongs here: which checks are made, and when later ones make no sense.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.streams import inspect, layout_of, stream_configs
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.doctor import event_checks, growth, installation_checks, server_checks
from phaseline.engine.surfaces.doctor.check_result import CheckResult, failed, ok, unknown
from phaseline.engine.worker.ownership import earlier_builds
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import (
    ApiFailed,
    NatsUnreachable,
    NoAnswer,
    NoResponders,
    NotPermitted,
    NotProvisioned,
    PhaselineError,
    SetupError,
)

Look = Callable[[], Awaitable[CheckResult | Sequence[CheckResult] | None]]
OF_SERVER = frozenset(("kinds", "server", "version", "user", "jetstream", "disk"))
"""The checks that say nothing of the installation."""
SEE_STREAMS = "see what the checks of the streams say"
ADVICE = {
    NotProvisioned.code: "start a worker, or check --prefix",
    SetupError.prefix_taken.code: "check --prefix",
    SetupError.partitions_differ.code: "check --prefix",
}
"""What to do if the installation is not as it was asked for."""


async def examine(settings: Settings, kinds: Kinds) -> AsyncIterator[CheckResult]:
    """Make all checks, and yield each finding as soon as it is there."""
    if (broken := installation_checks.kinds(kinds)) is not None:
        yield broken
    try:
        async with Wire.open(settings, name="phaseline-doctor") as wire:
            yield ok("server", f"answers at {settings.shown}")
            async for finding in _connected(wire, settings, kinds):
                yield finding
    except NoAnswer as error:
        lost = "look at the server's log; JetStream may be without a leader"
        yield failed("server", error, "" if isinstance(error, NatsUnreachable) else lost)
    except PhaselineError as error:
        yield failed("server", error)


async def _connected(wire: Wire, settings: Settings, kinds: Kinds) -> AsyncIterator[CheckResult]:
    yield server_checks.version(wire)
    user = await server_checks.user(wire)
    yield user
    if user.code:
        return
    jetstream = await server_checks.jetstream(wire)
    yield jetstream
    if (disk := server_checks.disk(settings.nkey)) is not None:
        yield disk
    if jetstream.code:
        return
    try:
        layout = await inspect(wire, settings)
    except NotPermitted as error:
        if settings.partitions is None:
            yield failed("installation", error)
            return
        layout = layout_of(settings, settings.partitions)
    except SetupError as error:
        if not SetupError.server_too_old.made(error):  # said above
            yield failed("installation", error, ADVICE.get(error.code, ""))
        return
    installation = Installation(wire, layout, kinds)
    try:
        await earlier_builds.refuse_divided(installation)
    except NotPermitted:  # workers say it
        pass
    except SetupError as error:
        yield failed("installation", error)
        return
    async for finding in _of_installation(installation):
        yield finding


async def _of_installation(installation: Installation) -> AsyncIterator[CheckResult]:
    for check, what, look in _checks(installation):
        for finding in await _findings(installation.wire, check, what, look):
            yield finding


def _checks(installation: Installation) -> Iterator[tuple[str, str, Look]]:
    """Each check: its name, what a user may not do who cannot make it, and how it is made."""
    wire, layout, key = installation.wire, installation.layout, installation.wire.settings.nkey
    yield "clock", "ask for the server's time", lambda: server_checks.clock(wire, layout.log)
    for name, config in stream_configs(wire.settings, layout, installation.kinds.copies.values()).items():
        yield f"stream {name}", "ask for it", partial(installation_checks.stream, wire, name, config)
    yield "growth", "ask how much is stored", lambda: growth.growth(installation, key)
    yield "log", "read the log", lambda: installation_checks.log(installation)
    yield "workers", "read leases", lambda: installation_checks.workers(installation)
    yield "decisions", "read events", lambda: installation_checks.decisions(installation)
    yield "tables", "read the log", lambda: installation_checks.tables(installation)
    yield "things", "read states", lambda: installation_checks.things(installation)
    yield "sources", "ask workers", lambda: installation_checks.sources(installation)
    yield "events", "read the log", lambda: event_checks.events(installation)
    yield "followers", "see who follows the log", lambda: installation_checks.followers(installation)
    yield "edges", "ask how they are", lambda: installation_checks.edges(wire, layout)


async def _findings(wire: Wire, check: str, what: str, look: Look) -> Sequence[CheckResult]:
    """What a check finds. One that could not look passes nothing: it says so, and the others go on.

    A server that does not answer ends them all.
    """
    try:
        found = await look()
    except NotPermitted:
        return [unknown(check, f"this user may not {what}")]
    except NoResponders as error:
        if not wire.has_consumers:
            return [unknown(check, "the account of this user does not import it")]
        return [unknown(check, str(error), SEE_STREAMS)]
    except ApiFailed as error:
        return [unknown(check, str(error), SEE_STREAMS)]
    except NoAnswer:
        raise
    except PhaselineError as error:
        return [failed(check, error)]
    return [found] if isinstance(found, CheckResult) else found or ()
