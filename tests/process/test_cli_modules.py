"""What commands load that end at once: it is nearly all of their time. So this guards their start without a clock."""

import asyncio
import sys
from collections import Counter

import pytest

from tests.support.command import ROOT, Shell
from tests.support.own_installation import Client
from tests.support.ratchets import MODULES_OF_A_COMMAND, MODULES_OF_OTHER_COMMANDS

PROGRAM = """
import atexit, sys
from phaseline.engine.surfaces.console import main
atexit.register(lambda: print("loaded:", *sys.modules, file=sys.stderr))
main()
"""
NEEDED_BY_OTHERS = {
    "aiohttp", "nats.js.api", "nats.micro.service", "structlog", "rich.console", "yaml", "lupa", "jq", "nkeys",
    "cryptography", "phaseline.engine.core.decide", "phaseline.engine.replay.dry_run", "phaseline.engine.replay.archive",
    "phaseline.engine.worker.ownership", "phaseline.engine.surfaces.telemetry", "phaseline.engine.surfaces.http", "phaseline.engine.products.observe",
    "phaseline.engine.worker.services", "phaseline.engine.worker.worker",
}  # fmt: skip
TABLES = {"transitions", "phaseline.machines.compiler.short_ways", "phaseline.machines.kinds.gitops.resource"}
"""What a command loads that compiles a table, or reads those of other trees. Reading entities needs neither."""
OF_NATS = 14
"""How many modules of nats-py such a command may load."""
COMMANDS = (
    "get cluster c1",
    "list",
    "list cluster --state Failed",
    "why cluster c1",
    "publish cluster create c2 --wait",
)
MORE = ("tree c1", "history cluster c1", "rejections", "publish cluster created c1")
"""They load nearly the same as those: `prove` looks at them too."""


async def loaded(shell: Shell, words: str) -> list[str]:
    """The modules that a command has loaded when it ends."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, *words.split(), cwd=ROOT, env=shell.environment,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, said = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode().partition("loaded: ")[2].split()


@pytest.mark.parametrize("words", [*COMMANDS, *(pytest.param(words, marks=pytest.mark.slow) for words in MORE)])
async def test_a_command_loads_only_what_it_needs(client: Client, shell: Shell, words: str) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    found = await loaded(shell, words)
    reads = words.startswith(("get ", "list"))
    assert (NEEDED_BY_OTHERS | TABLES if reads else NEEDED_BY_OTHERS).intersection(found) == set()
    counts = Counter(one.partition(".")[0] for one in found)
    most = {"phaseline": MODULES_OF_A_COMMAND.get(words.partition(" ")[0], MODULES_OF_OTHER_COMMANDS), "nats": OF_NATS}
    assert {package: counts[package] for package in most if counts[package] > most[package]} == {}
