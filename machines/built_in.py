"""The kinds that come with Phaseline, and the kinds that installed packages add.

Belongs here: the list `BUILT_IN`, the kinds of other packages beside them (`installed`). Does not: any table, finding
them (`broken_kinds`), checking and compiling tables (`compiler.kinds`).
"""

from functools import cache

from phaseline.machines.broken_kinds import BrokenKind, load
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.edge import cluster, component, node, node_pool
from phaseline.machines.emco import app_cluster, app_context, emco_resource, rsync_resource
from phaseline.machines.fleet import bundle, bundle_deployment, bundle_resource, git_repo
from phaseline.machines.gitops import application, application_set, resource

BUILT_IN = (
    cluster.CLUSTER,
    node_pool.NODE_POOL,
    node.NODE,
    component.COMPONENT,
    emco_resource.EMCO_RESOURCE,
    app_context.APP_CONTEXT,
    app_cluster.APP_CLUSTER,
    rsync_resource.RSYNC_RESOURCE,
    application_set.APPLICATION_SET,
    application.APPLICATION,
    resource.RESOURCE,
    git_repo.GIT_REPO,
    bundle.BUNDLE,
    bundle_deployment.BUNDLE_DEPLOYMENT,
    bundle_resource.BUNDLE_RESOURCE,
)

SOUND = "c18b2917cac7"
"""The digest of these tables when they were checked, which `dev.py generate` writes. A worker checks others again."""


@cache
def found() -> tuple[Kinds, tuple[BrokenKind, ...]]:
    """The built-in kinds with the kinds of installed packages, and what is broken of these packages and left out."""
    return load(BUILT_IN, SOUND)


def installed() -> Kinds:
    """The built-in kinds and the kinds of installed packages, without those that are broken."""
    return found()[0]


def broken() -> tuple[BrokenKind, ...]:
    """The entry points of installed packages whose kinds are left out."""
    return found()[1]
