"""Runs a program for the shell of a page: a process that is forked from the fork server at PHASELINE_FORKS.

Belongs here: what stands in the shell's PATH under the names in `PROGRAMS`. Does not: what they do. It starts hundreds
of times, so it imports only modules that the interpreter has built in.
"""

import _socket
import marshal
import os
import sys
from _signal import SIGINT, SIGTERM, signal  # type: ignore[import-not-found]  # typeshed leaves it out

PROGRAMS = {
    "phaseline": "phaseline.engine.surfaces.cli",
    "nats": "tests.support.pages.played_nats",
    "jq": "tests.support.pages.played_jq",
    "kubectl": "tests.support.pages.played_kubectl",
    "forwarder.py": "tests.support.testing_process",
}


def main(name: str, *words: str) -> int:
    """Run the program of this name to its end; return its exit code."""
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(os.environ["PHASELINE_FORKS"])
    lasts = os.environ.pop("PHASELINE_LASTS", "")
    asked = {
        "module": PROGRAMS[name], "words": words, "environment": dict(os.environ), "folder": os.getcwd(),
        "whole": not lasts,
    }  # fmt: skip
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
    connection.sendmsg([marshal.dumps(asked)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    said = b""
    while b"\n" not in said:
        said += connection.recv(1)
    child = int(said)
    if lasts:
        with open(os.environ["PHASELINE_PIDS"], "a", encoding="ascii") as pids:
            pids.write(f"{child}\n")
        for number in (SIGINT, SIGTERM):
            signal(number, lambda number, _: os.kill(child, number))
    code = int(connection.recv(100))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(os.path.basename(sys.argv[0]), *sys.argv[1:]))
