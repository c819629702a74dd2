"""The table of known kinds, and the verdict of its rows.

Belongs here: finding the rows of a kind, asking them, the message and the evidence; Kubernetes' kinds without a status.
Does not: the rows (`families`),
what a test means (`tests_of_rows`), kinds without rows (`health.general`).
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from phaseline.machines.kinds.kubernetes.health.general import contradiction
from phaseline.machines.kinds.kubernetes.health.polarity import concerns_of
from phaseline.machines.kinds.kubernetes.health.result import Evidence, HealthResult
from phaseline.machines.kinds.kubernetes.health.view import ObjectView, getter, text
from phaseline.machines.kinds.kubernetes.known.families import families
from phaseline.machines.kinds.kubernetes.known.rows import NONE, KnownKind, ReadRow, wanted_of
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest
from phaseline.machines.kinds.kubernetes.profiles import ALIASES, HEALTHY, PROGRESSING, Profile

NO_STATUS = "no status has been reported yet"

# fmt: off
STATUSLESS = frozenset((group, kind) for group, kinds in (
    ("",                             ("ConfigMap", "Secret", "ServiceAccount", "Endpoints", "LimitRange", "PodTemplate", "Event", "Binding")),
    ("admissionregistration.k8s.io", ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "MutatingAdmissionPolicy",
                                      "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding")),
    ("apps",                         ("ControllerRevision",)),
    ("certificates.k8s.io",          ("ClusterTrustBundle",)),
    ("coordination.k8s.io",          ("Lease", "LeaseCandidate")),
    ("discovery.k8s.io",             ("EndpointSlice",)),
    ("events.k8s.io",                ("Event",)),
    ("networking.k8s.io",            ("IngressClass", "NetworkPolicy", "IPAddress", "ClusterCIDR")),
    ("policy",                       ("Eviction",)),
    ("resource.k8s.io",              ("DeviceClass", "ResourceClaimTemplate", "ResourceSlice", "ResourceClass",
                                      "ResourceClaimParameters", "ResourceClassParameters")),
    ("node.k8s.io",                  ("RuntimeClass",)),
    ("rbac.authorization.k8s.io",    ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")),
    ("scheduling.k8s.io",            ("PriorityClass", "Workload")),
    ("storage.k8s.io",               ("StorageClass", "CSIDriver", "CSINode", "CSIStorageCapacity", "VolumeAttributesClass")),
) for kind in kinds)
# fmt: on
"""The kinds of Kubernetes whose published type has no status, by group and kind: they take no part in health. The core
group is empty. After Kubernetes' own type definitions (k8s.io/api)."""


class KnownRule:
    """The rows of a kind, ready to be asked."""

    __slots__ = ("_beside", "_by_profile", "_message", "_rows", "_wanted", "is_built_in", "kind")

    def __init__(self, kind: KnownKind, *, is_built_in: bool = False) -> None:
        """Take the rows of `kind`, which were checked. They are read when the first object is assessed.

        is_built_in: they are not a user's, so Healthy is held against the rest of the status.
        """
        self.kind, self._wanted, self.is_built_in = kind, wanted_of(kind.rows), is_built_in
        self._beside = tuple(one.strip() for one in kind.beside.split("|"))
        self._message, self._rows = getter(kind.message), tuple[ReadRow, ...]()
        self._by_profile: dict[str, tuple[tuple[ReadRow, str], ...]] = {}

    def __call__(self, live: Manifest, profile: Profile) -> HealthResult:
        """The health of an object by the first row that holds."""
        view = ObjectView(live)
        for row, verdict in self._by_profile.get(profile.name) or self._of(profile):
            only = row.only
            at = row.holds(view) if only is None else view if only(view) else None
            if at is not None:
                return self._verdict(row, verdict, at, view, profile)
        if not view.status:
            return HealthResult(PROGRESSING, NO_STATUS)
        wanted = f"not yet: {self._wanted}" if self._wanted else "its status does not say yet how it is"
        said = text(self._message(view)) or wanted
        return HealthResult.told_by(PROGRESSING, said, lambda: ((), concerns_of(view.every_condition(), ())))

    def _of(self, profile: Profile) -> tuple[tuple[ReadRow, str], ...]:
        """The rows that exist in a profile, each with its verdict there."""
        self._rows = self._rows or tuple(ReadRow(row) for row in self.kind.rows)
        verdicts = ((row, row.row.verdict(profile)) for row in self._rows)
        self._by_profile[profile.name] = tuple((row, ALIASES.get(one, one)) for row, one in verdicts if one != NONE)
        return self._by_profile[profile.name]

    def _verdict(self, row: ReadRow, verdict: str, at: ObjectView, view: ObjectView, profile: Profile) -> HealthResult:
        found = [one for test in row.tests if (one := test.tell(at)) is not None]
        if verdict == HEALTHY and not profile.follows_argo:
            if stale := _stale(view, at, found):
                return HealthResult(PROGRESSING, stale.message, (stale, *found))
            if self.is_built_in and (opposed := contradiction(view, tuple(found), self._beside)):
                return opposed
        message = row.message(at) or self._said(found, view)
        if at.item is not None and at.name and message and "@" not in row.row.message:
            message = f"{at.name}: {message}"
        return HealthResult.told_by(
            verdict, message, lambda: (tuple(found), concerns_of(view.every_condition(), found))
        )

    def _said(self, found: list[Evidence], view: ObjectView) -> str:
        """What the object itself says of the verdict."""
        first = next((one for one in found if one.message or one.reason), None)
        if first is not None:
            return first.message or first.reason
        if own := text(self._message(view)):
            return own
        return f"{found[0].condition} is {found[0].status or 'absent'}" if found else ""


def _stale(view: ObjectView, at: ObjectView, found: Iterable[Evidence]) -> Evidence | None:
    """What says that a success is not of the object's present generation; None if it is, or nothing says so."""
    if (unobserved := view.unobserved) is not None:
        return unobserved
    for one in found:
        condition = at.conditions.get(one.condition)
        if condition is not None and not at.is_current(condition):
            seen = text(condition.get("observedGeneration"))
            said = f"{one.condition} is of generation {seen}, and generation {view.generation} is asked for"
            return Evidence("observedGeneration", seen, message=said)
    return None


@cache
def rules() -> tuple[KnownRule, ...]:
    """The rules of all families."""
    return tuple(KnownRule(kind, is_built_in=True) for family in families() for kind in family.kinds)


@cache
def _exact() -> Mapping[tuple[str, str], KnownRule]:
    return {
        (group.strip(), kind.strip()): rule
        for rule in reversed(rules()) if rule.kind.is_exact
        for group in rule.kind.group.split("|") for kind in rule.kind.kind.split("|")
    }  # fmt: skip


@lru_cache(maxsize=4096)
def known_rule(group: str, kind: str) -> KnownRule | None:
    """The rows of a kind: those that name it, else the first whose globs fit; None if there are none."""
    globs = (rule for rule in rules() if not rule.kind.is_exact)
    return _exact().get((group, kind)) or next((rule for rule in globs if rule.kind.fits(group, kind)), None)
