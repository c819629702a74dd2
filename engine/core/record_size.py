"""Refuses an event after which an entity would be too large for any record. Pure.

A record holds its whole entity, and a NATS server takes no message of more than a megabyte. Without this limit, two
legal events with large settings would stop their partition for ever.
Belongs here: the limit, and the answer to such an event. Does not: the limits of single fields (`intake`).
"""

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.rejections import reject
from phaseline.engine.core.transitions import Decision
from phaseline.engine.core.tree import Tree
from phaseline.schemas import codec
from phaseline.schemas.records import Rejection

MOST_ATTRIBUTES = 700_000
"""The most bytes of an entity's attributes. Beside them, a record holds the sequences of 64 sources, and texts."""


def bounded(tree: Tree, arrival: Arrival, decision: Decision) -> Decision:
    """The decision; or a rejection if an entity would become too large."""
    for record in decision.records:
        if isinstance(record, Rejection) or not tree.kinds[record.entity.kind].may_grow:
            continue
        size = len(codec.encode(record.entity.attributes))
        if size > MOST_ATTRIBUTES:
            entity = record.entity
            message = f"the attributes of {entity.kind} {entity.id} would be larger than {MOST_ATTRIBUTES:,} bytes"
            return Decision([reject(tree, arrival, "invalid", f"{message}: they would have {size:,}")])
    return decision
