"""One spelling for values that can be written in several ways: quantities, and values that equal an absent field.

Belongs here: the canonical form of a built-in kind. Does not: defaults of the API server (`defaults`).
"""

import re
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any

from phaseline.schemas.bounds import MAX_WHOLE

STRING_MAPS = frozenset(
    {
        "labels",
        "annotations",
        "nodeSelector",
        "matchLabels",
        "data",
        "binaryData",
        "stringData",
        "parameters",
        "volumeAttributes",
    }
)
"""Maps of strings, in which an empty value is a value."""
QUANTITIES = frozenset({
    "limits", "requests", "capacity", "allocatable", "hard", "used", "max", "min", "default", "defaultRequest",
    "maxLimitRequestRatio", "overhead", "podFixed", "allocatedResources", "cpu", "memory"})  # fmt: skip
"""Maps of quantities."""
QUANTITY = frozenset({"sizeLimit", "divisor", "averageValue", "threshold", "maximumVolumeSize"})
"""Fields that are a quantity."""
POINTERS = frozenset(
    {
        "storageClassName",
        "ingressClassName",
        "loadBalancerClass",
        "runtimeClassName",
        "volumeMode",
        "volumeAttributesClassName",
    }
)
"""Strings for which empty and absent differ."""
ZEROES = frozenset({
    "minReadySeconds", "hostPort", "initialDelaySeconds", "nodePort", "healthCheckNodePort", "observedGeneration",
    "collisionCount", "weight"})  # fmt: skip
"""Numbers for which 0 equals absent."""
FALSES = frozenset({
    "paused", "stdin", "stdinOnce", "tty", "readOnly", "hostNetwork", "hostPID", "hostIPC", "unschedulable",
    "publishNotReadyAddresses", "generateExisting", "globalDefault", "namespaced"})  # fmt: skip
"""Flags for which false equals absent."""
NEEDED = frozenset({"podSelector", "namespaceSelector", "objectSelector", "emptyDir"})
"""Maps that have a meaning even if empty."""

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


def quantity(found: object) -> object:
    """A Kubernetes quantity in canonical form; anything else unchanged."""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return found
    if isinstance(found, int) and abs(found) > MAX_WHOLE:
        return found
    text = str(found)
    return (_quantity(text) if len(text) <= LONGEST else None) or found


@lru_cache(maxsize=4096)
def _quantity(text: str) -> str | None:
    parts = _QUANTITY.fullmatch(text.strip())
    if parts is None or abs(int((parts[2] or "e0")[1:])) > EXPONENT:
        return None
    value = _EXACT.multiply(Decimal(parts[1] + (parts[2] or "")), _SCALES[parts[3] or ""])
    rounded = value.quantize(_NANO, context=_EXACT) if value != value.to_integral_value() else value
    return f"{rounded.normalize(_EXACT):f}"


def canonical(found: Any, name: str = "") -> Any:
    """The part `name` of a built-in kind in canonical form, without values that equal an absent field."""
    if isinstance(found, dict):
        return _canonical_map(found, name)
    if isinstance(found, list):
        return [canonical(value) for value in found]
    return quantity(found) if name in QUANTITY else found


def _canonical_map(found: dict[str, Any], name: str) -> dict[str, Any]:
    if name in STRING_MAPS:
        return {key: value for key, value in found.items() if value is not None}
    if name in QUANTITIES and not any(isinstance(value, dict | list) for value in found.values()):
        return {key: quantity(value) for key, value in found.items() if value is not None}
    made = {}
    for key, value in found.items():
        one = canonical(value, key) if isinstance(value, dict | list) or key in QUANTITY else value
        if one or not _is_nothing(key, one):
            made[key] = one
    return made


def _is_nothing(name: str, found: object) -> bool:
    if found is None or found == []:
        return True
    if found == {} and isinstance(found, dict):
        return name not in NEEDED
    if found == "":
        return name not in POINTERS
    if isinstance(found, bool):
        return not found and name in FALSES
    return found == 0 and name in ZEROES
