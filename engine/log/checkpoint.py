"""The partition's checkpoint: who owns it, and how far its events are decided (docs/design.md, The commit).

Belongs here: the checkpoint's fields and bytes. Does not: publishing it (`commit`), taking over (`takeover`).
"""

import msgspec

from phaseline.schemas import codec


class Plan(msgspec.Struct, frozen=True):
    """A cascade too large for one batch, written down before it is committed piecewise.

    cause: its event's sequence. chunks: how many plan messages hold it. done: log messages already committed.
    """

    cause: int
    chunks: int
    done: int


class Checkpoint(msgspec.Struct, frozen=True):
    """`position`: the last event decided, in EVENTS. `epoch` grows with each owner; `commit` is new with each try."""

    epoch: int = 0
    worker: str = ""
    position: int = 0
    commit: str = ""
    plan: Plan | None = None

    def encode_as(self, commit: str) -> bytes:
        """As the log holds it, written by the try `commit`."""
        return codec.encode({**msgspec.to_builtins(self), "commit": commit})


def decode(body: bytes) -> Checkpoint:
    """The inverse of `Checkpoint.encode_as`."""
    return msgspec.convert(codec.decode(body), Checkpoint)


def commit_of(body: bytes) -> str:
    """Which try wrote these bytes."""
    return decode(body).commit
