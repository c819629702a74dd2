#!/usr/bin/env python3
"""Set-up and checks in one command: `python3 dev.py demo|test|check|prove|bench|generate`. Needs Python 3.11, nothing else.

Belongs here: making .venv and calling what is in it. Does not: anything a user of an installed Phaseline needs.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "installed"
OLDEST = (3, 11)

LINT = [
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports"],
]
COMMANDS: dict[str, tuple[str, list[list[str]]]] = {
    #         extras, programs; further words go to the last one
    "demo": ("", [["phaseline", "demo"]]),
    "test": ("dev", [*LINT, ["pytest"]]),
    "check": ("dev", LINT),
    "prove": ("dev", [["pytest", "-m", "slow"]]),
    "bench": ("dev", [["python", "-m", "benchmarks"]]),
    "generate": (
        "dev",
        [["python", "-m", "phaseline.machines.generate"], ["python", "-m", "phaseline.engine.cli.reference"]],
    ),
}


def say(text: str) -> None:
    """Talk goes to stderr: stdout is the command's."""
    print(f"dev.py: {text}", file=sys.stderr)


def fail(text: str) -> NoReturn:
    """End with what is wrong and what to do."""
    say(text)
    raise SystemExit(1)


def program(name: str) -> str:
    """A program of the virtual environment."""
    return str(VENV / "bin" / name)


def run(command: list[str]) -> int:
    """Run one program of the virtual environment in the project's folder."""
    return subprocess.run([program(command[0]), *command[1:]], cwd=ROOT, check=False).returncode


def stamp_of(extras: str) -> str:
    """What an installation depends on: the interpreter, the extras, pyproject.toml, and where we are."""
    text = f"{sys.version} {extras} {ROOT} ".encode() + (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(text).hexdigest()


def install(extras: str) -> None:
    """Make .venv and install the project into it, unless that is done already."""
    wanted = {stamp_of(extras), stamp_of("dev")}
    if STAMP.exists() and STAMP.read_text() in wanted:
        return
    say("setting up .venv (once; takes a moment)")
    shutil.rmtree(VENV, ignore_errors=True)
    if subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=False).returncode:
        fail("cannot make a virtual environment: install Python's venv module (Debian: apt install python3-venv)")
    target = f"{ROOT}[{extras}]" if extras else str(ROOT)
    if run(["python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", target]):
        fail("cannot install what pyproject.toml names: is there a way to PyPI?")
    STAMP.write_text(stamp_of(extras))


def main(arguments: list[str]) -> int:
    """Do what the first argument names; the others go on to the program."""
    if sys.version_info < OLDEST:
        fail(f"Python {'.'.join(map(str, OLDEST))} or newer is needed, this is {sys.version.split()[0]}")
    if not arguments or arguments[0] not in COMMANDS:
        fail(f"say one of {', '.join(COMMANDS)}")
    os.environ.pop("PYTHONPATH", None)
    extras, programs = COMMANDS[arguments[0]]
    install(extras)
    *before, last = programs
    for step in (*before, [*last, *arguments[1:]]):
        if extras:
            say(" ".join(step))
        if code := run(step):
            say(f"failed: {' '.join(step)}")
            return code
    return 0


if __name__ == "__main__":
    try:
        raise SystemExit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
