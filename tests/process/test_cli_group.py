"""The command as a process: what it loads, and options before and behind its words."""

import subprocess
import sys

from tests.support.command import ROOT, Shell
from tests.support.command_line import cli

SLOW = ("nats", "transitions", "rich", "msgpack", "structlog", "asyncio", "phaseline.engine.surfaces.client.client")


def test_help_loads_nothing_that_takes_time() -> None:
    code = (
        "import sys; from phaseline.engine.surfaces.cli import cli\n"
        "cli.main(['--help'], standalone_mode=False)\n"
        f"sys.exit(str([name for name in {SLOW!r} if name in sys.modules]) if set({SLOW!r}) & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    for name, (_, help_) in cli.table.items():
        assert f"  {name} " in done.stdout
        assert " ".join(help_.split()) in " ".join(done.stdout.split())


def test_importing_the_package_loads_nothing_that_takes_time() -> None:
    code = f"import sys, phaseline; assert not set({SLOW!r}) & set(sys.modules); phaseline.connect"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_commands_and_workers_load_only_what_they_need() -> None:
    needed_by_few = ("aiohttp", "structlog", "rich.console", "yaml", "lupa", "jq", "nkeys", "cryptography")
    code = (
        "import sys, phaseline.engine.worker.system, phaseline.engine.surfaces.client.client\n"
        "import phaseline.engine.surfaces.cli.get, phaseline.engine.surfaces.cli.publish, phaseline.engine.surfaces.cli.list_\n"
        f"sys.exit(str(found) if (found := set({needed_by_few!r}) & set(sys.modules)) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


async def test_the_module_is_the_command() -> None:
    shell = Shell()
    unknown = await shell("nonesuch")
    assert (unknown.code, unknown.out) == (2, "")
    assert "there is no command 'nonesuch'" in unknown.err
    assert (await shell()).code in (0, 2)


async def test_a_command_that_was_removed_names_what_to_use_instead() -> None:
    removed = await Shell()("repartition", "16", "--yes")
    assert (removed.code, removed.out) == (2, "")
    assert "'repartition' was removed; export the log and import it" in removed.err
    assert "times and durations are not kept" in removed.err


async def test_options_before_a_command_of_a_group_of_commands(shell: Shell) -> None:
    before = await shell("-v", "--prefix", "nowhere", "rejections", "list")
    behind = await shell("rejections", "list", "--prefix", "nowhere", "-v")
    assert before.code == behind.code == 6
    assert "Traceback" in before.err
    assert before.err.splitlines()[-2:] == behind.err.splitlines()[-2:]
    both = await shell("--nats", "nats://127.0.0.1:1", "list", "--cell", "east=nats://127.0.0.1:1")
    assert (both.code, "give either --cell or --nats" in both.err) == (2, True)
