"""Profiles: how systems differ in their health rules, in one table.

Belongs here: the names of the healths, and the differences. Does not: the rules that depend on them (`health`,
`rollup`).
"""

from collections.abc import Mapping
from typing import Literal

import msgspec

UNKNOWN, MISSING, DEGRADED, PAUSED = "Unknown", "Missing", "Degraded", "Paused"
PROGRESSING, HEALTHY = "Progressing", "Healthy"
NOT_ASSESSED = "NotAssessed"
"""Nothing can be said of it."""
NO_HEALTH = "NoHealth"
"""It takes no part in health: the type of its kind has no status."""

SUSPENDED = "Suspended"
"""Argo CD's name for Paused."""
ALIASES = {SUSPENDED: PAUSED, "Processing": PROGRESSING}
"""Other names of a health. All inputs accept them."""


class Profile(msgspec.Struct, frozen=True):
    """One system's health rules, where systems differ.

    order: healths, the worst first. missing: which missing resources make their application Missing: each, each whose
    kind has a rule, or only all of them together. paused: the name of Paused. has_deadline: Progressing for too long
    becomes Degraded by a timer. restarts: how often a container of a ready Pod may restart (None: any number).
    sees_init: an init container or sidecar in a back-off makes its Pod Degraded. counts_jobs: a Job that succeeded is
    Healthy without a condition. compares_replicas: an autoscaler without the desired number of replicas is Progressing.
    follows_argo: the kinds that Argo CD knows have its verdicts, and no other kind has a health.
    """

    name: str
    order: tuple[str, ...]
    missing: Literal["each", "ruled", "together"]
    paused: str
    has_deadline: bool
    restarts: int | None
    sees_init: bool
    counts_jobs: bool
    compares_replicas: bool
    follows_argo: bool

    def called(self, health: str) -> str:
        """The name of a health in this system."""
        return self.paused if health == PAUSED else health


SOURCE_ORDER = (UNKNOWN, MISSING, DEGRADED, PAUSED, PROGRESSING, HEALTHY)
ARGO_ORDER = (UNKNOWN, DEGRADED, MISSING, PROGRESSING, PAUSED, HEALTHY)

# fmt: off
PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        #       name          order         missing     paused     deadline restarts init   jobs   replicas follows_argo
        Profile("alauda",     SOURCE_ORDER, "each",     PAUSED,    True,    5,       True,  True,  True,    False),
        Profile("argocd",     ARGO_ORDER,   "together", SUSPENDED, False,   None,    False, False, False,   True),
        Profile("argocd-3.3", ARGO_ORDER,   "ruled",    SUSPENDED, False,   None,    False, False, False,   True),
    )
}
# fmt: on
ALAUDA = PROFILES["alauda"]
