"""All checks, in the order in which one needs the other.

Belongs here: which checks are made, and when later ones make no sense. Does not: the checks.
"""

from collections.abc import AsyncIterator

from phaseline.engine.doctor import installation_checks, server_checks
from phaseline.engine.doctor.check_result import CheckResult, ok, problem
from phaseline.engine.errors import (
    NatsUnreachable,
    NoAnswer,
    NotPermitted,
    NotProvisioned,
    PartitionsDiffer,
    PrefixTaken,
)
from phaseline.engine.jetstream.streams import inspect, layout_of
from phaseline.engine.jetstream.wire import Wire
from phaseline.engine.log.installation import Installation
from phaseline.engine.settings import Settings
from phaseline.machines.compiler.kinds import Kinds

ADVICE = (
    #  words of the cause          what to do
    ("authorization",              "give the right --nkey or --creds; the server does not know this user"),
    ("maximum connections",        "the server takes no more connections: raise max_connections, or close some"),
    ("certificate",                "give the CA that signed the server's certificate with --tls-ca"),
    ("tls",                        "use a tls:// URL where the server requires TLS, and nats:// where it has none"),
    ("connect call failed",        "start a server with `phaseline up`, or give the URL of another with --nats"),
    ("name or service not known",  "there is no such host: check --nats"),
    ("",                           "check --nats: does a NATS server listen there?"),
)  # fmt: skip
"""What to do if the server cannot be reached, by words of the cause. The first entry that fits is given."""


async def examine(settings: Settings, kinds: Kinds) -> AsyncIterator[CheckResult]:
    """Make all checks, and yield each finding as soon as it is there."""
    try:
        async with Wire.open(settings, name="phaseline-doctor") as wire:
            yield ok("server", f"answers at {settings.shown}")
            async for finding in _connected(wire, settings, kinds):
                yield finding
    except NatsUnreachable as error:
        yield problem("server", str(error), advice_for(error.cause))
    except NoAnswer as error:
        yield problem("server", str(error), "look at the server's log; JetStream may be without a leader")


def advice_for(cause: str) -> str:
    """What to do about a server that cannot be reached."""
    return next(advice for words, advice in ADVICE if words in cause.lower())


async def _connected(wire: Wire, settings: Settings, kinds: Kinds) -> AsyncIterator[CheckResult]:
    yield server_checks.version(wire)
    yield await server_checks.user(wire)
    jetstream = await server_checks.jetstream(wire)
    yield jetstream
    if (disk := server_checks.disk(settings.nkey)) is not None:
        yield disk
    if jetstream.verdict == "problem" and "JetStream is off" in jetstream.found:
        return
    try:
        layout = await inspect(wire, settings)
    except NotProvisioned as error:
        yield problem(
            "installation", f"the prefix {settings.prefix!r} has no streams here", str(error).partition(": ")[2]
        )
        return
    except (PrefixTaken, PartitionsDiffer) as error:
        yield problem("installation", str(error), "check --prefix")
        return
    except NotPermitted:
        if settings.partitions is None:
            yield problem(
                "installation", "this user may not ask for the streams", "give --api-prefix if this user is a reader"
            )
            return
        layout = layout_of(settings, settings.partitions)
    installation = Installation(wire, layout, kinds)
    yield await server_checks.clock(wire, layout.log)
    for finding in await installation_checks.streams(wire, layout):
        yield finding
    yield await installation_checks.workers(installation)
    yield await installation_checks.decisions(installation)
    yield await installation_checks.tables(installation)
