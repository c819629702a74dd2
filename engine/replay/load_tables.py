"""Tables named on a command line: `package.module:NAME`, `path/to/file.py:NAME`, or `installed`.

Belongs here: finding them and putting them in the place of those installed. Does not: tables, what is done with them.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from phaseline.engine.errors import BadTables
from phaseline.machines.built_in import installed
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import Table

INSTALLED = "installed"


def kinds_at(where: str) -> Kinds:
    """The kinds that `where` names: a `Kinds` as it is; tables take the place of installed ones of the same name.

    Raises `BadTables` saying what is wrong.
    """
    if where == INSTALLED:
        return installed()
    place, colon, name = where.rpartition(":")
    if not colon or not place or not name:
        raise BadTables(where=where, problem="write it as package.module:NAME or path/to/file.py:NAME, or `installed`")
    found = _attribute(_module(where, place), where, name)
    if isinstance(found, Kinds):
        return found
    tables = list(found) if isinstance(found, Iterable) else [found]
    if not tables or not all(isinstance(table, Table) for table in tables):
        raise BadTables(
            where=where, problem=f"{name} is no Table, no list of tables and no Kinds, but {type(found).__name__}"
        )
    named = {kind.name: kind.table for kind in installed().values()} | {table.kind: table for table in tables}
    try:
        return Kinds(tuple(named.values()))
    except WrongTable as error:
        raise BadTables(where=where, problem=str(error)) from None


def _module(where: str, place: str) -> ModuleType:
    """Import it as a person in this directory would expect."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a module raises when it is loaded
        raise BadTables(where=where, problem=f"it cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _attribute(module: ModuleType, where: str, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        offered = ", ".join(word for word in vars(module) if word.isupper()) or "nothing in capitals"
        raise BadTables(where=where, problem=f"there is no {name} in it; there is {offered}") from None
