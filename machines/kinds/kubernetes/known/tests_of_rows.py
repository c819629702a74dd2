"""The tests in the column WHEN of a row: `Ready = False & Ready.reason = Invalid | Denied`.

Belongs here: reading a test, deciding it, the evidence that it rests on. Does not: the rows.

    subject   Ready                    the status of a condition; * and ? match any types
              Ready.reason             its reason, .message or .severity
              .status.phase            a field of the object; [] every member, [-1] the last, [a/b] a key
              @.phase                  a field of the item that a row with EACH looks at
              count(.status.racks[])   how many there are; count(.status.racks[]: up) how many are that
              sum(.spec.sets[].count)  their sum
              first(.status.replicas)  the first number of a text such as 3/5, or 3-c0ffee; second(...) the other one
              .spec.replicas or 1      with a number in place of nothing; a - b, the difference
    test      subject = word | word    it is one of these words; `nothing` is absent or empty, `something` the opposite
              subject != word | word   it is there, and none of these; `!= absent` is there, even if it is empty
              subject ~ glob | glob    as =, with * and ?
              subject = .path          both are equal; nothing, 0 and "" are equal here. With [] it is one of them
              subject < .path          a number below another, or a time before another; nothing is 0. Also <=, >, >=
              stale                    the status, or one of its conditions, is of an older generation
              unobserved               as stale, or nothing says of which generation it is
              current                  not stale

Several tests joined by & must all hold. A condition that is absent is none of any words, and not different either.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from phaseline.machines.kinds.kubernetes.globs import matches, problem
from phaseline.machines.kinds.kubernetes.health.result import Evidence
from phaseline.machines.kinds.kubernetes.health.view import (
    Get,
    ObjectView,
    evidence_of,
    getter,
    number,
    steps_of,
    text,
)
from phaseline.machines.kinds.kubernetes.manifest_id import MAPS

Holds = Callable[[ObjectView], bool]
Tell = Callable[[ObjectView], Evidence | None]
NOTHING, ABSENT, SOMETHING = "nothing", "absent", "something"
"""Words that stand for what a subject may be: absent or empty; absent; there and not empty."""
FIELDS = ("reason", "message", "severity")
STALE, UNOBSERVED, CURRENT = "stale", "unobserved", "current"
_TEST = re.compile(r"(.+?) (=|!=|~|<=|>=|<|>) (.+)")
_CALL = re.compile(r"(count|sum|first|second)\((.+)\)")
_PAIR = re.compile(r"(\d+)/(\d+)|(\d+)-[^/]*", re.ASCII)
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda one, other: one < other, "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other, ">=": lambda one, other: one >= other,
}  # fmt: skip


class BadTest(ValueError):
    """A test cannot be read. The message says what is wrong, and what to write."""


class RowTest(NamedTuple):
    """A test that was read.

    holds: whether it does. tell: what it rests on, once it holds. uses_item: whether it reads the item of EACH.
    """

    holds: Holds
    tell: Tell
    text: str
    uses_item: bool = False


def read_tests(when: str) -> tuple[RowTest, ...]:
    """The tests of a row; raises `BadTest`."""
    return tuple(_read(one.strip()) for one in when.split("&")) if when.strip() else ()


@lru_cache(maxsize=4096)
def _read(one: str) -> RowTest:
    if one == CURRENT:
        stale = _generation(STALE)
        return RowTest(lambda view: not stale.holds(view), lambda _: None, one)
    if one in (STALE, UNOBSERVED):
        return _generation(one)
    found = _TEST.fullmatch(one)
    if found is None:
        raise BadTest(
            f"{one!r} is no test: write a subject, an operator with a blank around it, and words: Ready = True"
        )
    subject, operator, value = found[1].strip(), found[2], found[3].strip()
    if operator in _ORDER:
        return _ordered(one, subject, _ORDER[operator], value)
    if _is_field(value):
        return _equal(one, subject, value, wanted=operator != "!=")
    words = tuple(word.strip() for word in value.split("|"))
    if said := _words_problem(subject, operator, words):
        raise BadTest(f"{one!r}: {said}")
    if not _is_field(subject) and set("*?") & set(subject):
        return _any_condition(one, subject, operator, words)
    fits = _fits(operator, words)
    get, tell = operand(subject, one), _teller(subject, one)
    if operator == "=" and not set(words) & {NOTHING, ABSENT, SOMETHING} and not _is_field(subject):
        return RowTest(_condition_is(subject, frozenset(words)), tell, one)
    return RowTest(lambda view: fits(get(view)), tell, one, subject.startswith("@"))


def _words_problem(subject: str, operator: str, words: tuple[str, ...]) -> str:
    """What is wrong with the words of a test; empty if nothing is."""
    if operator == "!=" and SOMETHING in words:
        return f"write `= {NOTHING}`"
    if "" in words:
        return "a word is empty between two |"
    if found := next((word for word in words if _TEST.fullmatch(word)), None):
        return f"{found!r} holds a test of its own: join tests by &"
    small = next((word for word in words if word in ("true", "false", "unknown")), None)
    if small and not _is_field(subject) and _condition_field(subject)[1] == "status":
        return f"a condition is {small.capitalize()}, not {small}"
    return next(filter(None, map(problem, words)), "") if operator == "~" else ""


def _condition_is(subject: str, words: frozenset[str]) -> Holds:
    """The most usual test, in the fewest steps: a condition has one of these words."""
    name, key = _condition_field(subject)

    def holds(view: ObjectView) -> bool:
        found = view.conditions.get(name)
        return found is not None and type(word := found.get(key)) is str and word in words

    return holds


def _condition_field(subject: str) -> tuple[str, str]:
    """The type of a condition, and the field of it that a subject names."""
    kind, _, field = subject.rpartition(".")
    return (kind, field) if field in FIELDS else (subject, "status")


def _is_field(subject: str) -> bool:
    return subject.startswith((".", "@.", "count(", "sum(", "first(", "second(")) or subject == "@"


def _fits(operator: str, words: tuple[str, ...]) -> Callable[[Any], bool]:
    """Whether a value is one of the words."""
    plain = frozenset(words) - {NOTHING, ABSENT, SOMETHING}
    nothing, something = NOTHING in words, SOMETHING in words
    if operator == "~":
        return lambda found: any(matches(word, text(found)) for word in words) if found is not None else nothing
    if operator == "!=" and ABSENT in words:
        return lambda found: found is not None and text(found) not in plain
    if operator == "!=":
        return lambda found: not _is_empty(found) and text(found) not in plain
    if ABSENT in words:
        return lambda found: found is None or text(found) in plain or (something and not _is_empty(found))
    if nothing or something:
        return lambda found: nothing if _is_empty(found) else something or text(found) in plain
    if len(plain) == 1:
        [word] = plain
        return lambda found: found == word or (type(found) is not str and found is not None and text(found) == word)
    return lambda found: text(found) in plain if found is not None else False


def _is_empty(found: Any) -> bool:
    return found is None or found == "" or (isinstance(found, list | dict) and not found)


def operand(subject: str, one: str = "") -> Get:
    """What reads the value of a subject. one: the test that it stands in. Raises `BadTest`."""
    if " - " in subject:
        if many := next((part.strip() for part in subject.split(" - ", 1) if "[]" in part and "(" not in part), ""):
            raise BadTest(f"{one or subject!r}: {many} has many values, and a difference needs one: write sum({many})")
        left, right = (operand(part.strip(), one) for part in subject.split(" - ", 1))
        return lambda view: (number(left(view)) or 0) - (number(right(view)) or 0)
    if " or " in subject:
        path, _, word = subject.rpartition(" or ")
        get, default = operand(path.strip(), one), word.strip()
        return lambda view: default if _is_empty(found := get(view)) else found
    if call := _CALL.fullmatch(subject):
        return _called(call[1], call[2], one)
    if re.fullmatch(r"-?\d+", subject):
        return lambda _: int(subject)
    try:
        return getter(subject) if _is_field(subject) else _condition_getter(subject)
    except ValueError as error:
        raise BadTest(str(error)) from None


def _called(name: str, inner: str, one: str) -> Get:
    path, _, word = (part.strip() for part in inner.partition(": "))
    if not _is_field(path):
        raise BadTest(f"{one!r}: {name} takes a path such as .status.racks[]")
    get = getter(path)
    if name in ("first", "second"):
        places = (1, 3) if name == "first" else (2,)
        return lambda view: _number_of(_PAIR.fullmatch(text(get(view))), places)
    if name == "sum":
        return lambda view: sum(number(found) or 0 for found in _listed(get(view)))
    if word:
        return lambda view: sum(text(found) == word for found in _listed(get(view)))
    return lambda view: len(_listed(get(view)))


def _number_of(found: re.Match[str] | None, places: tuple[int, ...]) -> int | None:
    """The number that a text has at one of these places."""
    return None if found is None else next((number(word) for word in map(found.__getitem__, places) if word), None)


def _listed(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [*found.values()] if isinstance(found, MAPS) else []


def _condition_getter(subject: str) -> Get:
    name, key = _condition_field(subject)

    def get(view: ObjectView) -> Any:
        found = view.conditions.get(name)
        return None if found is None else found.get(key)

    return get


def _teller(subject: str, one: str) -> Tell:
    """What makes the evidence of a test with this subject."""
    if _is_field(subject) or not _names_condition(subject):
        return _field_teller(subject, one)
    name = _condition_field(subject)[0]
    return lambda view: evidence_of(found) if (found := view.conditions.get(name)) else None


def _names_condition(subject: str) -> bool:
    return not set("()") & set(subject) and " - " not in subject and " or " not in subject


def _field_teller(subject: str, one: str) -> Tell:
    get = operand(subject, one)
    label = subject.partition(" or ")[0].removeprefix("@").lstrip(".")

    def tell(view: ObjectView) -> Evidence:
        found = get(view)
        return Evidence(label, text(found) or ("" if _is_empty(found) else "there"))

    return tell


def _any_condition(one: str, subject: str, operator: str, words: tuple[str, ...]) -> RowTest:
    """A test of any condition whose type fits a glob."""
    glob, key = _condition_field(subject)
    fits = _fits(operator, words)

    def first(view: ObjectView) -> Any:
        return next(
            (c for c in view.all_conditions if (glob == "*" or matches(glob, c["type"])) and fits(c.get(key))), None
        )

    return RowTest(
        lambda view: first(view) is not None, lambda view: evidence_of(found) if (found := first(view)) else None, one
    )


def _ordered(one: str, subject: str, order: Callable[[Any, Any], bool], value: str) -> RowTest:
    left, right = operand(subject, one), operand(value, one)

    def holds(view: ObjectView) -> bool:
        one, other = left(view), right(view)
        if type(one) is int and type(other) is int:
            return order(one, other)
        sides = [0 if _is_empty(found) else number(found) for found in (one, other)]
        if None not in sides:
            return order(*sides)
        return isinstance(one, str) and isinstance(other, str) and order(one, other)  # times, as Kubernetes writes them

    label = subject.partition(" or ")[0].removeprefix("@").lstrip(".")
    other = value.partition(" or ")[0].removeprefix("@").lstrip(".")

    def tell(view: ObjectView) -> Evidence:
        found, beside = number(left(view)) or 0, number(right(view)) or 0
        return Evidence(
            label,
            str(found),
            message=f"{label} is {found}" + (f", {other} is {beside}" if other != str(beside) else ""),
        )

    return RowTest(holds, tell, one, "@" in one)


def _equal(one: str, subject: str, value: str, *, wanted: bool) -> RowTest:
    left, right = operand(subject, one), operand(value, one)
    many = "[]" in value and "(" not in value  # no difference, which would have been refused

    def holds(view: ObjectView) -> bool:
        others = right(view) if many else [right(view)]
        return any(_plain(left(view)) == _plain(other) for other in others) is wanted

    label, other = subject.removeprefix("@").lstrip("."), value.removeprefix("@").lstrip(".")

    def tell(view: ObjectView) -> Evidence:
        found, beside = text(left(view)) or "nothing", text(right(view)) or "nothing"
        return Evidence(label, found, message=f"{label} is {found}, {other} is {beside}")

    return RowTest(holds, tell, one, "@" in one)


def _plain(found: Any) -> Any:
    """A value as two fields are compared: nothing, 0 and "" are equal, and so are a number and its text."""
    word = text(found)
    return ("" if word in ("0", "false") else word) if word or _is_empty(found) else found


def _generation(one: str) -> RowTest:
    needed = one == UNOBSERVED

    def first(view: ObjectView) -> Any:
        return next((c for c in view.conditions.values() if not view.is_current(c)), None)

    def holds(view: ObjectView) -> bool:
        seen = view.is_observed if view.item is None else None
        if seen is False or first(view) is not None:
            return True
        return needed and seen is None and not any("observedGeneration" in c for c in view.conditions.values())

    def tell(view: ObjectView) -> Evidence:
        found = first(view)
        seen = view.observed if found is None else number(found.get("observedGeneration"))
        what = "" if found is None else f" of {text(found.get('type'))}"
        if seen is None:
            return Evidence("observedGeneration", "", message="it does not say which generation was observed")
        said = f"generation {view.generation} has not been observed yet"
        last = "" if seen is None else f", the last one{what} that was is {seen}"
        return Evidence("observedGeneration", "" if seen is None else str(seen), message=said + last)

    return RowTest(holds, tell, one)


def checked_path(path: str) -> str:
    """A path of EACH or of a message; raises `BadTest`."""
    try:
        steps_of(path.removeprefix("@"))
    except ValueError as error:
        raise BadTest(str(error)) from None
    return path
