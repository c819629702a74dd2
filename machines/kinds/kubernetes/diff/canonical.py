"""One spelling for values that can be written in several ways, and what equals an absent field: both by type.

Belongs here: the canonical form of quantities, bytes, times and durations; leaving out what says nothing. Does not: the
types (`types`), defaults of the API server (`defaults`).
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

from phaseline.machines.kinds.kubernetes.diff.defaults import REACHES
from phaseline.machines.kinds.kubernetes.diff.types import FieldType
from phaseline.machines.kinds.kubernetes.durations import NoDuration, seconds

_NANO = Decimal("1e-9")
_SCALES = {
    "": Decimal(1), "n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "k": Decimal(10) ** 3,
    **{unit: Decimal(10) ** (3 * power) for power, unit in enumerate("MGTPE", 2)},
    **{f"{unit}i": Decimal(2) ** (10 * power) for power, unit in enumerate("KMGTPE", 1)},
}  # fmt: skip
_QUANTITY = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([eE][+-]?[0-9]{1,3})|([numkMGTPE]|[KMGTPE]i)?)")
LONGEST, EXPONENT = 64, 99
"""The most characters of a quantity, and its largest exponent. Anything beyond is compared as a text."""
_EXACT = Context(prec=4 * EXPONENT, rounding="ROUND_UP")
"""Holds every quantity within these limits without rounding."""
_WIDEST = 1 << (3 * LONGEST)
"""Whole numbers from here on have too many digits for a quantity."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_BLANKS = str.maketrans("", "", " \t\r\n")


def quantity(found: object) -> object:
    """A Kubernetes quantity in canonical form; anything else unchanged."""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return found
    if isinstance(found, int) and not -_WIDEST < found < _WIDEST:
        return found
    text = str(found)
    return (_quantity(text) if len(text) <= LONGEST else None) or found


@lru_cache(maxsize=4096)
def _quantity(text: str) -> str | None:
    parts = _QUANTITY.fullmatch(text.strip())
    if parts is None or abs(int((parts[2] or "e0")[1:])) > EXPONENT:
        return None
    value = _EXACT.multiply(Decimal(parts[1] + (parts[2] or "")), _SCALES[parts[3] or ""])
    if not value:
        return "0"
    rounded = value.quantize(_NANO, context=_EXACT) if value != value.to_integral_value() else value
    return f"{rounded.normalize(_EXACT):f}"


def coded(found: object) -> object:
    """Bytes in base64, as they are usually written: no line breaks, all the padding. Anything else unchanged."""
    if not isinstance(found, str):
        return found
    text = found.translate(_BLANKS)
    try:
        plain = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return found
    return base64.b64encode(plain).decode()


def moment(found: object) -> object:
    """A time in UTC; anything else unchanged."""
    if not isinstance(found, str) or (parts := _TIME.fullmatch(found)) is None:
        return found
    fraction = (parts[1] or "").rstrip("0").rstrip(".")
    try:
        at = datetime.fromisoformat(found[:19] + parts[2]).astimezone(UTC)
    except (ValueError, OverflowError):
        return found
    return f"{at:%Y-%m-%dT%H:%M:%S}{fraction}Z"


def length(found: object) -> object:
    """A duration in seconds; anything else unchanged."""
    try:
        return str(seconds(found).normalize()) if isinstance(found, str) else found
    except NoDuration:
        return found


def number(found: object) -> object:
    """A whole number that may also be written as a text, as a text; anything else unchanged."""
    return str(found) if type(found) is int and -_WIDEST < found < _WIDEST else found


SPELLINGS: Mapping[str, Callable[[object], object]] = {
    "quantity": quantity, "bytes": coded, "time": moment, "duration": length, "number or text": number,
}  # fmt: skip
"""By form of a type: its values in one spelling."""


class Respelt(str):
    """A value in the one spelling, which knows how it was written."""

    __slots__ = ("written",)
    written: object


def _respelt(found: object, spell: Callable[[object], object]) -> object:
    made = spell(found)
    if made is found or made == found or not isinstance(made, str):
        return made
    known = Respelt(made)
    known.written = found
    return known


def as_written(found: Any) -> Any:
    """A canonical value as its side wrote it."""
    if isinstance(found, Respelt):
        return found.written
    if isinstance(found, dict):
        return {name: as_written(value) for name, value in found.items()}
    return [as_written(value) for value in found] if isinstance(found, list) else found


def canonical(found: Any, type_: FieldType) -> Any:
    """A value of a type in canonical form. What has no type stays as it is."""
    form = type_.form
    if form == "any" and not type_.fields:
        return found
    if isinstance(found, dict):
        return {name: canonical(value, type_.of(name)) for name, value in found.items()}
    if isinstance(found, list):
        return [canonical(value, type_.item) for value in found]
    spell = SPELLINGS.get(form)
    return found if spell is None else _respelt(found, spell)


Copies = dict[int, Any]
"""By the identity of a map or list, its copy."""


def pruned(found: Any, type_: FieldType, copies: Copies | None = None) -> Any:
    """A copy of a canonical value without what equals an absent field.

    copies: of the maps and lists that were copied before, which are not copied again, except where `REACHES` says so.
    The caller keeps all of them.
    """
    return _pruned(found, type_, {} if copies is None else copies)


def _pruned(found: Any, type_: FieldType, copies: Copies) -> Any:
    form = type_.form
    if (form == "any" and not type_.fields) or not isinstance(found, dict | list):
        return found
    made: Any = copies.get(id(found))
    if made is not None:
        return made
    if isinstance(found, list):
        made = [_pruned(value, type_.item, copies) for value in found]
    elif form != "struct":
        parts = {name: type_.of(name) for name in found}
        said = ((name, value) for name, value in found.items() if value or not parts[name].unwritten)
        made = {name: _pruned(value, parts[name], copies) for name, value in said}
    else:
        made, own = {}, REACHES.get(type_.adds, ())
        for name, value in found.items():
            part = type_.of(name)
            kept = _pruned(value, part, {} if name in own else copies) if isinstance(value, dict | list) else value
            if (kept and kept != "0") or not is_nothing(kept, part):
                made[name] = kept
    copies[id(found)] = made
    return made


_ZEROES: Mapping[str, tuple[object, ...]] = {
    "string": ("",), "bytes": ("",), "boolean": (False,), "integer": (0,), "number": (0,), "quantity": ("0", 0, ""),
    "integer or string": (0, ""), "list": ([],), "map": ({},), "struct": ({},),
}  # fmt: skip


def is_nothing(found: object, type_: FieldType) -> bool:
    """Whether a value of a field in a struct says no more than if the field were absent."""
    if found is None:
        return True
    if type_.tells_zero:
        return False
    flag = isinstance(found, bool)
    return any(found == zero and flag == isinstance(zero, bool) for zero in _ZEROES.get(type_.form, ()))
