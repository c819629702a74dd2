"""What is put into the log.

Belongs here: the shape of a message. Does not: what is in it (`fold`, `timers`), sending it (`commit`).
"""

from typing import NamedTuple

Headers = tuple[tuple[str, str], ...]


class Message(NamedTuple):
    """One message for the log. `headers`: what the server is to do with timers when it stores it."""

    subject: str
    body: bytes
    headers: Headers = ()
