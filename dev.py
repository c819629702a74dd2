#!/usr/bin/env python3
"""Set-up and checks in one command: `python3 dev.py COMMAND`, those of COMMANDS below. Needs Python 3.11, nothing else.

Belongs here: making .venv and calling what is in it. Does not: anything a user of an installed Phaseline needs.
An older python3 must get as far as the line that says so: nothing here is beyond what Python 3.6 can read.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "installed"
OLDEST = (3, 11)

LINT = (
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports"],
)
COMMANDS = {
    #            extras  linted  then
    "demo":     ("",     False,  ["phaseline", "demo"]),
    "test":     ("dev",  True,   ["pytest"]),
    "check":    ("dev",  True,   []),
    "prove":    ("dev",  False,  ["pytest", "-m", "slow"]),
    "bench":    ("dev",  False,  ["python", "-m", "benchmarks"]),
    "endure":   ("dev",  False,  ["python", "-m", "benchmarks.endurance"]),
    "rules":    ("dev",  False,  ["python", "-m", "tests.rule_corpus"]),
    "generate": ("dev",  False,  ["python", "-m", "phaseline.engine.generate"]),
}  # fmt: skip


def say(text: str) -> None:
    """Talk goes to stderr: stdout is the command's."""
    print("dev.py: " + text, file=sys.stderr, flush=True)


def need(fine: object, otherwise: str) -> None:
    """Go on if that is fine; else end with what is wrong and what to do."""
    if not fine:
        say(otherwise)
        raise SystemExit(1)


def program(name: str) -> str:
    """A program of the virtual environment."""
    return str(VENV / "bin" / name)


def succeeds(command: "list[str]") -> bool:
    """Run a program in the project's folder and wait for it."""
    return subprocess.run(command, cwd=str(ROOT), check=False).returncode == 0


def stamp_of(extras: str) -> str:
    """What an installation depends on: the interpreter, the extras, pyproject.toml, and where we are."""
    text = f"{sys.version} {extras} {ROOT} ".encode() + (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(text).hexdigest()


def is_installed(extras: str) -> bool:
    """Whether .venv holds these extras (or all), installed from pyproject.toml as it is, for a Python that is still there."""
    wanted = (stamp_of(extras), stamp_of("dev"))
    return Path(program("python")).exists() and STAMP.exists() and STAMP.read_text() in wanted


def install(extras: str) -> None:
    """Make .venv afresh and install the project into it; what changes in the sources later needs no new one."""
    say("setting up .venv (once; takes a moment)")
    made = succeeds([sys.executable, "-m", "venv", "--clear", str(VENV)])
    need(made, "cannot make a virtual environment: install Python's venv module (Debian: apt install python3-venv)")
    target = f"{ROOT}[{extras}]" if extras else str(ROOT)
    installed = succeeds([program("python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", "-e", target])
    need(installed, "cannot install what pyproject.toml names: is there a way to PyPI?")
    STAMP.write_text(stamp_of(extras))


def lint() -> None:
    """Style, types and layers; the first that fails ends it."""
    for step in LINT:
        say(" ".join(step))
        need(succeeds([program(step[0]), *step[1:]]), "failed: " + " ".join(step))


def become(command: "list[str]") -> None:
    """Turn into that program: its exit code is ours, and signals reach it, not us."""
    os.chdir(str(ROOT))
    os.execv(program(command[0]), [program(command[0]), *command[1:]])


def main(arguments: "list[str]") -> None:
    """Do what the first argument names; the others go on to the program."""
    found = sys.version.split()[0]
    need(sys.version_info >= OLDEST, f"Python 3.11 or newer is needed, this is {found}: try `python3.12 dev.py ...`")
    need(arguments and arguments[0] in COMMANDS, "say one of " + ", ".join(COMMANDS))
    (extras, linted, command), further = COMMANDS[arguments[0]], arguments[1:]
    need(command or not further, f"{arguments[0]} takes no further words")
    os.environ.pop("PYTHONPATH", None)
    if not is_installed(extras):
        install(extras)
    if linted:
        lint()
    if command:
        if extras:
            say(" ".join([*command, *further]))
        become([*command, *further])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        raise SystemExit(130) from None
