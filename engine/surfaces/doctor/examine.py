"""All checks, in the order in which one needs the other.

Belongs here: which checks are made, and when later ones make no sense.
"""

from collections.abc import AsyncIterator

from phaseline.engine.log.installation import Installation
from phaseline.engine.nats.streams import inspect, layout_of
from phaseline.engine.nats.wire import Wire
from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.doctor import event_checks, growth, installation_checks, server_checks
from phaseline.engine.surfaces.doctor.check_result import CheckResult, failed, ok
from phaseline.engine.worker.ownership import earlier_builds
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.errors import NatsUnreachable, NoAnswer, NotPermitted, NotProvisioned, PhaselineError, SetupError

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
    wire, layout = installation.wire, installation.layout
    yield await server_checks.clock(wire, layout.log)
    for finding in await installation_checks.streams(wire, layout, installation.kinds):
        yield finding
    if (growing := await growth.growth(installation, wire.settings.nkey)) is not None:
        yield growing
    if (log := await installation_checks.log(installation)) is not None:
        yield log
    yield await installation_checks.workers(installation)
    yield await installation_checks.decisions(installation)
    yield await installation_checks.tables(installation)
    if (things := await installation_checks.things(installation)) is not None:
        yield things
    for finding in await installation_checks.sources(installation):
        yield finding
    for finding in await event_checks.events(installation):
        yield finding
    for finding in await installation_checks.followers(installation):
        yield finding
    for finding in await installation_checks.edges(wire, layout):
        yield finding
