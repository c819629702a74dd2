"""Loads the tables that a command line names: `package.module:NAME`, `path/to/file.py:NAME`, or `installed`.

Belongs here: importing them, and replacing installed tables of the same name.
"""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import Table
from phaseline.schemas.errors import InvalidInput

INSTALLED = "installed"


def load_kinds(where: str, installed: Kinds) -> Kinds:
    """The kinds that `where` names. Tables replace the installed ones of the same name; a `Kinds` is taken as it is.

    Raises `InvalidInput.bad_tables`.
    """
    if where == INSTALLED:
        return installed
    path, colon, name = where.rpartition(":")
    if not colon or not path or not name:
        raise InvalidInput.bad_tables(
            where=where, problem="write it as package.module:NAME or path/to/file.py:NAME, or `installed`"
        )
    value = _attribute(_module(where, path), where, name)
    if isinstance(value, Kinds):
        return value.guarded_by(installed.products or ())
    tables = list(value) if isinstance(value, Iterable) else [value]
    if not tables or not all(isinstance(table, Table) for table in tables):
        raise InvalidInput.bad_tables(
            where=where, problem=f"{name} must be a Table, a list of tables or a Kinds, found {type(value).__name__}"
        )
    known = {kind.name: kind.written for kind in installed.values()}
    try:
        together = tuple({**known, **{table.kind: table for table in tables}}.values())
        return Kinds(together, known.values(), products=installed.products)
    except WrongTable as error:
        raise InvalidInput.bad_tables(where=where, problem=str(error)) from None


def _module(where: str, path: str) -> ModuleType:
    """Import a module by its name or file, also from the current directory."""
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        if not path.endswith(".py"):
            return importlib.import_module(path)
        spec = importlib.util.spec_from_file_location(Path(path).stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except Exception as error:  # a module may raise anything when it is loaded
        raise InvalidInput.bad_tables(
            where=where, problem=f"it cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    return module


def _attribute(module: ModuleType, where: str, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        offered = ", ".join(each for each in vars(module) if each.isupper()) or "no name in capitals"
        raise InvalidInput.bad_tables(where=where, problem=f"the module has no {name}; it has {offered}") from None
