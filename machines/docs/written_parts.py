"""Generated parts of files that people write otherwise, such as the tables of docs/errors.md.

Belongs here: keeping such a part, those tables. Does not: the parts that surfaces keep (`surfaces.accounts_page`,
`surfaces.http.reference`, `surfaces.telemetry.page`), the digest of the built-in tables (`pages`).
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

from phaseline.schemas.errors import PhaselineError, every

COMMAND = "python3 dev.py generate"
ERRORS = Path("docs/errors.md")
BEGIN = f"<!-- Written by `{COMMAND}` from schemas/errors.py, up to the end of the page. -->"


def keep_part(
    arguments: Sequence[str] | None, command: str, page: Path, renewed: Callable[[str], str] | str
) -> int:  # fmt: skip
    """Write or check what is generated of a page; 1 if `--check` finds it stale.

    command: how people call the generator. page: from the project's root. renewed: the page as it should be, or what
    makes it from the page as it is.
    """
    parser = argparse.ArgumentParser(prog=command, description=f"Write what is generated of {page}.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is stale")
    parser.add_argument("--to", type=Path, default=Path(), metavar="DIR", help="the project's root (default: here)")
    chosen = parser.parse_args(arguments)
    path = chosen.to / page
    found = path.read_text(encoding="utf-8") if path.is_file() else ""
    wanted = renewed if isinstance(renewed, str) else renewed(found)
    if found == wanted:
        return 0
    if not chosen.check:
        path.write_text(wanted, encoding="utf-8")
    sys.stdout.write(f"{'stale' if chosen.check else 'written'}: {page}\n")
    return 1 if chosen.check else 0


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


def with_errors(page: str) -> str:
    """The page of errors with the present tables."""
    return page.partition(BEGIN)[0] + reference()


def keep_errors(arguments: Sequence[str] | None = None) -> int:
    """Write or check the tables of errors; 1 if `--check` finds them stale."""
    return keep_part(arguments, COMMAND, ERRORS, with_errors)
