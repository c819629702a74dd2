"""What a table is made of: the base of the classes of the table language.

Belongs here: `TablePart`. Does not: any of these classes.
They are structs because each process makes these classes when it starts, and a frozen dataclass takes 27 times as long
to make. People who change tables know the function replace of dataclasses, so it takes them too.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

if TYPE_CHECKING:
    from dataclasses import Field


@cache
def _dataclass_fields(part: type[Struct]) -> "dict[str, Field[Any]]":
    import dataclasses  # noqa: PLC0415  # few processes ask

    made = []
    for one in fields(part):
        given = {"default": one.default, "default_factory": one.default_factory}
        default = {name: value for name, value in given.items() if value is not NODEFAULT}
        made.append((one.name, one.type, dataclasses.field(**default)))
    found: dict[str, Field[Any]] = vars(dataclasses.make_dataclass(part.__name__, made))["__dataclass_fields__"]
    return found


class _DataclassFields:
    """What `dataclasses` asks of a class, made when it asks."""

    def __get__(self, _: object, part: type[Struct]) -> "dict[str, Field[Any]]":
        return _dataclass_fields(part)


class TablePart(Struct, frozen=True):
    """A part of a table: a value that does not change. `dataclasses.replace` makes another one of it."""

    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    else:
        __dataclass_fields__ = _DataclassFields()
