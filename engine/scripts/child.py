"""The child itself: reads a request, runs it, writes the answer, for ever.

Belongs here: the limits of the process, requests and answers. Does not: the languages (`lua`, `paths`).
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
"""Bytes of address space: the interpreter itself maps a few hundred MB."""

RUNS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"lua": lua.run, "jq": jq_paths.run}


def main() -> None:
    """Serve until the other end closes."""
    for what in (resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        resource.setrlimit(what, (0, 0))
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
