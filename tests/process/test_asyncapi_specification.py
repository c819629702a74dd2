"""The AsyncAPI document fits AsyncAPI's own JSON Schema, which npm fetches."""

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from phaseline.machines.docs import asyncapi
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

DOCUMENT = asyncapi.document(KINDS, "pl")

SPECIFICATION = "@asyncapi/specs@6.11.1"


@pytest.fixture(scope="session")
def specification(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """AsyncAPI's own JSON Schema of version 3.0.0. It is on npm only: without npm, what needs it is skipped."""
    cache = pytestconfig.cache
    folder = tmp_path_factory.mktemp("specs") if cache is None else cache.mkdir("asyncapi")
    found = folder / "3.0.0.json"
    npm = shutil.which("npm")
    if not found.exists():
        if npm is None:
            pytest.skip("npm is not installed")
        packing = subprocess.run(
            [npm, "pack", "--silent", "--fetch-retries=0", SPECIFICATION],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if packing.returncode:
            pytest.skip(f"npm could not fetch {SPECIFICATION}")
        _unpacked(folder, packing.stdout.split()[-1], found)
    schema: dict[str, Any] = json.loads(found.read_text())
    return schema


def _unpacked(folder: Path, archive: str, to: Path) -> None:
    with tarfile.open(folder / archive) as packed:
        held = packed.extractfile("package/schemas/3.0.0.json")
        assert held is not None
        to.write_bytes(held.read())
    (folder / archive).unlink()


def test_valid_by_the_specification(specification: dict[str, Any]) -> None:
    assert [error.message for error in Draft7Validator(specification).iter_errors(DOCUMENT)] == []
