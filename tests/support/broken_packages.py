"""Packages of somebody else's kinds, most of them broken, as an installer leaves them.

Belongs here: their modules and metadata. Does not: what is said of them (`tests/pure/test_broken_packages.py`).
"""

from collections.abc import Mapping
from pathlib import Path

Packages = Mapping[str, tuple[str, Mapping[str, str]]]

SAMPLES = "from tests.support.sample_kinds import FRUIT, LADDER, ORCHARD, ROW\n"
PACKAGES: Packages = {
    # By package: its module, and its entry points. `row` needs `orchard`, of another package; `fruit` needs `row`.
    "acme_fruit": (SAMPLES, {"fruit": "acme_fruit:FRUIT", "ladder": "acme_fruit:LADDER"}),
    "acme_row": (SAMPLES, {"row": "acme_row:ROW"}),
    "acme_trees": (SAMPLES, {"orchard": "acme_trees:ORCHARD"}),
    "bad_absent": ("import nowhere_at_all\n", {"crate": "bad_absent:CRATE"}),
    "bad_raises": ("X = 1\nY = X / 0\n", {"drum": "bad_raises:Y"}),
    "bad_ends": ("import sys\nsys.exit('no licence')\n", {"keg": "bad_ends:KEG"}),
    "bad_types": ("TABLE = 'a table'\n", {"sack": "bad_types:TABLE", "pod": "bad_types:NOTHING"}),
    "bad_table": (
        "from dataclasses import replace\n" + SAMPLES + "CART = replace(LADDER, kind='cart', parent='nowhere')\n",
        {"cart": "bad_table:CART"},
    ),
}


def install(folder: Path, *names: str, more: Packages | None = None) -> None:
    """Write packages as an installer leaves them: a module and its metadata. more: packages of the test's own."""
    for name, (module, entries) in {**{name: PACKAGES[name] for name in names}, **(more or {})}.items():
        (folder / f"{name}.py").write_text(module)
        about = folder / f"{name}-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = [f"{entry} = {target}" for entry, target in entries.items()]
        (about / "entry_points.txt").write_text("\n".join(["[phaseline.kinds]", *lines, ""]))
