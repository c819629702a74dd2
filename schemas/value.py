"""Values that do not change, and that each process makes classes of when it starts: parts of tables, settings.

Belongs here: their base, `Value`. Does not: any of these classes.
They are structs, because a frozen dataclass takes 27 times as long to make. People who change tables and settings know
the function replace of dataclasses, so it takes them too.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

if TYPE_CHECKING:
    from dataclasses import Field


@cache
def _dataclass_fields(of: type[Struct]) -> "dict[str, Field[Any]]":
    import dataclasses  # noqa: PLC0415  # few processes ask

    made = []
    for one in fields(of):
        given = {"default": one.default, "default_factory": one.default_factory}
        default = {name: value for name, value in given.items() if value is not NODEFAULT}
        made.append((one.name, one.type, dataclasses.field(**default)))
    found: dict[str, Field[Any]] = vars(dataclasses.make_dataclass(of.__name__, made))["__dataclass_fields__"]
    return found


class _DataclassFields:
    """What `dataclasses` asks of a class, made when it asks."""

    def __get__(self, _: object, of: type[Struct]) -> "dict[str, Field[Any]]":
        return _dataclass_fields(of)


class Value(Struct, frozen=True):
    """A value that does not change. `dataclasses.replace` makes another one of it."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    else:
        __dataclass_fields__ = _DataclassFields()
