"""What NATS answers: a reply's bytes as values, a refusal as our error.

Belongs here: reading the JSON of JetStream's answers. Does not: asking (`wire`).
"""

import json
from typing import Any, NamedTuple

from phaseline.engine.errors import ApiFailed, Fenced

WRONG_LAST_SEQUENCE = 10071


class Reply(NamedTuple):
    """The answer to a request."""

    data: bytes
    headers: dict[str, str]


class Ack(NamedTuple):
    """A stream's word that a message is stored; `duplicate` when it was already."""

    stream: str
    seq: int
    duplicate: bool


def acknowledged(subject: str, data: bytes) -> Ack:
    """The `Ack` in a stream's answer; raises `Fenced` or `ApiFailed`."""
    found = read_answer(subject, data)
    return Ack(found["stream"], found["seq"], found.get("duplicate", False))


def read_answer(subject: str, data: bytes) -> dict[str, Any]:
    """The JSON object in an answer from `subject`; raises `Fenced` or `ApiFailed`."""
    found: dict[str, Any] = json.loads(data)
    error = found.get("error")
    if error is None:
        return found
    if error.get("err_code") == WRONG_LAST_SEQUENCE:
        raise Fenced(subject=subject)
    code, number, description = error.get("code", 0), error.get("err_code", 0), error.get("description", "")
    raise ApiFailed(subject=subject, code=code, err_code=number, description=description)
