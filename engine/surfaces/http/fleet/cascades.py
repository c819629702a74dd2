"""Records of one event belong together: they are handed on when the last of them is there.

Belongs here: holding back what must wait. Does not: what a record changes (`fleet`).

The records of an event stand side by side in the log, in one batch. Only those of an event with more than 999 records
take several batches, and records of other partitions may stand between these. They wait too, because the log is
followed in its order.
"""

from collections.abc import Sequence
from typing import NamedTuple

from phaseline.schemas import wire_codec
from phaseline.schemas.records import Rejection, Transition


class PlacedMessage(NamedTuple):
    """A message of the log: its place, and when it was stored, ns.

    record: the transition or rejection in it; None for other messages. body: the message; empty without a record.
    """

    place: int
    time_ns: int
    record: Transition | Rejection | None = None
    body: bytes = b""


class Cascades:
    """Takes the messages of the log in order, and gives them back in groups that end where no event is cut."""

    def __init__(self) -> None:
        self._open = set[int]()
        self._held: list[PlacedMessage] = []

    @property
    def is_whole(self) -> bool:
        """Whether nothing is held back."""
        return not self._held

    def take(self, placed: PlacedMessage, numbered: wire_codec.Numbered | None) -> Sequence[PlacedMessage]:
        """The messages that can be handed on now that this one is there. numbered: which record of which event it is.

        An event whose first records came before all that was taken is complete with its last record, like any other.
        """
        self._held.append(placed)
        if numbered is not None:
            if numbered.number + 1 < numbered.records:
                self._open.add(numbered.cause)
            else:
                self._open.discard(numbered.cause)
        if self._open:
            return ()
        found, self._held = self._held, []
        return found

    def give_up(self) -> Sequence[PlacedMessage]:
        """Everything that is held back: nobody goes on with the events that are under way."""
        self._open.clear()
        found, self._held = self._held, []
        return found
