"""Programs of other makers: where they are installed, and how one is run.

Belongs here: finding and running them. Does not: the programs (tests/foreign), what they get (`test_foreign_clients`).
"""

import asyncio
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOREIGN = ROOT / "tests" / "foreign"
INSTALLED = ROOT / ".foreign"
"""Where `python3 dev.py foreign` installs the packages."""
LIMIT = 60
"""Seconds until a test gives up on a client."""


@pytest.fixture(scope="module")
def node() -> str:
    """Node.js, with the packages of tests/foreign."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    if not (INSTALLED / "node_modules").is_dir():
        pytest.skip("the packages of npm are not installed: python3 dev.py foreign")
    for program in FOREIGN.glob("*.mjs"):  # Node.js looks for packages beside the program
        shutil.copy(program, INSTALLED)
    return found


@pytest.fixture(scope="module")
def python() -> str:
    """A Python with the packages of tests/foreign."""
    found = INSTALLED / "venv" / "bin" / "python"
    if not found.exists():
        pytest.skip("the packages of PyPI are not installed: python3 dev.py foreign")
    return str(found)


async def run(*command: str | Path, given: bytes = b"") -> bytes:
    """What a program prints."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, said = await asyncio.wait_for(process.communicate(given), LIMIT)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, said.decode()
    return out
