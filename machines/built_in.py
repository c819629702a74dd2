"""The products that come with Phaseline, and the kinds of an installation.

Belongs here: the products (`PRODUCTS`), their tables (`BUILT_IN`), the kinds of other packages beside them, and those
of an installation of notices (`installed`). Does not: any table, finding other packages
(`compiler.packages.broken_kinds`), checking and compiling tables (`compiler.kinds`).
"""

from functools import cache

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.packages.broken_kinds import load
from phaseline.machines.kinds.edge_hosting import cluster, component, node, node_pool
from phaseline.machines.kinds.emco import app_cluster, app_context, emco_resource, rsync_resource
from phaseline.machines.kinds.fleet import bundle, bundle_deployment, bundle_resource, git_repo
from phaseline.machines.kinds.gitops import application, application_set, owned_object, resource
from phaseline.machines.kinds.kubernetes.diff.compare import COMPARISON
from phaseline.machines.kinds.kubernetes.secret_values import SECRETS
from phaseline.machines.language.product import ClientView, CopiedEvent, Product, WorkerService
from phaseline.machines.language.scripts import SCRIPTS

PRODUCTS = (
    Product("edge hosting", kinds=(cluster.CLUSTER, node_pool.NODE_POOL, node.NODE, component.COMPONENT)),
    Product(
        "EMCO",
        kinds=(
            emco_resource.EMCO_RESOURCE, app_context.APP_CONTEXT, app_cluster.APP_CLUSTER, rsync_resource.RSYNC_RESOURCE,
        ),
        services=(
            WorkerService(
                "emco_resource", "status", "phaseline.engine.products.emco.load:answered",
                "phaseline.engine.products.emco.schema:service",
                "ask for one app, cluster or resource, or for output=summary",
            ),
        ),
        routes=("phaseline.engine.products.emco.routes:ROUTES",),
        views=(
            ClientView(
                "emco", "phaseline.engine.products.emco.views:Emco", "phaseline.engine.products.emco.views:EmcoView",
            ),
        ),
    ),
    Product(
        "GitOps",
        kinds=(
            application_set.APPLICATION_SET, application.APPLICATION, resource.RESOURCE, owned_object.OWNED_OBJECT,
        ),
        copies=(CopiedEvent("resource", "observed", "live"), CopiedEvent("owned_object", "observed")),
        views=(ClientView("gitops", "phaseline.engine.products.gitops.views:Gitops"),),
    ),
    Product(
        "Fleet",
        kinds=(
            git_repo.GIT_REPO, bundle.BUNDLE, bundle_deployment.BUNDLE_DEPLOYMENT, bundle_resource.BUNDLE_RESOURCE,
        ),
        routes=("phaseline.engine.products.fleet.routes:ROUTES",),
        views=(
            ClientView(
                "fleet", "phaseline.engine.products.fleet.views:Fleet", "phaseline.engine.products.fleet.views:FleetView",
            ),
        ),
    ),
    Product(
        "Levels",
        routes=("phaseline.engine.products.levels.routes:ROUTES",),
        views=(ClientView("levels", "phaseline.engine.products.levels.views:Levels"),),
    ),
    Product(
        "Kubernetes",
        bans=(SECRETS,),
        libraries={COMPARISON.name: ("jsonpointer", "yaml"), SCRIPTS.name: ("lupa", "jq")},
    ),
)  # fmt: skip
BUILT_IN = tuple(table for product in PRODUCTS for table in product.kinds)

SOUND = "ebb772b89290"
"""The digest of these tables when they were checked, which `dev.py generate` writes. A worker checks others again."""


OF_NOTICES = "-notices"
"""How the prefix of an installation of notices ends: `pl-notices` has the notices about `pl`."""


def installed(prefix: str = "") -> Kinds:
    """The kinds of the installation with a prefix.

    Of notices: `notice`, `delivery` and `notifier` alone. Of others: the built-in kinds and those of installed
    packages, without the broken ones.
    """
    return _of_notices() if prefix.endswith(OF_NOTICES) else _ordinary()


@cache
def _ordinary() -> Kinds:
    return load(PRODUCTS, SOUND)


@cache
def _of_notices() -> Kinds:
    from phaseline.machines.kinds.notices import delivery, notice, notifier  # noqa: PLC0415  # few processes need them

    tables = (notice.NOTICE, delivery.DELIVERY, notifier.NOTIFIER)
    return Kinds(tables, tables, products=(Product("notices", kinds=tables),))
