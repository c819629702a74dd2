"""What a check of a release may say, and how it runs programs. Belongs here: that. Does not: the checks."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]


class Release(NamedTuple):
    """What is released. dist: where the artefacts go. work: a folder that goes at the end."""

    version: str
    dist: Path
    work: Path


class Wrong(Exception):
    """Something must be mended: what it is, and how."""


class ToDo(Exception):
    """Something is to be done before the tag, and is no fault until then."""


class NotChecked(Exception):
    """Nothing can be said here: what is missing."""


def run(*command: str | Path, folder: Path = ROOT, environment: dict[str, str] | None = None) -> str:
    """What a program prints; `Wrong` if it fails."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        words = " ".join(str(word) for word in command)
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        raise Wrong(f"`{words}` ended with {done.returncode}:\n{said}")
    return done.stdout


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without what would lead to these sources or change Phaseline's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PHASELINE_", "PYTHON"))}
    kept.pop("VIRTUAL_ENV", None)
    return {**kept, **more}
