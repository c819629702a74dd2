"""What many resources make of their application (spec: GitOps, profiles; behaviour 2.1, 2.2).

Belongs here: the worst of them by a profile's order, and which they are. Does not: each one's health (`assessing`).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from phaseline.machines.assessing import OUT_OF_SYNC, SYNCED, Assessed
from phaseline.machines.profiles import HEALTHY, MISSING, UNKNOWN, Profile

NAMED = 3
"""Causes that are named; of more, only how many."""
APPLICATION = ("argoproj.io", "Application")


class Member(NamedTuple):
    """A resource of an application: its group and kind, its name for people, whether it is in the cluster, and its assessment."""

    group_kind: tuple[str, str]
    name: str
    is_live: bool
    said: Assessed


class Rolled(NamedTuple):
    """An application's health and sync, and the resources that make each so, in the order given; none where all is well."""

    health: str
    sync: str
    unwell: tuple[str, ...] = ()
    unsynced: tuple[str, ...] = ()


def rolled(members: Sequence[Member], profile: Profile) -> Rolled:
    """The worst of the resources that take part."""
    parts = [member for member in members if not member.said.is_hook]
    unsynced = tuple(member.name for member in parts if member.said.sync == OUT_OF_SYNC and member.said.counts)
    health, unwell = _health(parts, profile)
    return Rolled(health, OUT_OF_SYNC if unsynced else SYNCED, unwell, unsynced)


def _health(members: Sequence[Member], profile: Profile) -> tuple[str, tuple[str, ...]]:
    if members and not any(member.is_live for member in members):
        return MISSING, () if profile.missing == "together" else tuple(member.name for member in members)
    counted = [member for member in members if member.said.health is not None and _counts(member, profile)]
    worst = min((_status(member) for member in counted), key=profile.order.index, default=HEALTHY)
    return worst, () if worst == HEALTHY else tuple(member.name for member in counted if _status(member) == worst)


def _counts(member: Member, profile: Profile) -> bool:
    """Missing by the profile; an application in an application is not blamed for being Missing or Unknown."""
    if member.group_kind == APPLICATION and _status(member) in (MISSING, UNKNOWN):
        return False
    return member.is_live or profile.missing == "each" or (profile.missing == "ruled" and member.said.has_rule)


def _status(member: Member) -> str:
    return member.said.health.status if member.said.health is not None else HEALTHY


def caused(names: Iterable[str]) -> str:
    """`Caused by apps/Deployment:shop/web, ... and 4 more`; empty where there is no cause."""
    found = list(names)
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"Caused by {', '.join(found[:NAMED])}{more}" if found else ""
