"""Installing with each extra; importing the package and starting the command, against `python -c pass` beside it.

Belongs here: fresh environments, their size, and the CPU time of short processes. Does not: what reading commands cost
on many entities.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

from phaseline.engine.settings import Settings
from phaseline.engine.surfaces.client.client import Client
from phaseline.engine.worker import system
from phaseline.machines.built_in import installed

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("", "nkeys", "cli", "gitops", "server", "kubernetes", "all")
ROUNDS = 15
EMPTY = "python -c pass"
PREPARED = ("pip", "setuptools", "wheel")


async def run(extras: tuple[str, ...] = EXTRAS, rounds: int = ROUNDS) -> dict[str, Any]:
    """Install into fresh environments, and start short processes in the last one, which has all extras."""
    with tempfile.TemporaryDirectory() as folder:
        wheel = _built(Path(folder))
        installs = {extra: _installed(Path(folder), wheel, extra) for extra in extras}
        python = str(Path(folder) / f"venv-{extras[-1]}" / "bin" / "python")
        return {"installs": installs, "starts": await _starts(python, rounds)}


def _built(folder: Path) -> Path:
    building = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(building, cwd=ROOT, check=True, capture_output=True)
    [wheel] = (folder / "dist").glob("*.whl")
    return wheel


def _installed(folder: Path, wheel: Path, extra: str) -> dict[str, float]:
    """Install the wheel with an extra: seconds, megabytes in the environment, packages."""
    home = folder / f"venv-{extra}"
    venv.create(home, with_pip=True)
    [site] = (home / "lib").glob("python*/site-packages")
    empty = _size(home)
    target = f"{wheel}[{extra}]" if extra else str(wheel)
    begun = time.perf_counter()
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", target]
    subprocess.run(pip, check=True, capture_output=True)
    seconds = time.perf_counter() - begun
    packages = [path for path in site.glob("*.dist-info") if not path.name.startswith(PREPARED)]
    return {"seconds": seconds, "megabytes": (_size(home) - empty) / 1e6, "packages": len(packages)}


def _size(folder: Path) -> int:
    return sum(
        path.stat().st_size
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.suffix != ".pyc"
    )


async def _starts(python: str, rounds: int) -> dict[str, dict[str, float]]:
    """The medians of short processes, which take turns, on a system with one entity."""
    async with system.system(Settings(), installed(), None, 0, is_open=True) as (server, settings, _):
        async with Client.open(settings) as client:
            await client.publish_and_wait("cluster", "create", "c1")
        command = str(Path(python).with_name("phaseline"))
        processes = {
            EMPTY: [python, "-c", "pass"],
            "import phaseline": [python, "-c", "import phaseline"],
            "phaseline --help": [command, "--help"],
            "phaseline kinds show node": [command, "machines", "node"],
            "phaseline get cluster c1": [command, "get", "cluster", "c1", "--nats", server.url],
            "phaseline publish": [command, "publish", "cluster", "created", "c1", "--nats", server.url],
        }  # fmt: skip
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in processes}
        for number in range(rounds + 1):
            for name, words in processes.items():
                measured = await asyncio.to_thread(_measured, words)
                if number:  # the first round compiles
                    found[name].append(measured)
    return {
        name: {"cpu": statistics.median(cpu for cpu, _ in times), "wall": statistics.median(wall for _, wall in times)}
        for name, times in found.items()
    }


def _measured(words: list[str]) -> tuple[float, float]:
    """CPU and wall time of a process, in milliseconds."""
    begun = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} failed: {said.decode()}")
    return 1000 * (usage.ru_utime + usage.ru_stime), 1000 * (time.perf_counter() - begun)


def page(found: dict[str, Any]) -> str:
    """The figures as Markdown."""
    installs = [
        f"| `phaseline{f'[{extra}]' if extra else ''}` | {one['packages']:.0f} | {one['megabytes']:,.1f} "
        f"| {one['seconds']:.0f} |"
        for extra, one in found["installs"].items()
    ]
    empty = found["starts"][EMPTY]
    starts = [
        f"| `{name}` | {one['cpu']:.0f} | {one['wall']:.0f} | {one['cpu'] / empty['cpu']:.1f} "
        f"| {one['wall'] / empty['wall']:.1f} |"
        for name, one in found["starts"].items()
    ]
    return "\n".join([
        "A wheel of these sources into a fresh environment. The size is that of the files without compiled modules;",
        "most of `server` is the binary of nats-server. The seconds depend on the registry.",
        "",
        "| install | packages | MB | seconds |\n|---|---|---|---|",
        *installs,
        "",
        "Short processes in an environment with all extras, medians of rounds in which they take turns beside",
        f"`{EMPTY}`. The system has one worker, which answers `get` and `publish`.",
        "",
        f"| process | CPU, ms | wall, ms | CPU / `{EMPTY}` | wall / `{EMPTY}` |\n|---|---|---|---|---|",
        *starts,
    ])  # fmt: skip
