"""The options that choose entities and their order: `-l` and `--sort-by`.

Belongs here: these options. Does not: what they mean (`client.selection`).
"""

from collections.abc import Callable, Iterable

import click

from phaseline.engine.log.questions.selector import EVERYTHING, Selector
from phaseline.engine.surfaces.cli.help import Function, option
from phaseline.engine.surfaces.cli.options import ParsedText
from phaseline.engine.surfaces.client.selection import FIELDS

UNSORTED = "none"
"""The order of what is printed as soon as it is read."""


selector = option(
    "selection", "-l", "--selector", type=ParsedText("selector", Selector.read), default=EVERYTHING, metavar="SELECTOR",
    help="Only entities with such attributes or labels, as kubectl selects: a=b, a!=b, 'a in (x,y)', a, !a.",
)  # fmt: skip
sort_by = click.option(
    "--sort-by", metavar="FIELD",
    help=f"Sort by a field ({', '.join(FIELDS)}) or an attribute, instead of by id; {UNSORTED}: print what is read.",
)  # fmt: skip


def sort_by_column(fields: Iterable[str], default: str) -> Callable[[Function], Function]:
    """Add `--sort-by` to a command that prints another table."""
    return click.option("--sort-by", metavar="FIELD", help=f"Sort by {', '.join(fields)}, instead of {default}.")
