"""The attributes of a table that earlier tables called otherwise (was= of a field).

Belongs here: reading these names, checking them. Does not: giving entities the new names
(`engine.core.tables_change.renaming`).
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from phaseline.machines.language.endings import END, SHOWS
from phaseline.machines.language.fields import FREE, Field
from phaseline.machines.language.table import Table


@lru_cache(maxsize=1_000)
def earlier_names(table: Table) -> Mapping[str, Field]:
    """By earlier name, the attribute that is called otherwise now."""
    return {name: field for field in table.attributes for name in field.was}


def problems(table: Table) -> Iterator[str]:
    """Earlier names that are still there or stand twice, and those of what no entity keeps."""
    present, seen = {field.name for field in table.attributes}, dict[str, str]()
    for field in table.attributes:
        for name in field.was:
            if name in present:
                yield f"{field.name} was {name}, but {name} still is an attribute: remove that, or the earlier name"
            elif name in (FREE, END, SHOWS):
                yield f"{field.name} was {name}, but the engine keeps something of its own there: remove it from was="
            elif name in seen:
                yield f"{field.name} and {seen[name]} were {name}: remove the earlier name from one of them"
            seen.setdefault(name, field.name)
    data = (field for fields in table.fields.values() for field in fields)
    added = (field for interpret in table.interprets for field in interpret.fields)
    for field in (*data, *added):
        if field.was:
            yield f"{field.name} has an earlier name, but no entity keeps a field of data: remove was="
