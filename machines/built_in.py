"""The kinds that come with Phaseline, and the kinds that installed packages add.

Belongs here: the list `BUILT_IN`, finding the kinds of other packages (`installed`). Does not: any table, checking and
compiling tables (`compiler.kinds`).
"""

from functools import cache
from importlib.metadata import entry_points

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.edge import cluster, component, node, node_pool
from phaseline.machines.emco import app_cluster, app_context, emco_resource, rsync_resource
from phaseline.machines.fleet import bundle, bundle_deployment, bundle_resource, git_repo
from phaseline.machines.gitops import application, application_set, resource

ENTRY_POINTS = "phaseline.kinds"
"""The entry point group in which packages register a table, or a tuple of tables."""
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


@cache
def installed() -> Kinds:
    """The built-in kinds and the kinds of installed packages. Raises `WrongTable` if a table cannot work."""
    loaded = [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
    tables = [table for found in loaded for table in (found if isinstance(found, tuple | list) else (found,))]
    return Kinds((*BUILT_IN, *tables))
