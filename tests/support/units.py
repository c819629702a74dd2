"""The units of systemd in deploy/systemd.

Belongs here: reading them. Does not: what must stand there.
"""

import shlex
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "deploy" / "systemd"
UNITS = sorted(path for path in FOLDER.iterdir() if path.suffix in (".service", ".timer"))
SERVICES = [path for path in UNITS if path.suffix == ".service"]
PROGRAM = "/opt/phaseline/bin/phaseline"
COMMON = FOLDER / "phaseline.env"
"""Variables that all services have."""
Unit = dict[str, dict[str, list[str]]]


def unit(path: Path) -> Unit:
    """By section and setting, the values of a unit in order."""
    found: Unit = defaultdict(lambda: defaultdict(list))
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found[section][name].append(value)
    return found


def variables(lines: list[str]) -> dict[str, str]:
    """The variables of lines such as `NAME=value`."""
    found = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in found}


def words(path: Path) -> list[str]:
    """The words of our command that a service runs."""
    [line] = unit(path)["Service"]["ExecStart"]
    program, *rest = shlex.split(line.replace("%i", "1"))
    assert program == PROGRAM
    return rest
