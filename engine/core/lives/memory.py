"""What an entity remembers of its lives: the identities of the present one and of earlier ones. Pure.

Belongs here: reading and changing these parts of a `Memory`. Does not: what follows for an event (`judging`).
"""

from collections.abc import Mapping
from typing import Literal

from msgspec.structs import replace

from phaseline.schemas.records import AWAITED, NO_MEMORY, NONE, Entity, Memory

MOST_SCHEMES = 4
"""The most schemes of which an entity keeps an identity. One of a further scheme is not kept."""
MOST_FORMER = 8
"""The most identities of earlier lives that an entity keeps."""

Which = Literal["known", "first", "other", "former"]
"""Whose an identity is: that of the present life; one of a scheme of which none is known; another one of a known
scheme; that of an earlier life. One that is not kept counts as known."""


def which(memory: Memory | None, uid: str) -> Which:
    """Whose an identity is."""
    if memory is None:
        return "first"
    scheme, _, text = uid.partition(":")
    known = memory.uids.get(scheme)
    if known == text:
        return "known"
    if uid in memory.former:
        return "former"
    if known is not None:
        return "other"
    return "first" if len(memory.uids) < MOST_SCHEMES else "known"


def is_known(memory: Memory | None, uid: object) -> bool:
    """Whether an entity keeps an identity as that of its present life, or would not keep it."""
    return memory is not None and type(uid) is str and which(memory, uid) == "known"


def of_scheme(memory: Memory | None, uid: str) -> str:
    """The identity of the present life in the scheme of another one."""
    scheme = uid.partition(":")[0]
    return f"{scheme}:{'' if memory is None else memory.uids.get(scheme, '')}"


def of_new_life(memory: Memory | None, *, awaited: bool) -> Memory | None:
    """The memory of the life after this one: its identities are those of an earlier life from now on."""
    if memory is None:
        return AWAITED if awaited else None
    former = tuple(dict.fromkeys((*memory.former, *memory.identities)))[-MOST_FORMER:]
    return held_memory(replace(memory, uids=NONE, versions=NONE, former=former, awaited=awaited, reasons=NONE))


def with_identity(memory: Memory | None, uid: str, *, is_place: bool = False) -> Memory:
    """The memory with one more identity. If another one of its scheme is there, that life is over.

    is_place: whether the entity is a declared place, which lives on whatever stands there.
    """
    found = memory or NO_MEMORY
    if which(found, uid) == "other" and not is_place:
        found = of_new_life(found, awaited=found.awaited) or NO_MEMORY
    scheme, _, text = uid.partition(":")
    former = tuple(one for one in found.former if one != uid)
    versions = found.versions if found.uids.get(scheme) == text else without(found.versions, scheme)
    return replace(found, uids={**found.uids, scheme: text}, versions=versions, former=former)


def with_version(memory: Memory, uid: str, version: int | None) -> Memory:
    """The memory once something was told of this version of a thing. None: of one that is not known."""
    scheme, _, text = uid.partition(":")
    if memory.uids.get(scheme) != text or memory.versions.get(scheme) == version:
        return memory
    others = without(memory.versions, scheme)
    return replace(memory, versions=others if version is None else {**others, scheme: version})


def version_of(memory: Memory | None, uid: str) -> int | None:
    """The version of a thing that was told of last; None if none is known."""
    scheme, _, text = uid.partition(":")
    return None if memory is None or memory.uids.get(scheme) != text else memory.versions.get(scheme)


def without(found: Mapping[str, int], name: str) -> Mapping[str, int]:
    """The map without a name."""
    return {one: value for one, value in found.items() if one != name} or NONE if name in found else found


def held_memory(memory: Memory) -> Memory | None:
    """A memory as entities hold it: those that say the same of many entities are one object."""
    if memory == NO_MEMORY:
        return None
    return AWAITED if memory == AWAITED else memory


def of_shown_life(memory: Memory) -> Memory | None:
    """The memory once something has shown that the life is there."""
    return None if memory is AWAITED else held_memory(replace(memory, awaited=False))


def of_version(memory: Memory | None, before: Entity | None, *, is_contact: bool) -> Memory | None:
    """The memory after one more version. is_contact: whether its record is one of `contact`."""
    settled = 0
    if is_contact and before is not None:
        settled = (0 if before.memory is None else before.memory.settled) or before.version
    if settled == (0 if memory is None else memory.settled):
        return memory
    return held_memory(replace(memory or NO_MEMORY, settled=settled))
