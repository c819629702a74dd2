"""Reading texts of YAML and JSON, as Kubernetes reads them.

Belongs here: texts to documents. There are no timestamps and no base-60 numbers, y is true, keys are strings.
"""

import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from math import inf
from typing import Any

from phaseline.schemas import bounds, libraries

with libraries.needed("yaml", "a manifest or a setting in YAML"):
    import yaml

MAX_VALUES = 1_000_000
"""The most values that a text may expand to: aliases and merge keys can make a short text huge."""
MAX_CHARACTERS = 64 << 20
"""The most characters that the texts in it may expand to."""

_TAG = "tag:yaml.org,2002:"
_TOO_MANY = f"it expands to more than {MAX_VALUES} values"
_WORDS = {"y": True, "yes": True, "on": True, "true": True, "n": False, "no": False, "off": False, "false": False}


_BREAKS = "\r\n\x85\u2028\u2029"
_LINE_STARTS = re.compile(f"(?:^|[{_BREAKS}])((?:[ \\t]|[-?:](?=[ \\t]))*)")
"""The blanks and indicators that a line starts with."""
_OWN_LIMIT = "maximum nesting depth"
"""What the library says if its own limit comes first: it looks ahead in a line."""
_QUOTED = re.compile(r"""(['"]).{2,}\1|(?<=: ).*""", re.DOTALL)


class _BadValue(ValueError):
    """A document is beyond a limit, or holds what JSON cannot. The message shows nothing of the document."""


class NotYaml(ValueError):
    """A text is not valid YAML. The message says what is wrong, and where."""


class _Loader(yaml.CSafeLoader):
    """Resolves plain scalars as Go's YAML library does."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # as in PyYAML

    told: list[str]
    """What to say of the text although it can be read."""

    def __init__(self, text: str | bytes) -> None:
        super().__init__(text)
        self._left, self._level = MAX_VALUES, 0
        self._seen: dict[int, Any] = {}

    def _tell_repeats(self, node: Any) -> None:
        """Note the keys that a map gives twice. A map that is named by aliases is looked at once."""
        self._seen[id(node)] = node
        keys: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != f"{_TAG}merge":
                if key.value in keys:
                    self.told.append(f"line {key.start_mark.line + 1}: {repeated(key.value)}")
                keys.add(key.value)

    def flatten_mapping(self, node: Any) -> None:
        """Merge the maps that `<<` names into a map; raises `_BadValue` if that makes it too large."""
        if id(node) not in self._seen:
            self._tell_repeats(node)
        named = [value for key, value in node.value if key.tag == f"{_TAG}merge"]
        parts = [part for one in named for part in (one.value if isinstance(one, yaml.SequenceNode) else [one])]
        self._level += 1
        if self._level > bounds.LEVELS:
            raise _BadValue(bounds.too_deep(bounds.LEVELS))
        for part in parts:
            if isinstance(part, yaml.MappingNode):
                self.flatten_mapping(part)
                self._left -= len(part.value)
            if self._left < 0:
                raise _BadValue(_TOO_MANY)
        self._level -= 1
        super().flatten_mapping(node)


def _resolve(tag: str, pattern: str, starts: str) -> None:
    _Loader.add_implicit_resolver(_TAG + tag, re.compile(pattern), list(starts))


_resolve(
    "bool", r"^(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$", "yYnNtTfFoO"
)
_resolve("int", r"^[-+]?(?:0b[01_]+|0o?[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)$", "-+0123456789")
_resolve("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789")
_resolve("float", r"^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$", "-+.")
_resolve("null", r"^(?:~|null|Null|NULL|)$", "~nN\0")
_resolve("merge", r"^(?:<<)$", "<")
_Loader.add_implicit_resolver(_TAG + "null", re.compile(r"^$"), [""])


def _bool(loader: Any, node: Any) -> bool:
    return _WORDS[loader.construct_scalar(node).lower()]


def _int(loader: Any, node: Any) -> int | float:
    text = loader.construct_scalar(node).replace("_", "")
    sign, digits = (-1 if text.startswith("-") else 1), text.lstrip("+-")
    if digits.startswith("0") and digits[1:].isdigit():
        digits = "0o" + digits[1:]
    try:
        number = sign * int(digits, 0)
    except ValueError:  # more digits than Python converts
        number = sign * bounds.MAX_WHOLE * 2
    if bounds.MIN_WHOLE <= number <= bounds.MAX_WHOLE:
        return number
    if not digits.isdigit() or float(digits) == inf:
        raise _BadValue("a whole number must have at most 64 bits")
    return sign * float(digits)  # as Go's library does


def _float(loader: Any, node: Any) -> float:
    text = loader.construct_scalar(node).replace("_", "").lower()
    return float(text.replace(".inf", "inf").replace(".nan", "nan"))


for _name, _construct in (("bool", _bool), ("int", _int), ("float", _float)):
    _Loader.add_constructor(_TAG + _name, _construct)


def repeated(key: str) -> str:
    """What to say of a key that a map gives twice."""
    return f"the key {key[:100]!r} is given twice in one map; the last one counts"


def too_deep_at(text: str, levels: int) -> tuple[int, int] | None:
    """Line and column, both from 1, of the first map or list nested deeper than `levels`; None if there is none.

    Each release of the library has a limit of its own for values, and older ones end the process. So the text is judged
    before, by the library's events, which it tells one after the other at any depth.
    """
    columns = 1 + max(map(len, _LINE_STARTS.findall(text)))
    if 2 * columns + text.count("[") + text.count("{") <= levels:  # a column holds two levels of a block
        return None
    depth = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > levels and event.start_mark is not None:
                return event.start_mark.line + 1, event.start_mark.column + 1
    except yaml.MarkedYAMLError as error:
        if error.problem_mark is not None and _OWN_LIMIT in str(error.problem):
            return error.problem_mark.line + 1, error.problem_mark.column + 1
        raise
    return None


def documents(text: str | bytes, told: list[str] | None = None) -> Iterator[Any]:
    """Every document of a text that is not empty; raises `NotYaml`. told: gets what to say of keys given twice."""
    told = [] if told is None else told
    try:
        text = text if isinstance(text, str) else _decoded(text)
        if at := too_deep_at(text, bounds.LEVELS):
            raise _BadValue(bounds.too_deep(bounds.LEVELS, at))
        loader = _Loader(text)
        loader.told = told
        try:
            while loader.check_data():  # type: ignore[no-untyped-call]  # as load_all does
                found = loader.get_data()
                if found is not None:
                    yield _with_string_keys(found, [MAX_VALUES, MAX_CHARACTERS], bounds.LEVELS)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, LookupError, AttributeError) as error:
        raise NotYaml(_describe(error)) from error


def json_documents(text: str | bytes, told: list[str] | None = None) -> Iterator[Any]:
    """Every document of a text of JSON, as `documents`; raises `NotYaml`."""
    told = [] if told is None else told

    def as_map(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            told.extend(repeated(name) for name in dict.fromkeys(names) if names.count(name) > 1)
        return made

    decoder = json.JSONDecoder(object_pairs_hook=as_map, parse_int=_whole, parse_float=_real, parse_constant=_constant)
    try:
        rest = text if isinstance(text, str) else text.decode("utf-8-sig")
        bounds.check_json_depth(rest.encode(errors="replace"), bounds.LEVELS)
        rest = rest.lstrip(_BLANK)
        while rest:
            found, end = decoder.raw_decode(rest)
            rest = rest[end:].lstrip(_BLANK)
            if found is not None:
                yield _with_string_keys(found, [MAX_VALUES, MAX_CHARACTERS], bounds.LEVELS)
    except json.JSONDecodeError as error:
        raise NotYaml(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except UnicodeDecodeError as error:
        raise NotYaml(f"it is no UTF-8 at byte {error.start}") from error
    except (_BadValue, bounds.Unbounded) as error:
        raise NotYaml(str(error)) from error


_BLANK = " \t\r\n"


def _whole(text: str) -> int | float:
    """A whole number; one beyond 64 bits as Go's library reads it."""
    if len(text) < 20 and bounds.MIN_WHOLE <= int(text) <= bounds.MAX_WHOLE:
        return int(text)
    return _real(text)


def _real(text: str) -> float:
    if abs(found := float(text)) == inf:
        raise _BadValue("a number is too large")
    return found


def _constant(name: str) -> float:
    raise _BadValue(f"{name} is no JSON")


def _decoded(text: bytes) -> str:
    """The characters of a YAML text: UTF-8, or UTF-16 with its mark, as the YAML library reads them."""
    try:
        return text.decode("utf-16" if text.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise _BadValue(f"it is no UTF-8 at byte {error.start}") from error


def document(text: str | bytes, told: list[str] | None = None) -> Any:
    """The first document of a text; None if there is none. told: as for `documents`."""
    return next(documents(text, told), None)


def _describe(error: Exception) -> str:
    """What is wrong, and where. The library quotes what it found; that may be a password, so it is left out."""
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    if isinstance(error, yaml.YAMLError):
        said = str(getattr(error, "problem", None) or "it is no valid YAML")
        return where + _QUOTED.sub("...", said)
    if isinstance(error, _BadValue):
        return str(error)
    return f"{where}a value is not of the type that its tag names ({type(error).__name__})"


def _with_string_keys(found: Any, left: list[int], levels: int) -> Any:
    """The document with strings as keys, as in JSON. left: the values and characters that it may still expand to."""
    left[0] -= 1
    if left[0] < 0:
        raise _BadValue(_TOO_MANY)
    if isinstance(found, str):
        left[1] -= len(found)
        if left[1] < 0:
            raise _BadValue(f"it expands to more than {MAX_CHARACTERS} characters")
    elif isinstance(found, dict | list):
        if not levels:
            raise _BadValue(bounds.too_deep(bounds.LEVELS))
        if isinstance(found, list):
            return [_with_string_keys(value, left, levels - 1) for value in found]
        return {_key(name): _with_string_keys(value, left, levels - 1) for name, value in found.items()}
    elif found is not None and not isinstance(found, int | float):
        raise _BadValue(f"a manifest cannot hold a {type(found).__name__}")  # reported as NotYaml
    return found


def _key(name: Any) -> str:
    if isinstance(name, bool):
        return "true" if name else "false"
    return "null" if name is None else str(name)
