"""The checkpoint of a partition: who owns it, and up to which event it is decided (docs/design.md, The commit).

Belongs here: the checkpoint's fields and bytes. Does not: storing it (`worker.fenced_commit`), taking over
(`worker.takeover`).
"""

import msgspec
from msgspec.structs import replace

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
    attempts: how many owners in a row have begun at this position, the present one included, and committed nothing yet.
    trying, tries: the event that such an owner was about to decide, and how many owners have tried it; 0 for none.
    """

    epoch: int = 0
    worker: str = ""
    position: int = 0
    commit: str = ""
    plan: Plan | None = None
    attempts: int = 0
    trying: int = 0
    tries: int = 0

    def encode_as(self, commit: str) -> bytes:
        """The bytes for the log, with the name of the try that stores them."""
        return codec.encode({**msgspec.to_builtins(self), "commit": commit})

    def after(self, position: int, plan: Plan | None = None) -> "Checkpoint":
        """The checkpoint of a commit up to `position`. It forgets what was tried before."""
        return replace(self, position=position, plan=plan, attempts=0, trying=0, tries=0)


def decode(body: bytes) -> Checkpoint:
    """The inverse of `Checkpoint.encode_as`."""
    return msgspec.convert(codec.decode(body), Checkpoint)


def commit_of(body: bytes) -> str:
    """The name of the try that stored these bytes."""
    return decode(body).commit
