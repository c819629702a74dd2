"""What the requests of edge hosting have in common: how long they may take, when one may delete, what is given up.

Belongs here: constants, attributes and rows that several tables share.
"""

from collections.abc import Iterator

from phaseline.machines.language.contact import InSilence
from phaseline.machines.language.endings import ABANDON
from phaseline.machines.language.predicates import Predicate
from phaseline.machines.language.table import DELETED, LIVE, STALLED, At, Field, Live, Row

WORK = 1800
"""The seconds that creating, updating, scaling and deleting may take."""
SWITCH = 900
"""The seconds that starting and stopping may take."""
DELETING, CLEANUP_FAILED = "Deleting", "ResourceCleanupFailed"
ALL_FAILED = "AllFailed"
"""The condition of a whole all of whose nodes are Failed. Only a view shows it."""

GIVES_UP = Field(ABANDON, bool, "give it up: it counts as Deleted, though nobody has seen that it is gone")
"""A field of `delete`."""
RESOURCES, FAILED_RESOURCES = "resources", "failed_resources"
CLEANUP = (
    Field(RESOURCES,        str, "what else its last `delete` takes along, such as load balancers", many=True),
    Field(FAILED_RESOURCES, str, "which of these could not be removed", many=True),
)  # fmt: skip
"""Attributes of what can be deleted."""
DETAILS = {DELETING: RESOURCES, CLEANUP_FAILED: FAILED_RESOURCES}
"""What is told of a deletion, and of one that failed."""
FAILED_CLEANUP = Row(
    (DELETING,), "cleanup_failed", "Failed", condition=CLEANUP_FAILED, assigns=(FAILED_RESOURCES,),
    forgets=(FAILED_RESOURCES,),
)  # fmt: skip
"""The row of `cleanup_failed`."""


def deletions(place: str, when: tuple[Predicate, ...] = ()) -> Iterator[Row]:
    """The rows of `delete`. place: the kind of the place at or above. when: the guards, unless it is given up."""
    for no in (None, False):
        yield Row(
            (Live(but=(DELETING,)), At(DELETING, has=STALLED)), "delete", DELETING, given={ABANDON: no}, when=when,
            assigns=(RESOURCES,), forgets=(RESOURCES, FAILED_RESOURCES),
        )  # fmt: skip
    yield Row(
        (At(DELETING, has=STALLED), At("Failed", has=CLEANUP_FAILED)), "delete", DELETED, given={ABANDON: True}
    )  # fmt: skip
    yield Row((LIVE,), "delete", DELETED, given={ABANDON: True}, when=(InSilence((place,)),))


def stalled(*phases: str) -> tuple[At, ...]:
    """These phases, once they are stalled."""
    return tuple(At(phase, has=STALLED) for phase in phases)
