"""The tables of docs/errors.md, made from the errors.

Belongs here: that part of the page. Does not: the rest of the page, which people write; the errors (`schemas.errors`).
"""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from phaseline.machines.docs.written_part import keep
from phaseline.schemas.errors import PhaselineError, every

PAGE = Path("docs/errors.md")
COMMAND = "python3 dev.py generate"
BEGIN = f"<!-- Written by `{COMMAND}` from schemas/errors.py, up to the end of the page. -->"


def reference() -> str:
    """A table for each group: its errors with their sentences, exit codes, statuses and remedies."""
    lines = [BEGIN]
    for group, found in groupby(every(), _group):
        if group is not PhaselineError:
            lines += ["", f"## {group.__name__}", "", "| error | sentence | exit code | HTTP |", "|---|---|---|---|"]
            lines += map(_row, found)
    return "\n".join(lines) + "\n"


def _group(error: PhaselineError) -> type[PhaselineError]:
    """The class directly below `PhaselineError` that an error belongs to."""
    above = type(error).__mro__
    return above[max(0, above.index(PhaselineError) - 1)]


def _row(error: PhaselineError) -> str:
    sentence = re.sub(r"\{(\w+)[^}]*\}", r"*\1*", error.sentence)
    text = (sentence + (f" ({error.remedy})" if error.remedy else "")).replace("<", r"\<").replace("|", r"\|")
    name = f"`{error.code}`" + (f", class `{type(error).__name__}`" if error.code == type(error).code else "")
    return f"| {name} | {text} | {error.exit_code} | {error.status} |"


def renewed(page: str) -> str:
    """The page with the present tables."""
    return page.partition(BEGIN)[0] + reference()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the tables; 1 if `--check` finds them stale."""
    return keep(arguments, COMMAND, PAGE, renewed)
