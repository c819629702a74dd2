"""Pairs of a live and a desired object, and the assessment of many pairs as one application.

Belongs here: matching objects by identity, assessing all pairs. Does not: the assessment of one pair (`assess`), the
roll-up (`rollup`), reading files.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from phaseline.machines.kinds.kubernetes.assess import Assessment, assess
from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.kinds.kubernetes.kind_facts import KindsTold
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest, group_kind, made_name, present_group
from phaseline.machines.kinds.kubernetes.masking import shown
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.machines.kinds.kubernetes.rollup import Member, Rollup, roll_up
from phaseline.machines.language.scripts import ScriptRunner

UNTOLD_KINDS = KindsTold()


class ObjectKey(NamedTuple):
    """The identity of an object without its version."""

    group: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, group: str, kind: str, namespace: str, name: str, kinds: KindsTold = UNTOLD_KINDS) -> "ObjectKey":
        """The key of an object that is named so. kinds: tells which kinds of users are cluster-wide."""
        return cls(group, kind, "" if namespace and kinds.is_cluster_wide(group, kind) else namespace, name)

    @property
    def paired(self) -> "ObjectKey":
        """The key by which both sides are found: an object is the same in its present group and in an earlier one."""
        return self._replace(group=present_group(self.group, self.kind))

    def short(self) -> str:
        """`apps/Deployment:shop/web`: the notation in which causes are named."""
        group, namespace = (f"{part}/" if part else "" for part in (self.group, self.namespace))
        return f"{group}{self.kind}:{namespace}{self.name}"

    def __str__(self) -> str:
        return "/".join(
            part for part in (f"{self.group or 'core'}:{self.kind}", self.namespace or "-", self.name) if part
        )


class Pair(NamedTuple):
    """The live and the desired object of one resource; None if there is none."""

    key: ObjectKey
    live: Manifest | None
    desired: Manifest | None


def key_of(found: Manifest, kinds: KindsTold = UNTOLD_KINDS) -> ObjectKey:
    """An object's key; empty strings for missing parts, `<start>*` for a name that the API server makes.

    kinds: tells which kinds of users are cluster-wide.
    """
    metadata = found.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    start = made_name(found)
    name = f"{start}*" if start else str(named.get("name") or "")
    return ObjectKey.of(*group_kind(found), str(named.get("namespace") or ""), name, kinds)


def made_from(found: Manifest, kinds: KindsTold = UNTOLD_KINDS) -> ObjectKey | None:
    """The key of the desired object from which a live one may have been made, by its generateName; None without one."""
    metadata = found.get("metadata")
    start = metadata.get("generateName") if isinstance(metadata, Mapping) else None
    return key_of(found, kinds)._replace(name=f"{start}*").paired if isinstance(start, str) and start else None


def kinds_in(live: Iterable[Manifest], desired: Iterable[Manifest]) -> KindsTold:
    """What objects tell of kinds. An object that the API server made without a namespace is of a cluster-wide kind."""
    there = [*live]
    kinds = KindsTold([*desired, *there])
    for one in there:
        metadata = one.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("uid") and not metadata.get("namespace"):
            kinds.note_scope(*group_kind(one), namespaced=False)
    return kinds


def pair_up(live: Sequence[Manifest], desired: Sequence[Manifest]) -> list[Pair]:
    """Pair the objects that are the same resource, in the order of the desired, then of the remaining live ones.

    A single object on each side is a pair whatever its name, if both are of one kind. An object without a namespace is
    paired with one in any namespace if there is exactly one; one of a cluster-wide kind has none, whatever a manifest
    says.
    """
    kinds = kinds_in(live, desired)
    if len(live) == len(desired) == 1 and present_group(*group_kind(live[0])) == present_group(*group_kind(desired[0])):
        return [Pair(key_of(desired[0], kinds), live[0], desired[0])]
    wanted = {key_of(one, kinds).paired: one for one in desired}
    there = {key_of(one, kinds).paired: one for one in live}
    fits = _fits(wanted, there)
    pairs = [
        Pair(fits.get(key, key), there.get(fits[key]) if key in fits else None, one) for key, one in wanted.items()
    ]
    used = set(fits.values())
    return [*pairs, *(Pair(key, one, None) for key, one in there.items() if key not in used)]


def _fits(wanted: Iterable[ObjectKey], there: Iterable[ObjectKey]) -> dict[ObjectKey, ObjectKey]:
    """By the key of a desired object, that of the live object that is the same."""
    left = dict.fromkeys(there)
    found = {key: key for key in wanted if key in left}
    for key in found:
        del left[key]
    lone: dict[ObjectKey, list[ObjectKey]] = {}
    for key in left:
        lone.setdefault(key._replace(namespace=""), []).append(key)
    alike: dict[ObjectKey, list[ObjectKey]] = {}
    for key in wanted:
        if key not in found:
            alike.setdefault(key._replace(namespace=""), []).append(key)
    for name, keys in alike.items():
        others = lone.get(name, [])
        if len(keys) == len(others) == 1 and "" in (keys[0].namespace, others[0].namespace):
            found[keys[0]] = others[0]
    return found


def repeats(found: Sequence[Manifest], where: str) -> list[str]:
    """What to say of objects that are given twice, in sentences. where: the side on which they are."""
    kinds = kinds_in((), found)
    counts = Counter(key_of(one, kinds).paired for one in found)
    return [
        f"{key.short()} is given {count} times {where}; the last one counts"
        for key, count in counts.items()
        if count > 1
    ]


# fmt: off
OF_KUBERNETES = (
    #   group                   kind              names
    ("",                       "Endpoints",      "*"),
    ("discovery.k8s.io",       "EndpointSlice",  "*"),
    ("",                       "Event",          "*"),
    ("events.k8s.io",          "Event",          "*"),
    ("coordination.k8s.io",    "Lease",          "*"),
    ("",                       "ConfigMap",      "kube-root-ca.crt"),
    ("",                       "ConfigMap",      "openshift-service-ca.crt"),
    ("",                       "ServiceAccount", "default"),
    ("",                       "Secret",         "default-token-*"),
    ("",                       "Secret",         "sh.helm.release.v1.*"),
)
# fmt: on
"""Objects that Kubernetes and Helm make by themselves: that Git does not declare them says nothing."""
BY_ANOTHER, BY_ITSELF, BY_APPLY = (
    f"{made}, so Git does not declare it"
    for made in ("another object made it", "Kubernetes or Helm makes it", "an apply made its name")
)
"""Why a live object is in Git by no name."""


def is_of_kubernetes(key: ObjectKey) -> bool:
    """Whether an object of this name is one that Kubernetes or Helm makes."""
    return any(key[:2] == (group, kind) and matches(names, key.name) for group, kind, names in OF_KUBERNETES)


def is_owned(live: Manifest) -> bool:
    """Whether another object in the cluster created it, as a ReplicaSet creates Pods."""
    metadata = live.get("metadata")
    return isinstance(metadata, Mapping) and bool(metadata.get("ownerReferences"))


def _aside(pair: Pair, declared: Collection[ObjectKey], kinds: KindsTold) -> str:
    """Why Git does not declare a live object by its name, though it lacks nothing; empty if it might."""
    if pair.desired is not None or pair.live is None:
        return ""
    if is_owned(pair.live):
        return BY_ANOTHER
    if made_from(pair.live, kinds) in declared:
        return BY_APPLY
    return BY_ITSELF if is_of_kubernetes(pair.key) else ""


class AssessedPair(NamedTuple):
    """A pair, without values of Secrets, and its assessment."""

    pair: Pair
    assessment: Assessment


class ApplicationAssessment(NamedTuple):
    """The assessments of many resources. whole: their roll-up as one application. problems: objects given twice."""

    resources: tuple[AssessedPair, ...]
    whole: Rollup
    problems: tuple[str, ...] = ()


def _there(sides: Iterable[Manifest | None]) -> list[Manifest]:
    return [side for side in sides if side is not None]


def assess_pairs(
    pairs: Sequence[Pair],
    overrides: Overrides,
    scripts: ScriptRunner,
    *,
    now: int,
    is_declared: bool,
    dry_runs: Sequence[Manifest | None] = (),
) -> ApplicationAssessment:
    """Assess each pair, and all of them as one application. A definition among them tells of its kind.

    is_declared: whether the desired objects are known at all. now: the time for scripts, whole seconds since 1970.
    dry_runs: for each pair the API server's answer to a dry-run apply, if there is one; none at all may be given.
    """
    found = []
    kinds = kinds_in(_there(pair.live for pair in pairs), _there(pair.desired for pair in pairs))
    declared = {key_of(pair.desired, kinds).paired for pair in pairs if pair.desired is not None}
    for pair, dry_run in zip_longest(pairs, dry_runs[: len(pairs)]):
        # Git never declares what another object created, so nothing is missing from Git there.
        aside = _aside(pair, declared, kinds)
        known = is_declared and not aside
        assessment = assess(
            pair.live,
            pair.desired,
            overrides,
            scripts,
            now=now,
            is_known=known,
            dry_run=dry_run,
            explains=True,
            facts=kinds.of(pair.live or pair.desired or {}),
        )
        if is_declared and aside and not assessment.is_hook:
            assessment = assessment._replace(why=aside)
        found.append(AssessedPair(Pair(pair.key, shown(pair.live), shown(pair.desired)), assessment))
    members = [
        Member(one.key[:2], one.key.short(), one.live is not None, assessment, bool(_aside(one, declared, kinds)))
        for one, assessment in found
    ]
    return ApplicationAssessment(tuple(found), roll_up(members, overrides.profile))
