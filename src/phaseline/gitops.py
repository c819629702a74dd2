"""Manifests without a server: `assess`, `assess_all`, `diff`, `health`; and what reads of GitOps take and give.

See docs/gitops.md.

Belongs here: the public names of GitOps. A name is loaded when it is first used. Does not: any code.
"""

from phaseline.engine.public_names import offer

# The only list of these names. `python3 dev.py generate` writes `gitops.pyi` from it, for type checkers.
NAMES = {
    "phaseline.engine.products.gitops.assess":              "assess assess_all diff health",
    "phaseline.engine.products.gitops.last_observation":    "ObjectDiff Observation",
    "phaseline.engine.products.gitops.views":               "Gitops",
    "phaseline.machines.kinds.kubernetes.assess":           "Assessment HiddenDifference",
    "phaseline.machines.kinds.kubernetes.diff.differences": "Difference",
    "phaseline.machines.kinds.kubernetes.diff.ignore":      "IgnoreEffect IgnoreRule",
    "phaseline.machines.kinds.kubernetes.diff.known_types": "KnownType",
    "phaseline.machines.kinds.kubernetes.health.result":    "Evidence HealthResult",
    "phaseline.machines.kinds.kubernetes.kind_facts":       "KindFacts",
    "phaseline.machines.kinds.kubernetes.known.rows":       "KnownKind StatusRow",
    "phaseline.machines.kinds.kubernetes.overrides":        "Overrides",
    "phaseline.machines.kinds.kubernetes.pairs":            "ApplicationAssessment AssessedPair ObjectKey Pair",
    "phaseline.machines.kinds.kubernetes.profiles":         "Profile",
    "phaseline.machines.kinds.kubernetes.rollup":           "Rollup",
}

__all__, __getattr__, __dir__ = offer(globals(), NAMES)
