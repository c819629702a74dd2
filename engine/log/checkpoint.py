"""The checkpoint of a partition: who owns it, and up to which event it is decided (docs/design.md, The commit).

Belongs here: the checkpoint's fields and bytes. Does not: storing it (`worker.fenced_commit`), taking over
(`worker.takeover`).
"""

import msgspec

from phaseline.schemas import codec


class Plan(msgspec.Struct, frozen=True):
    """A plan that is under way: the records of an event that do not fit one batch.

    cause: the event's position. chunks: the number of plan messages. done: how many log messages are committed.
    """

    cause: int
    chunks: int
    done: int


class Checkpoint(msgspec.Struct, frozen=True):
    """Who owns a partition, and up to which event it is decided.

    epoch: grows with each owner. position: of the last decided event. commit: a new name for each try to store it.
    """

    epoch: int = 0
    worker: str = ""
    position: int = 0
    commit: str = ""
    plan: Plan | None = None

    def encode_as(self, commit: str) -> bytes:
        """The bytes for the log, with the name of the try that stores them."""
        return codec.encode({**msgspec.to_builtins(self), "commit": commit})


def decode(body: bytes) -> Checkpoint:
    """The inverse of `Checkpoint.encode_as`."""
    return msgspec.convert(codec.decode(body), Checkpoint)


def commit_of(body: bytes) -> str:
    """The name of the try that stored these bytes."""
    return decode(body).commit
