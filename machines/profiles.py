"""What differs between the systems whose health and sync we tell (spec: GitOps, profiles), in one table.

Belongs here: those differences. Does not: the rules that ask for them (`health`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

UNKNOWN, MISSING, DEGRADED, PAUSED = "Unknown", "Missing", "Degraded", "Paused"
PROGRESSING, HEALTHY = "Progressing", "Healthy"
NOT_ASSESSED = "NotAssessed"
"""No rule is about it."""

SUSPENDED = "Suspended"
"""What Argo CD calls Paused."""
ALIASES = {SUSPENDED: PAUSED, "Processing": PROGRESSING}
"""Other names of a health, accepted everywhere."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One system's reading.

    order: healths, the worst first. missing: which missing resources make their application Missing: each, each whose kind
    has a rule, or only all of them together. paused: the name of Paused. has_deadline: Progressing for too long becomes Degraded by our timer.
    restarts: how often a container of a ready Pod may have been restarted (None: as often as it likes). sees_init: an init
    container or sidecar waiting in a back-off makes its Pod Degraded. counts_jobs: a Job that succeeded needs no condition
    to be Healthy. compares_replicas: an autoscaler whose replicas are not the desired ones is Progressing.
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

    def called(self, health: str) -> str:
        """What this system calls a health."""
        return self.paused if health == PAUSED else health


SOURCE_ORDER = (UNKNOWN, MISSING, DEGRADED, PAUSED, PROGRESSING, HEALTHY)
ARGO_ORDER = (UNKNOWN, DEGRADED, MISSING, PROGRESSING, PAUSED, HEALTHY)

# fmt: off
PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        #       name          order         missing     paused     deadline restarts init   jobs   replicas
        Profile("alauda",     SOURCE_ORDER, "each",     PAUSED,    True,    5,       True,  True,  True),
        Profile("argocd",     ARGO_ORDER,   "together", SUSPENDED, False,   None,    False, False, False),
        Profile("argocd-3.3", ARGO_ORDER,   "ruled",    SUSPENDED, False,   None,    False, False, False),
    )
}
# fmt: on
ALAUDA = PROFILES["alauda"]
