"""Tables that were checked before and are loaded when somebody needs one: most processes need those of one tree.

Belongs here: the tables of a tree as the engine runs them, loaded at their first use. Does not: which tables there are
(`machines.built_in`), kinds (`kinds`), what the engine adds to a table (`completion`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from phaseline.machines.compiler.completion import completed
from phaseline.machines.language.product import LateTable, load
from phaseline.machines.language.table import Table


def table_of(written: Table | LateTable) -> Table:
    """The table, loaded if it is not loaded yet."""
    if not isinstance(written, LateTable):
        return written  # if it is no table, the checks say so
    found: Table = load(written.at)
    return found


class LateTree(Mapping[str, Table]):
    """The tables of the kinds below one root, by kind, completed. The first look at one of them loads them all.

    Whatever a table refers to stands above it or below it, so no other tree has a say in what is added to it.
    """

    def __init__(self, written: Sequence[Table | LateTable]) -> None:
        """Nothing is loaded yet."""
        self._written = written
        self._found: dict[str, Mapping[str, Table]] = {}

    def _tables(self) -> Mapping[str, Table]:
        if not self._found:
            tables = tuple(map(table_of, self._written))
            # Of two threads that load at once, the first one decides: what was handed out stays.
            self._found.setdefault("completed", {table.kind: completed(table, tables) for table in tables})
        return self._found["completed"]

    def __getitem__(self, kind: str) -> Table:
        """The table of a kind, as the engine runs it."""
        return self._tables()[kind]

    def __iter__(self) -> Iterator[str]:
        """The kinds, in the order of the installation."""
        return (one.kind for one in self._written)

    def __len__(self) -> int:
        """How many kinds there are."""
        return len(self._written)


def late_trees(tables: Iterable[Table | LateTable]) -> dict[str, LateTree]:
    """The tree of each kind. Kinds below one root have one tree."""
    written = {table.kind: table for table in tables}
    roots = {kind: _root(written, kind) for kind in written}
    trees = {
        root: LateTree([table for kind, table in written.items() if roots[kind] == root])
        for root in dict.fromkeys(roots.values())
    }
    return {kind: trees[root] for kind, root in roots.items()}


def _root(written: Mapping[str, Table | LateTable], kind: str) -> str:
    while (parent := written[kind].parent) is not None:
        kind = parent
    return kind
