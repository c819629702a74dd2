"""The built-in tables, compiled once for all tests of a process.

Belongs here: `BUILT_IN_KINDS`, and some of them by themselves. Does not: kinds made for tests (`sample_kinds`).
"""

from functools import cache

from phaseline.machines.built_in import BUILT_IN, PRODUCTS
from phaseline.machines.compiler.kinds import Kinds

BUILT_IN_KINDS = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS)
KINDS_OF_PRODUCT = {
    "edge-hosting": ("cluster", "node_pool", "node", "component"),
    "emco": ("emco_resource", "app_context", "app_cluster", "rsync_resource"),
    "gitops": ("application_set", "application", "resource", "owned_object"),
    "fleet": ("git_repo", "bundle", "bundle_deployment", "bundle_resource"),
}
"""The kinds of each product, by the name of its page in docs/spec."""


@cache
def family(name: str) -> Kinds:
    """The kinds of one product, by themselves."""
    return Kinds(
        tuple(table for table in BUILT_IN if table.kind in KINDS_OF_PRODUCT[name]), checked=BUILT_IN, products=PRODUCTS
    )
