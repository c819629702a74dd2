"""The records of losses: what a worker found missing, between memory and the wire.

Belongs here: writing and reading them. Does not: their fields (`records`, `wire_types`), finding losses
(`engine.worker`).
"""

import msgspec

from phaseline.schemas import codec
from phaseline.schemas.records import Loss, nanoseconds, timestamp
from phaseline.schemas.wire_codec import RECORD_VERSION
from phaseline.schemas.wire_types import LossData, RecordMap

TYPE = "partition.lost"
"""The `type` of a loss."""


def write(loss: Loss, installation: str) -> bytes:
    """The msgpack body of a loss. `installation`: the `source`."""
    fields = (loss.partition, loss.what, loss.first, loss.last, loss.at_least, loss.at_most, loss.worker)
    return codec.encode_struct(
        RecordMap(
            "1.0",
            f"{loss.last}-{loss.what}-{loss.time_ns}",
            installation,
            TYPE,
            f"partition/{loss.partition}",
            timestamp(loss.time_ns),
            RECORD_VERSION,
            "",
            LossData(*fields),
        )
    )


def read(body: bytes) -> Loss:
    """The loss in a body of the log; raises `ValueError` if it holds none."""
    found = msgspec.convert(codec.decode(body), RecordMap[LossData])
    if found.type != TYPE:
        raise ValueError(f"type {found.type[:64]!r} is no loss")
    data = found.data
    return Loss(
        data.partition, data.what, data.first, data.last, data.at_least, data.at_most, data.worker,
        nanoseconds(found.time),
    )  # fmt: skip


def is_loss(body: bytes) -> bool:
    """Whether a body holds a loss."""
    try:
        read(body)
    except ValueError:
        return False
    return True
