"""A kind of somebody else's package that is broken: commands go on without it, and workers refuse to start."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from phaseline.machines import built_in
from phaseline.machines.language.product import BrokenKind
from phaseline.schemas.errors import SetupError
from tests.support.command import COMMAND, ROOT
from tests.support.installation import Settings, Wire, Worker
from tests.support.raising import raises

SAMPLES = "from tests.support.sample_kinds import FRUIT, LADDER, ORCHARD, ROW\n"
PACKAGES = {
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


def install(folder: Path, *names: str) -> None:
    """Write packages as an installer leaves them: a module and its metadata."""
    for name in names:
        module, entries = PACKAGES[name]
        (folder / f"{name}.py").write_text(module)
        about = folder / f"{name}-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        lines = [f"{entry} = {target}" for entry, target in entries.items()]
        (about / "entry_points.txt").write_text("\n".join(["[phaseline.kinds]", *lines, ""]))


@pytest.fixture
def one_broken(monkeypatch: pytest.MonkeyPatch) -> BrokenKind:
    """A broken kind beside those that are installed here."""
    broken = BrokenKind("acme-kinds 1.2", "crate", "acme:CRATE", "No module named 'rust'")
    monkeypatch.setattr(built_in.installed(), "broken", (broken,))
    return broken


def test_other_commands_go_on_with_a_warning(tmp_path: Path) -> None:
    install(tmp_path, "bad_absent")
    words = [*COMMAND, "kinds", "show", "cluster"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NO_COLOR": "1"}
    done = subprocess.run(words, env=environment, check=False, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, "cluster" in done.stdout) == (0, True)
    assert done.stderr == (
        "warning: the kind crate of the package bad_absent 1.2 (bad_absent:CRATE) cannot be used: "
        "No module named 'nowhere_at_all' (bad_absent.py, line 1); it is left out here\n"
    )


async def test_a_worker_refuses_to_start(one_broken: BrokenKind, settings: Settings, wire: Wire) -> None:
    with raises(SetupError.kinds_broken, match=r"acme-kinds 1\.2"):
        await Worker(wire, settings, built_in.installed()).run(asyncio.Event())
