# Written by `python -m phaseline.engine.surfaces.generate` from the table in gitops.py.

from phaseline.engine.products.gitops.assess import assess as assess
from phaseline.engine.products.gitops.assess import assess_all as assess_all
from phaseline.engine.products.gitops.assess import diff as diff
from phaseline.engine.products.gitops.assess import health as health
from phaseline.engine.products.gitops.last_observation import ObjectDiff as ObjectDiff
from phaseline.engine.products.gitops.last_observation import Observation as Observation
from phaseline.engine.products.gitops.views import Gitops as Gitops
from phaseline.machines.kinds.kubernetes.assess import Assessment as Assessment
from phaseline.machines.kinds.kubernetes.assess import HiddenDifference as HiddenDifference
from phaseline.machines.kinds.kubernetes.diff.differences import Difference as Difference
from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreEffect as IgnoreEffect
from phaseline.machines.kinds.kubernetes.diff.ignore import IgnoreRule as IgnoreRule
from phaseline.machines.kinds.kubernetes.diff.known_types import KnownType as KnownType
from phaseline.machines.kinds.kubernetes.health.result import Evidence as Evidence
from phaseline.machines.kinds.kubernetes.health.result import HealthResult as HealthResult
from phaseline.machines.kinds.kubernetes.kind_facts import KindFacts as KindFacts
from phaseline.machines.kinds.kubernetes.known.rows import KnownKind as KnownKind
from phaseline.machines.kinds.kubernetes.known.rows import StatusRow as StatusRow
from phaseline.machines.kinds.kubernetes.overrides import Overrides as Overrides
from phaseline.machines.kinds.kubernetes.pairs import ApplicationAssessment as ApplicationAssessment
from phaseline.machines.kinds.kubernetes.pairs import AssessedPair as AssessedPair
from phaseline.machines.kinds.kubernetes.pairs import ObjectKey as ObjectKey
from phaseline.machines.kinds.kubernetes.pairs import Pair as Pair
from phaseline.machines.kinds.kubernetes.profiles import Profile as Profile
from phaseline.machines.kinds.kubernetes.rollup import Rollup as Rollup

__all__: list[str]
