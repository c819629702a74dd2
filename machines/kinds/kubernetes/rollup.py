"""Health and sync of an application, from the assessments of its resources.

Belongs here: the worst health by a profile's order, and the resources that cause it. Does not: each resource's
assessment (`assess`).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from phaseline.machines.kinds.kubernetes.assess import NOT_COMPARED, OUT_OF_SYNC, SYNCED, Assessment
from phaseline.machines.kinds.kubernetes.profiles import HEALTHY, MISSING, NO_HEALTH, NOT_ASSESSED, UNKNOWN, Profile

NAMED = 3
"""How many causes a message names; further ones are only counted."""
APPLICATION = ("argoproj.io", "Application")


class Member(NamedTuple):
    """A resource of an application: its group and kind, display name, whether it exists, and its assessment.

    is_owned: another object in the cluster created it, so Git never declares it.
    """

    group_kind: tuple[str, str]
    name: str
    is_live: bool
    assessment: Assessment
    is_owned: bool = False


class Rollup(NamedTuple):
    """An application's health and sync, and the resources that cause each, in the order given; none if all is well.

    health: NotAssessed if nothing was assessed. sync: NotCompared if nothing was compared. not_assessed, not_compared:
    of how many of the resources that is so. resources: how many there are, hooks aside. no_health: how many of these
    are of kinds without a status, which take no part in health.
    """

    health: str
    sync: str
    unwell: tuple[str, ...] = ()
    unsynced: tuple[str, ...] = ()
    not_assessed: int = 0
    not_compared: int = 0
    resources: int = 0
    no_health: int = 0


def roll_up(members: Sequence[Member], profile: Profile) -> Rollup:
    """The worst health and sync of the resources that are not hooks."""
    parts = [member for member in members if not member.assessment.is_hook]
    out_of_sync = (one for one in parts if one.assessment.sync == OUT_OF_SYNC and one.assessment.counts)
    unsynced = tuple(member.name for member in out_of_sync)
    health, unwell = _health(parts, profile)
    synced = any(one.assessment.sync == SYNCED and one.assessment.counts for one in parts)
    sync = OUT_OF_SYNC if unsynced else SYNCED if synced else NOT_COMPARED
    apart = sum(_status(one) == NO_HEALTH for one in parts)
    unassessed = sum(not is_assessed(one.assessment) for one in parts) - apart
    uncompared = sum(one.assessment.sync is None and not one.is_owned for one in parts)
    return Rollup(health, sync, unwell, unsynced, unassessed, uncompared, len(parts), apart)


def is_assessed(found: Assessment) -> bool:
    """Whether anything is known of the health of a resource."""
    return found.health is not None and found.health.is_assessed


def _health(members: Sequence[Member], profile: Profile) -> tuple[str, tuple[str, ...]]:
    if members and all(not member.is_live and _status(member) == MISSING for member in members):
        return MISSING, () if profile.missing == "together" else tuple(member.name for member in members)
    counted = [member for member in members if is_assessed(member.assessment) and _counts(member, profile)]
    worst = min((_status(member) for member in counted), key=profile.order.index, default=_of_nothing(members, profile))
    return worst, () if worst in (HEALTHY, NOT_ASSESSED) else tuple(
        member.name for member in counted if _status(member) == worst
    )


def _of_nothing(members: Sequence[Member], profile: Profile) -> str:
    """The health of resources of which none was assessed.

    Argo CD calls it Healthy where there is nothing to assess, and so do its profiles. Nobody saw it work.
    """
    apart = [_status(member) == NO_HEALTH for member in members if _status(member) != MISSING]
    return HEALTHY if profile.follows_argo and apart and all(apart) else NOT_ASSESSED


def _counts(member: Member, profile: Profile) -> bool:
    """Whether a resource counts, by the profile. To Argo CD a nested application is never Missing or Unknown."""
    if profile.follows_argo and member.group_kind == APPLICATION and _status(member) in (MISSING, UNKNOWN):
        return False
    return member.is_live or profile.missing == "each" or (profile.missing == "ruled" and member.assessment.has_rule)


def _status(member: Member) -> str:
    return NOT_ASSESSED if member.assessment.health is None else member.assessment.health.status


def unknown_text(count: int, of: int, what: str) -> str:
    """`3 of 11 not assessed`; empty where everything is."""
    return f"{count:,} of {of:,} {what}" if count else ""


def cause_text(names: Iterable[str]) -> str:
    """`Caused by apps/Deployment:shop/web, ... and 4 more`; empty without causes."""
    found = list(names)
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"Caused by {', '.join(found[:NAMED])}{more}" if found else ""
