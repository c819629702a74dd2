"""Actors: callers whom `phaseline serve` has authenticated, and in whose name it sends events.

Belongs here: what a name of one may be, how people are told who sent an event. Does not: who asks
(`surfaces.http.access`), the subjects under which such events are stored, by which workers know them
(`schemas.subjects`).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.schemas.records import Cause

ATTRIBUTE = "actor"
"""The extension attribute of an event with the same name, for readers of the event. It proves nothing."""
LONGEST = 128
"""The most characters of a name."""


class BadActor(ValueError):
    """A name can be no actor. The message says why."""


def check(name: str) -> None:
    """Raise `BadActor` unless a name can be an actor: wherever it is shown, it must be told from all others."""
    if not name:
        raise BadActor("it is empty")
    if len(name) > LONGEST:
        raise BadActor(f"it has {len(name):,} characters, the most are {LONGEST}")
    if not name.isprintable():
        raise BadActor("it holds a control character, or one that cannot be seen")
    if name != name.strip():
        raise BadActor("it begins or ends with a blank")


def sender(found: "Cause") -> str:
    """Who sent an event: `/agent/c1`; `ann as /phaseline/page`; `/x, which says without proof that it is ann`."""
    if not (found.actor or found.extensions):
        return found.source
    says = found.extensions.get(ATTRIBUTE)
    if not found.actor:
        return found.source if says is None else f"{found.source}, which says without proof that it is {says}"
    return f"{found.actor} as {found.source}{'' if says is None else f' (sent again; the event says {says})'}"
