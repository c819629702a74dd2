"""The products that come with Phaseline, and the kinds of an installation.

Belongs here: the products (`PRODUCTS`), their tables (`BUILT_IN`), the kinds of other packages beside them, and those
of an installation of notices (`installed`). Does not: any table, finding other packages
(`compiler.packages`), checking and compiling tables (`compiler.kinds`).
"""

from functools import cache

from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.packages import load
from phaseline.machines.language.product import ClientView, CopiedEvent, LateTable, Product, WorkerService
from phaseline.machines.language.scripts import SCRIPTS

_KINDS = "phaseline.machines.kinds"


def _late(package: str, kind: str, of: str, parent: str | None = None) -> LateTable:
    """The table of a kind. of: the names of the parts of its ids."""
    return LateTable(kind, tuple(of.split("/")), parent, f"{_KINDS}.{package}.{kind}:{kind.upper()}")


PRODUCTS = (
    Product(
        "edge hosting",
        kinds=(
            _late("edge_hosting", "cluster",   "cluster"),
            _late("edge_hosting", "node_pool", "cluster/pool",      "cluster"),
            _late("edge_hosting", "node",      "cluster/pool/node", "node_pool"),
            _late("edge_hosting", "component", "cluster/component", "cluster"),
        ),
    ),
    Product(
        "EMCO",
        kinds=(
            _late("emco", "emco_resource",  "resource"),
            _late("emco", "app_context",    "resource/context",                  "emco_resource"),
            _late("emco", "app_cluster",    "resource/context/app/cluster",      "app_context"),
            _late("emco", "rsync_resource", "resource/context/app/cluster/name", "app_cluster"),
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
            _late("gitops", "application_set", "set"),
            _late("gitops", "application",     "set/application",                           "application_set"),
            _late("gitops", "resource",        "set/application/kind/namespace/name",       "application"),
            _late("gitops", "owned_object",    "set/application/kind/namespace/name/owned", "resource"),
        ),
        copies=(CopiedEvent("resource", "observed", "live"), CopiedEvent("owned_object", "observed")),
        views=(ClientView("gitops", "phaseline.engine.products.gitops.views:Gitops"),),
    ),
    Product(
        "Fleet",
        kinds=(
            _late("fleet", "git_repo",          "repo"),
            _late("fleet", "bundle",            "repo/bundle",                             "git_repo"),
            _late("fleet", "bundle_deployment", "repo/bundle/cluster",                     "bundle"),
            _late("fleet", "bundle_resource",   "repo/bundle/cluster/kind/namespace/name", "bundle_deployment"),
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
        bans=(f"{_KINDS}.kubernetes.secret_values:SECRETS",),
        libraries={"kubernetes.comparison": ("jsonpointer", "yaml"), SCRIPTS.name: ("lupa", "jq")},
    ),
)  # fmt: skip
"""Their tables and bans are named, not imported: a process that reads nodes needs four tables of sixteen."""
BUILT_IN = tuple(table for product in PRODUCTS for table in product.kinds)

SOUND = "b96d0a99d527"
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
