"""Processes of the machine, as /proc shows them: who is whose child, who still runs.

Belongs here: reading /proc, and waiting for it. Does not: starting processes (`command`, `killable_worker`).
"""

import time
from collections.abc import Callable
from pathlib import Path

LIMIT = 60.0


def is_there(pid: int) -> bool:
    """Whether a process runs. One that nobody waits for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def children(pid: int, word: str = "") -> list[int]:
    """The running children of a process, of all its threads, whose command line contains `word`."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            continue
    return [child for child in found if is_there(child) and word in command_line(child)]


def command_line(pid: int) -> str:
    """The words of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def maps(pid: int) -> str:
    """The files that a process has mapped, such as libraries; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return ""


def computed(pid: int) -> float:
    """The seconds that a process has computed; 0 if it has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / 100


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < LIMIT, "it does not come"
        time.sleep(0.01)
