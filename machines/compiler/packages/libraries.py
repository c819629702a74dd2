"""The libraries that the rules of kinds need to decide events.

Belongs here: `check`. Does not: which rule needs which (`Product.libraries`), the libraries' names and extras
(`schemas.libraries`), rules.
A worker must not decide an event differently because a library is missing, so it calls `check` before it begins.
"""

from collections.abc import Iterator
from importlib import import_module

from phaseline.machines.compiler.fingerprint import declarations
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.rules import Revision
from phaseline.machines.language.table import Table
from phaseline.schemas import libraries


def check(kinds: Kinds) -> None:
    """Load the libraries that the rules of these kinds need; raises `NotInstalled` if one is not installed here."""
    needed = {name: modules for product in kinds.products or () for name, modules in product.libraries.items()}
    for kind in kinds.values():
        for name in _revisions(kind.table):
            for module in needed.get(name, ()):
                with libraries.needed(module, f"the kind {kind.name}"):
                    import_module(module)


def _revisions(table: Table) -> Iterator[str]:
    """The names of the rules in a table and of the libraries that they declare."""
    for declared in declarations(table):
        yield declared.revision.name
        yield from (use.name for use in declared.uses if isinstance(use, Revision))
