"""The public API and type checkers: mypy --strict and pyright (strict) accept the examples and the table of types."""

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support.command import ROOT

PROGRAMS = [*sorted((ROOT / "examples/client").glob("*.py")), ROOT / "tests/typing/public_types.py"]
WRONG = """
import phaseline


async def wrong(client: phaseline.Client) -> None:
    number: int = await client.get("node", "c1/a/n1")
    await client.status("a")
    await client.emco.status("a", output="everything")
    async with phaseline.connect(request_timout=3):
        print(number)
"""


def checked_by(checker: str, folder: Path, files: list[Path]) -> tuple[int, str]:
    """The exit code of a checker and what it found."""
    program = str(Path(sys.executable).parent / checker)
    if checker == "mypy":
        (folder / "mypy.ini").write_text(f"[mypy]\nstrict = True\nmypy_path = {ROOT / 'src'}\n")
        options = ["--config-file", str(folder / "mypy.ini"), "--cache-dir", str(ROOT / ".mypy_cache" / "api")]
        command = [program, *options, *map(str, files)]
    else:
        settings = {
            "include": [str(file) for file in files],
            "extraPaths": [str(ROOT / "src"), sysconfig.get_paths()["purelib"]],
            "typeCheckingMode": "strict",
            "pythonVersion": "3.11",
        }
        (folder / "pyrightconfig.json").write_text(json.dumps(settings))
        command = [program, "-p", str(folder / "pyrightconfig.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_the_examples_and_the_types_are_accepted_and_what_is_wrong_is_found(checker: str, tmp_path: Path) -> None:
    """In one run, because starting a checker takes longest."""
    assert len(PROGRAMS) >= 5
    (tmp_path / "wrong.py").write_text(WRONG)
    code, said = checked_by(checker, tmp_path, [*PROGRAMS, tmp_path / "wrong.py"])
    assert code == 1, said
    for line in (6, 7, 8, 9):
        assert f"wrong.py:{line}:" in said, said
    errors = [line for line in said.splitlines() if re.search(r"\berror\b", line) and re.search(r"\.py:\d+:", line)]
    assert [line for line in errors if "wrong.py:" not in line] == []
