"""Reads test cases that come from real systems.

They are in the folder that PHASELINE_CONFORMANCE names, or in ../shared beside the checkout. If neither exists, there
are no cases. Belongs here: finding and reading them. Does not: the tests that use them.
"""

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("PHASELINE_CONFORMANCE") or Path(__file__).parents[3] / "shared" / "conformance")


def read(name: str) -> dict[str, Any]:
    """The content of one file; empty if the file does not exist."""
    path = FOLDER / name
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of one file; an empty list if the file does not exist."""
    return list(read(name).get("cases", ()))
