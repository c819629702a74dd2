"""What a request may say in its path and its query: names, types, bounds, and reading them.

Belongs here: `Parameter`, from a text to its value. Does not: which request has which parameters (`routes`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from phaseline.engine.log.when import KNOWN, parse, seconds_of
from phaseline.schemas.errors import InvalidInput, NameUnknown, did_you_mean

Type = Literal["text", "integer", "flag", "moment", "duration"]
LONGEST = 4_096
"""The most characters of a value."""
TRUE, FALSE = ("1", "true", ""), ("0", "false")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. many: it may be given several times. least, most: of an integer. options: the only values."""

    name: str
    doc: str
    type: Type = "text"
    many: bool = False
    default: Any = None
    least: int | None = None
    most: int | None = None
    options: tuple[str, ...] = ()
    is_path: bool = False
    example: Any = None

    def read(self, text: str) -> Any:
        """The value of a text; raises `InvalidInput.bad_parameter`."""
        try:
            return self._value(text)
        except (ValueError, InvalidInput) as error:
            raise InvalidInput.bad_parameter(name=self.name, problem=str(error)) from None

    def _value(self, text: str) -> Any:
        """The value of a text; raises `ValueError`, `InvalidInput`."""
        if len(text) > LONGEST:
            raise ValueError(f"has {len(text)} characters, at most {LONGEST} are taken")
        if self.type == "integer":
            return self._integer(text)
        if self.type == "flag":
            if text.lower() not in (*TRUE, *FALSE):
                raise ValueError(f"must be 1 or 0, found {text[:64]!r}")
            return text.lower() in TRUE
        if self.type == "moment":
            return _moment(text)
        if self.type == "duration":
            if (seconds := seconds_of(text)) is None:
                raise ValueError(f"must be a duration such as 90s, 10m, 2h or 1d, found {text[:64]!r}")
            return seconds
        if self.options and text not in self.options:
            meant = did_you_mean(text, self.options)
            raise ValueError(f"must be one of {', '.join(self.options)}, found {text[:64]!r}{meant}")
        return text

    def _integer(self, text: str) -> int:
        if not (text.isascii() and text.removeprefix("-").isdigit()):
            raise ValueError(f"must be a whole number, found {text[:64]!r}")
        if len(text) > 19:
            raise ValueError(f"must be a whole number of at most 19 digits, found {text[:64]}")
        value = int(text)
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            bounds = f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"
            raise ValueError(f"must be {bounds}, found {value}")
        return value


def moves_on(when: str | None) -> bool:
    """Whether a text names another moment as time goes by: `15m`, `03:12`. Now does so with the log alone."""
    return when is not None and not when.isdecimal() and (seconds_of(when) is not None or when[2:3] == ":")


def _moment(text: str) -> str:
    """The text itself, once it is known to name a moment. In a query, a `+` that is not encoded is a blank."""
    text = text.replace(" ", "+")
    if text.isdecimal() and len(text) > 18:
        raise ValueError(f"must be a place below 10^18, found {text[:64]!r}")
    try:
        parse(text)
    except NameUnknown:
        raise ValueError(f"{text[:64]!r} is none of: {KNOWN}") from None
    return text


def read(parameters: Sequence[Parameter], given: Sequence[tuple[str, str]], path: Mapping[str, str]) -> dict[str, Any]:
    """The values of all parameters, defaults included; raises `InvalidInput` for what is unknown, wrong or twice."""
    known = {one.name: one for one in parameters if not one.is_path}
    values: dict[str, Any] = {
        one.name: () if one.many else one.read(one.default) if isinstance(one.default, str) else one.default
        for one in known.values()
    }
    seen = set[str]()
    for name, text in given:
        if name not in known:
            meant = did_you_mean(name, known)
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InvalidInput.bad_parameter(
                name=name[:64], problem=f"this request has no such parameter{meant}; {takes}"
            )
        one = known[name]
        if one.many:
            values[name] = (*values[name], one.read(text))
        elif name in seen:
            raise InvalidInput.bad_parameter(name=name, problem="is given twice")
        else:
            seen.add(name)
            values[name] = one.read(text)
    return values | {one.name: one.read(path[one.name]) for one in parameters if one.is_path}
