"""Replies of NATS and JetStream, decoded: values, or our errors where the server refuses.

Belongs here: reading the JSON of JetStream's replies. Does not: sending requests (`wire`).
"""

import json
from typing import Any, NamedTuple

from phaseline.engine.errors import ApiFailed, Fenced

WRONG_LAST_SEQUENCE = 10071
"""The error code where the expected sequence of a subject's last message is another one."""


class Reply(NamedTuple):
    """The reply to a request. `block`: its raw header block, or None."""

    data: bytes
    headers: dict[str, str]
    block: bytes | None = None


class Ack(NamedTuple):
    """A stream's confirmation that a message is stored. `duplicate`: it was stored before."""

    stream: str
    seq: int
    duplicate: bool


def read_ack(subject: str, data: bytes) -> Ack:
    """The `Ack` in a stream's reply; raises `Fenced` or `ApiFailed`."""
    reply = read_reply(subject, data)
    return Ack(reply["stream"], reply["seq"], reply.get("duplicate", False))


def read_reply(subject: str, data: bytes) -> dict[str, Any]:
    """The JSON object in a reply from `subject`; raises `Fenced` or `ApiFailed`."""
    reply: dict[str, Any] = json.loads(data)
    error = reply.get("error")
    if error is None:
        return reply
    if error.get("err_code") == WRONG_LAST_SEQUENCE:
        raise Fenced(subject=subject)
    code, number, description = error.get("code", 0), error.get("err_code", 0), error.get("description", "")
    raise ApiFailed(subject=subject, code=code, err_code=number, description=description)
