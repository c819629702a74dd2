"""Runs the command on a terminal, as a person does.

Belongs here: a terminal of any width, and what was written to it. Does not: what the answer should be, commands without
a terminal (`command`).
"""

import asyncio
import fcntl
import os
import pty
import re
import struct
import termios

from tests.support import forked_process
from tests.support.command import LIMIT, MODULE, Shell

_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


async def on_a_terminal(shell: Shell, *words: str, width: int = 100, **environment: str) -> str:
    """What the command writes where standard output and standard error are a terminal."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = await forked_process.start(
        MODULE, *words, stdin=there, stdout=there, stderr=there,
        environment={**shell.environment, "TERM": "xterm-256color", "COLUMNS": "", **environment},
    )  # fmt: skip
    os.close(there)
    said = await asyncio.wait_for(asyncio.to_thread(_read_to_the_end, here), LIMIT)
    await process.wait()
    return said


def without_codes(text: str) -> list[str]:
    """The lines without colours."""
    return _ESCAPE.sub("", text).splitlines()


def _read_to_the_end(descriptor: int) -> str:
    found = b""
    try:
        while piece := os.read(descriptor, 65_536):
            found += piece
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(descriptor)
    return found.decode()
