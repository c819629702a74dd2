"""A message for the log, as the core hands it to the shell.

Belongs here: the shape of a message. Does not: its content (`core.process`, `core.timers`), sending it
(`ownership.fenced_commit`).
"""

from typing import NamedTuple

Headers = tuple[tuple[str, str], ...]


class Message(NamedTuple):
    """One message for the log. `headers`: which schedule the server sets or cancels when it stores the message."""

    subject: str
    body: bytes
    headers: Headers = ()
