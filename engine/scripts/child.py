"""The main loop of the child process: reads a request, runs its script, writes the answer.

Belongs here: the limits of the process, and the framing of requests and answers. Does not: the languages (`lua`,
`jq_paths`).
"""

import resource
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from phaseline.engine.scripts import jq_paths, lua
from phaseline.schemas import codec

HEAD = struct.Struct(">I")
MEMORY = 1 << 30
"""The limit of the address space in bytes. The interpreter alone maps a few hundred MB."""

RUNS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"lua": lua.run, "jq": jq_paths.run}


def main() -> None:
    """Answer requests until the parent closes the pipe."""
    for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(limit, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    _send(outgoing, {})
    while len(head := incoming.read(HEAD.size)) == HEAD.size:
        request = codec.decode(incoming.read(*HEAD.unpack(head)))
        _send(outgoing, RUNS[request["run"]](request))


def _send(outgoing: BinaryIO, answer: dict[str, Any]) -> None:
    body = codec.encode(answer)
    outgoing.write(HEAD.pack(len(body)) + body)
    outgoing.flush()


if __name__ == "__main__":
    main()
