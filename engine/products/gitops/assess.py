"""The public functions on manifests: `assess`, `assess_all`, `diff` and `health`. None of them needs a server.

Belongs here: reading the users' arguments, supplying the script runner and the clock. Does not: the rules
(`kinds.kubernetes`).
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from phaseline.engine.products.observe.manifest_files import no_manifest, objects
from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.kinds.kubernetes import assess as rules_of_assess
from phaseline.machines.kinds.kubernetes.assess import Assessment
from phaseline.machines.kinds.kubernetes.diff.differences import Difference
from phaseline.machines.kinds.kubernetes.health.result import HealthResult, not_assessed
from phaseline.machines.kinds.kubernetes.manifest_id import Manifest
from phaseline.machines.kinds.kubernetes.overrides import BadOverride, Overrides
from phaseline.machines.kinds.kubernetes.pairs import ApplicationAssessment, Pair, assess_pairs, pair_up, repeats
from phaseline.schemas import bounds
from phaseline.schemas.errors import InvalidInput

Rules = Overrides | Manifest | Iterable[Manifest]
"""Ignore rules and health scripts: one document, several documents, or `Overrides`.

A document is Argo CD's settings ConfigMap, an Application, an ApplicationSet, or a map in Phaseline's own format."""


def assess(
    live: Manifest | None,
    desired: Manifest | None = None,
    *,
    rules: Rules = (),
    profile: str | None = None,
    dry_run: Manifest | None = None,
) -> Assessment:
    """The health and sync of one resource, and its differences.

    live: the object in the cluster; None if it does not exist. desired: the object in Git; None if it is not known, and
    then nothing is compared. rules: ignore rules and health scripts. profile: `alauda`, `argocd` or `argocd-3.3`.
    dry_run: the API server's answer to a dry-run apply of `desired`. Raises `InvalidInput` if `rules` or `profile` is
    wrong.
    """
    _check_depth(live=live, desired=desired, dry_run=dry_run)
    return rules_of_assess.assess(
        live,
        desired,
        read_rules(rules, profile),
        shared_runner(),
        now=int(time.time()),
        is_known=desired is not None,
        dry_run=dry_run,
        explains=True,
    )


def assess_all(
    live: Iterable[Manifest],
    desired: Iterable[Manifest] | None = None,
    *,
    rules: Rules = (),
    profile: str | None = None,
) -> ApplicationAssessment:
    """The health and sync of many resources, and of one application with all of them.

    A live and a desired object are paired by group, kind, namespace and name. live: the objects in the cluster.
    desired: the objects in Git; None if they are not known, an empty list if Git declares none. Both may hold lists, as
    kubectl prints them. What is never in a cluster (a Kustomization of kustomize) is left out, and among the problems.
    rules, profile: as for `assess`. Raises `InvalidInput.bad_manifest` if `rules` or `profile` is wrong.
    """
    overrides = read_rules(rules, profile)
    given = {"live": [*live], "desired": [*(desired or ())]}
    _check_depth(**given)
    told: list[str] = []
    sides = [[*_in_cluster(side, name, told)] for name, side in given.items()]
    found = assessed(pair_up(*sides), overrides, is_declared=desired is not None)
    return found._replace(problems=(*told, *repeats(sides[0], "live"), *repeats(sides[1], "in Git")))


def _in_cluster(side: Sequence[Manifest], name: str, told: list[str]) -> Iterator[Manifest]:
    """The objects of one side: lists are opened, what is never in a cluster is left out and told."""
    for index, found in enumerate(side):
        if why := no_manifest(found):
            told.append(f"{name}[{index}] is left out: {why}")
        else:
            yield from objects(found, f"{name}[{index}]")


def assessed(
    pairs: Sequence[Pair], overrides: Overrides, *, is_declared: bool, dry_runs: Sequence[Manifest | None] = ()
) -> ApplicationAssessment:
    """The health and sync now, of pairs and of one application with them all. The words are as in `assess_pairs`."""
    now = int(time.time())
    return assess_pairs(pairs, overrides, shared_runner(), now=now, is_declared=is_declared, dry_runs=dry_runs)


def diff(live: Manifest, desired: Manifest, *, rules: Rules = (), dry_run: Manifest | None = None) -> list[Difference]:
    """The differences that an apply of `desired` would remove; an empty list if both are in sync.

    Values of Secrets are masked. The arguments are those of `assess`. Raises `InvalidInput` if `rules` is wrong.
    """
    _check_depth(live=live, desired=desired, dry_run=dry_run)
    return rules_of_assess.compare_sides(live, desired, read_rules(rules), shared_runner(), dry_run)[0]


def health(live: Manifest, *, rules: Rules = (), profile: str | None = None) -> HealthResult:
    """The health of an object in a cluster; `NotAssessed` if it is a hook, or nothing can be said of it.

    The arguments are those of `assess`. Raises `InvalidInput.bad_manifest` if `rules` or `profile` is wrong.
    """
    found = assess(live, rules=rules, profile=profile)
    return found.health or not_assessed(found.why)


def _check_depth(**manifests: Any) -> None:
    for name, one in manifests.items():
        try:
            bounds.check_depth(one, bounds.LEVELS + 1)  # a list of manifests is one level more
        except bounds.Unbounded as error:
            raise InvalidInput.bad_manifest(where=name, problem=str(error)) from None


def read_rules(rules: Rules, profile: str | None = None) -> Overrides:
    """The overrides in `rules`, with the profile if one is given; raises `InvalidInput.bad_manifest`."""
    if isinstance(rules, Overrides):
        overrides = rules
    else:
        documents = [rules] if isinstance(rules, Mapping) else [*rules]
        overrides = Overrides()
        for index, document in enumerate(documents):
            overrides = merged(overrides, f"rules[{index}]", document)
    return merged(overrides, "profile", {"profile": profile}) if profile is not None else overrides


def merged(overrides: Overrides, where: str, document: Manifest) -> Overrides:
    """The overrides with those of a document added. where: the document's name in errors. Raises `InvalidInput`."""
    try:
        found = overrides.merge(document, where)
    except BadOverride as error:
        raise InvalidInput.bad_manifest(where=where, problem=str(error).removeprefix(where).lstrip(".: ")) from error
    if wrong := next(found.problems(), ""):
        raise InvalidInput.bad_manifest(where=where, problem=wrong)
    return found
