"""The public functions on manifests: `assess`, `assess_all`, `diff` and `health`. None of them needs a server.

Belongs here: the arguments that users pass, the sandbox and the clock. Does not: the rules (`machines.kubernetes`).
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from phaseline.engine.errors import BadManifest
from phaseline.engine.scripts.runner import shared_runner
from phaseline.machines.kubernetes import assess as rules_of_assess
from phaseline.machines.kubernetes.assess import Assessment
from phaseline.machines.kubernetes.diff.differences import Difference
from phaseline.machines.kubernetes.health.result import HealthResult
from phaseline.machines.kubernetes.overrides import BadOverride, Overrides
from phaseline.machines.kubernetes.pairs import ApplicationAssessment, assess_pairs, pair_up

Manifest = Mapping[str, Any]
Rules = Overrides | Manifest | Iterable[Manifest]
"""Ignore rules and health scripts: one document or several, or `Overrides` that were read before.

A document is Argo CD's settings ConfigMap, an Application, an ApplicationSet, or a map in Phaseline's own format."""


def assess(
    live: Manifest | None,
    desired: Manifest | None = None,
    *,
    rules: Rules = (),
    profile: str | None = None,
    dry_run: Manifest | None = None,
) -> Assessment:
    """The health and sync of one resource, and where it differs.

    live: the object in the cluster; None if it does not exist. desired: the object in Git; None if that is not known,
    then nothing is compared. profile: `alauda`, `argocd` or `argocd-3.3`. dry_run: the API server's answer to a dry-run
    apply. Raises `BadManifest` for wrong rules.
    """
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
    """The health and sync of many resources, and of an application of all of them.

    A live and a desired object are paired by group, kind, namespace and name. desired: None if it is not known what Git
    declares; an empty list means that nothing is declared. Raises `BadManifest` for wrong rules.
    """
    overrides = read_rules(rules, profile)
    pairs = pair_up([*live], [*desired] if desired is not None else [])
    return assess_pairs(pairs, overrides, shared_runner(), now=int(time.time()), is_declared=desired is not None)


def diff(live: Manifest, desired: Manifest, *, rules: Rules = (), dry_run: Manifest | None = None) -> list[Difference]:
    """The differences that an apply of `desired` would remove; empty if both are in sync. Values of Secrets are masked.

    Raises `BadManifest` for wrong rules.
    """
    return rules_of_assess.compare_sides(live, desired, read_rules(rules), shared_runner(), dry_run)[0]


def health(live: Manifest, *, rules: Rules = (), profile: str | None = None) -> HealthResult | None:
    """The health of an object in a cluster; None if it is a hook, or no rule exists for its kind.

    Raises `BadManifest` for wrong rules.
    """
    return assess(live, rules=rules, profile=profile).health


def read_rules(rules: Rules, profile: str | None = None) -> Overrides:
    """The overrides in documents, and the profile if one is given; raises `BadManifest`."""
    if isinstance(rules, Overrides):
        overrides = rules
    else:
        documents = [rules] if isinstance(rules, Mapping) else [*rules]
        overrides = Overrides()
        for index, document in enumerate(documents):
            overrides = merged(overrides, f"rules[{index}]", document)
    return merged(overrides, "profile", {"profile": profile}) if profile is not None else overrides


def merged(overrides: Overrides, where: str, document: Manifest) -> Overrides:
    """`overrides` with those of a document; raises `BadManifest`. where: the document's name for errors."""
    try:
        return overrides.merge(document, where)
    except BadOverride as error:
        raise BadManifest(where=where, problem=str(error).removeprefix(where).lstrip(".: ")) from error
