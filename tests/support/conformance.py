"""Cases from real systems, where they are at hand: in the folder that PHASELINE_CONFORMANCE names, or beside the checkout.

Belongs here: finding and reading them. Does not: what they say.
"""

import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(os.environ.get("PHASELINE_CONFORMANCE") or Path(__file__).parents[3] / "shared" / "conformance")


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of one file; none where it is not there."""
    path = FOLDER / name
    return list(json.loads(path.read_text(encoding="utf-8"))["cases"]) if path.is_file() else []
