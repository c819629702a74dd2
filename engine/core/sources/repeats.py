"""Repeats: the answer to an event that came before, or that is older than what came before. Pure.

The same event again has no effect, and leaves no record. An older number is refused aloud, once for each run of them:
the source may have begun to count again.
Belongs here: that answer and its words. Does not: what is remembered (`numbers`).
"""

from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.rejections import here, reject
from phaseline.engine.core.sources.numbers import Repeat, begun, is_begun, numbered, repeat_of, repeat_text
from phaseline.engine.core.transitions import REPEAT, Decision
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.kinds import Kind
from phaseline.schemas.records import Entity, Mark

SHOWN = 128
"""The most characters of a source that a message shows."""


def answer(tree: Tree, kind: Kind, entity: Entity, arrival: Arrival) -> Decision | None:
    """The answer to an event that repeats another one; None if it repeats none."""
    cause, asks = arrival.cause, kind.roles[arrival.trigger] == "intent"
    found = repeat_of(entity, cause.source, cause.event, arrival.sequence, arrival.epoch, asks=asks)
    if found is None:
        return None
    if found.is_same or is_begun(entity, cause.source):
        return REPEAT
    noted = replace(entity, memory=begun(entity, cause.source, cause.sequence))
    message = f"{here(tree, arrival)}: {refusal(found, cause.source, arrival.sequence, arrival.epoch)}"
    return Decision([Mark(noted, cause, arrival.time), reject(tree, arrival, "repeat", message)])


def refusal(found: Repeat, source: str, sequence: int | None, epoch: int) -> str:
    """Why an event with an older number is not taken, and what to do."""
    shown = source[:SHOWN]
    return (
        f"number {numbered(sequence, epoch)} of {shown} is older than {repeat_text(found)}: it counts as a repeat, "
        f"and so does all that follows, without a further rejection, until a newer number comes. If {shown} counts "
        f"from the beginning again, let it send a higher epoch ({found.epoch} is the last one)"
    )
