"""The kinds of the examples and of docs/own-kinds.md, compiled without installing their packages.

Belongs here: reading these tables. Does not: kinds made for tests (`sample_kinds`), the packages themselves
(`test_own_kind`, `test_docs_own_kinds`).
"""

import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "own-kinds.md"
PART = re.compile(r"```python\n# backup_job_kind/table\.py(?:, continued)?\n(.*?)```", re.DOTALL)


@cache
def own_kinds() -> Kinds:
    """Backups, as the page builds them; releases; racks."""
    backups: dict[str, Any] = {"__name__": "backup_job_kind.table"}
    exec("\n".join(PART.findall(PAGE.read_text(encoding="utf-8"))), backups)
    release = runpy.run_path(str(ROOT / "examples" / "own_kind" / "acme_kinds" / "release.py"))["RELEASE"]
    rack = runpy.run_path(str(ROOT / "examples" / "new_kind" / "rack_kind" / "table.py"))["RACK"]
    return Kinds((*backups["KINDS"], release, rack), products=PRODUCTS)
