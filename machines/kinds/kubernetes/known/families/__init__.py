"""The rows of the table of known kinds, one module for each family of kinds.

Belongs here: the modules of rows, in the order in which their globs are tried. Does not: the words of rows (`rows`).
To add a family, write a module with a tuple FAMILIES, and name it here. Facts come from the vendors' types, in our
words.
"""

from functools import cache
from importlib import import_module

from phaseline.machines.kinds.kubernetes.known.rows import Family

MODULES = (
    "argo",
    "certificates",
    "cloud",
    "clusters",
    "databases",
    "flux",
    "gateway",
    "kubernetes",
    "messaging",
    "monitoring",
    "platform",
    "secrets",
    "storage",
    "workloads",
)


@cache
def families() -> tuple[Family, ...]:
    """All families. Their modules are loaded with the first object that is assessed: most commands assess none."""
    modules = (import_module(f"{__name__}.{module}") for module in MODULES)
    return tuple(family for module in modules for family in module.FAMILIES)
