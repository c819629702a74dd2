"""Keeps a generated page, or the generated part of a page that people write otherwise.

Belongs here: the options of such a generator, checking and writing the page. Does not: what the part says
(`surfaces.accounts_page`, `surfaces.http.reference`), files of which one may be too many (`pages`).
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def keep(arguments: Sequence[str] | None, command: str, page: Path, renewed: Callable[[str], str] | str) -> int:
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
