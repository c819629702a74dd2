"""Health and sync of an application, from the assessments of its resources.

Belongs here: the worst health by a profile's order, and the resources that cause it. Does not: each resource's
assessment (`assess`).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from phaseline.machines.kubernetes.assess import OUT_OF_SYNC, SYNCED, Assessment
from phaseline.machines.kubernetes.profiles import HEALTHY, MISSING, UNKNOWN, Profile

NAMED = 3
"""How many causes a message names; further ones are only counted."""
APPLICATION = ("argoproj.io", "Application")


class Member(NamedTuple):
    """A resource of an application: its group and kind, display name, whether it exists, and its assessment."""

    group_kind: tuple[str, str]
    name: str
    is_live: bool
    assessment: Assessment


class Rollup(NamedTuple):
    """An application's health and sync, and the resources that cause each, in the order given; none if all is well."""

    health: str
    sync: str
    unwell: tuple[str, ...] = ()
    unsynced: tuple[str, ...] = ()


def roll_up(members: Sequence[Member], profile: Profile) -> Rollup:
    """The worst health and sync of the resources that are not hooks."""
    parts = [member for member in members if not member.assessment.is_hook]
    out_of_sync = (one for one in parts if one.assessment.sync == OUT_OF_SYNC and one.assessment.counts)
    unsynced = tuple(member.name for member in out_of_sync)
    health, unwell = _health(parts, profile)
    return Rollup(health, OUT_OF_SYNC if unsynced else SYNCED, unwell, unsynced)


def _health(members: Sequence[Member], profile: Profile) -> tuple[str, tuple[str, ...]]:
    if members and not any(member.is_live for member in members):
        return MISSING, () if profile.missing == "together" else tuple(member.name for member in members)
    counted = [member for member in members if _is_assessed(member) and _counts(member, profile)]
    worst = min((_status(member) for member in counted), key=profile.order.index, default=HEALTHY)
    return worst, () if worst == HEALTHY else tuple(member.name for member in counted if _status(member) == worst)


def _counts(member: Member, profile: Profile) -> bool:
    """Whether a resource counts, by the profile. A nested application never counts as Missing or Unknown."""
    if member.group_kind == APPLICATION and _status(member) in (MISSING, UNKNOWN):
        return False
    return member.is_live or profile.missing == "each" or (profile.missing == "ruled" and member.assessment.has_rule)


def _status(member: Member) -> str:
    return member.assessment.health.status if member.assessment.health is not None else HEALTHY


def _is_assessed(member: Member) -> bool:
    return member.assessment.health is not None and member.assessment.health.is_assessed


def cause_text(names: Iterable[str]) -> str:
    """`Caused by apps/Deployment:shop/web, ... and 4 more`; empty without causes."""
    found = list(names)
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"Caused by {', '.join(found[:NAMED])}{more}" if found else ""
