"""The wheel, installed where no source is in sight, with the newest libraries that it allows, as users get it.

Belongs here: that installation, and a round with it: a server, events, states, an audit. Does not: what the wheel alone
can do without extras (`tests/process/test_package.py`).
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.free_ports import some
from tests.support.release.outcome import Release, Wrong, clean_environment, run
from tests.support.release.packages import archives

LIMIT = 120
"""Seconds until a round that does not come to its end is given up."""
ROUND = (
    ("publish", "cluster", "create", "c1", "--wait"),
    ("publish", "cluster", "created", "c1", "--wait"),
    ("publish", "cluster", "overdue", "c1", "--wait"),
    ("get", "cluster", "c1"),
    ("why", "c1"),
    ("log", "replay", "--audit"),
    ("doctor",),
)
"""What somebody does who tries it; each command must succeed."""


def installed(release: Release) -> str:
    """Install the wheel with all extras, start a system, and do the round."""
    wheel, _ = archives(release)
    folder = release.work / "fresh"
    uv = Path(sys.executable).with_name("uv")
    run(uv, "venv", "--quiet", "--python", sys.executable, folder, environment=clean_environment())
    python = folder / "bin" / "python"
    install = (uv, "pip", "install", "--quiet", "--python", python, f"phaseline[all] @ {wheel.as_uri()}")
    run(*install, folder=release.work, environment=clean_environment())
    program, home = folder / "bin" / "phaseline", release.work / "home"
    home.mkdir()
    [port] = some(1)
    environment = clean_environment(
        PHASELINE_NATS=f"nats://127.0.0.1:{port}", XDG_STATE_HOME=str(home), NO_COLOR="1", HOME=str(home)
    )
    said = run(program, "--version", folder=home, environment=environment).strip()
    if said != f"phaseline {release.version}":
        raise Wrong(f"the installed command says {said!r}")
    with system(program, port, home, environment):
        for words in ROUND:
            run(program, *words, folder=home, environment=environment)
    return f"phaseline[all] in a fresh environment: a server, {len(ROUND)} commands, an audit that holds"


@contextmanager
def system(program: Path, port: int, home: Path, environment: dict[str, str]) -> Iterator[None]:
    """`phaseline up` while the block runs, from the moment at which it answers."""
    command = [str(program), "up", "--data", "data", "--port", str(port)]
    with (home / "up.txt").open("w") as said:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=said, stderr=said)
        try:
            await_answer(process, program, home, environment)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT)


def await_answer(process: subprocess.Popen[bytes], program: Path, home: Path, environment: dict[str, str]) -> None:
    """Wait until the system is what `doctor` calls well."""
    end = time.monotonic() + LIMIT
    while subprocess.run([program, "doctor"], cwd=home, env=environment, capture_output=True, check=False).returncode:
        if process.poll() is not None or time.monotonic() > end:
            raise Wrong(f"`phaseline up` does not run: {(home / 'up.txt').read_text()}")
        time.sleep(0.5)
