"""The public API and type checkers: mypy --strict and pyright (strict) accept the examples and the table of types.

mypy checks them with all other code (`python3 dev.py check`): here is only whether it would.
"""

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

from tests.support.command import ROOT

WRONG = ROOT / "tests/typing/wrong_types.py"
PROGRAMS = [*sorted((ROOT / "examples/client").glob("*.py")), ROOT / "tests/typing/public_types.py", WRONG]


def test_mypy_checks_them_with_all_other_code_and_finds_comments_without_an_error() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["strict"]
    assert "warn_unused_ignores" not in settings
    assert {"examples/client", "tests"} <= set(settings["files"])
    assert not any(re.search(one, str(file.relative_to(ROOT))) for one in settings["exclude"] for file in PROGRAMS)


def test_pyright_accepts_what_is_right_and_finds_what_is_wrong(tmp_path: Path) -> None:
    """In one run, because starting a checker takes longest."""
    assert len(PROGRAMS) >= 6
    settings = {
        "include": [str(file) for file in PROGRAMS],
        "extraPaths": [str(ROOT / "src"), sysconfig.get_paths()["purelib"]],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.11",
        "enableTypeIgnoreComments": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [str(Path(sys.executable).parent / "basedpyright"), "-p", str(tmp_path / "pyrightconfig.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    wrong = {(name, int(line)) for name, line in re.findall(r"(\S+\.py):(\d+):\d+ - error", done.stdout)}
    lines = WRONG.read_text().splitlines()
    wanted = {(str(WRONG), number) for number, line in enumerate(lines, 1) if "# type: ignore" in line}
    assert (done.returncode, wrong) == (1, wanted), done.stdout + done.stderr
    assert len(wanted) >= 4
