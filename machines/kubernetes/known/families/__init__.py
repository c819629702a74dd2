"""The rows of the table of known kinds, one module for each family of kinds.

Belongs here: the modules of rows, in the order in which their globs are tried. Does not: the words of rows (`rows`).
To add a family, write a module with `FAMILIES` and name it here. Facts come from the vendor's types, in our words.
"""

from importlib import import_module

from phaseline.machines.kubernetes.known.rows import Family

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
FAMILIES: tuple[Family, ...] = tuple(
    family for module in MODULES for family in import_module(f"{__name__}.{module}").FAMILIES
)
