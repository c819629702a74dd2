"""The words of the table of known kinds: a family, its kinds, the rows of each.

Belongs here: `Family`, `KnownKind`, `StatusRow`, checking them. Does not: the language of tests (`tests_of_rows`), the
rows themselves (`families`). All columns are plain data, so that users write the same rows in YAML
(`kubernetes.overrides`).
"""

import re
from collections.abc import Callable, Iterator

import msgspec

from phaseline.machines.kinds.kubernetes.globs import matches, problem
from phaseline.machines.kinds.kubernetes.health.view import Get, ObjectView, steps_of, text
from phaseline.machines.kinds.kubernetes.known.tests_of_rows import BadTest, checked_path, operand, read_tests
from phaseline.machines.kinds.kubernetes.profiles import (
    ALIASES,
    DEGRADED,
    HEALTHY,
    MISSING,
    NO_HEALTH,
    NOT_ASSESSED,
    PAUSED,
    PROGRESSING,
    UNKNOWN,
    Profile,
)

H, P, D, S, U, M, N, X = HEALTHY, PROGRESSING, DEGRADED, PAUSED, UNKNOWN, MISSING, NOT_ASSESSED, NO_HEALTH
"""The verdicts, short enough for a column. X: it takes no part."""
NONE = "-"
"""In HEALTH or ARGO: the row does not exist there."""
VERDICTS = (UNKNOWN, MISSING, DEGRADED, PAUSED, PROGRESSING, HEALTHY, NOT_ASSESSED, NO_HEALTH)
ANY, ALL = "any", "all"
MOST_ROWS = 100
"""The most rows of a kind: all of them may be asked for each object."""
_PLACE = re.compile(r"\{((?:\.|@\.)[^{}]+)\}")


class StatusRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of a kind: the health of an object for which all tests hold. The first row that holds decides.

    when: the tests (`tests_of_rows`); empty: any object. health: the verdict; `-`: no row of ours. argo: Argo CD's own
    verdict where it differs; `-`: Argo CD has no such row. message: the reason that is shown, with fields in braces;
    empty: what the decisive condition or field says. each: a list or map in the object (`.status.parents[]`): the row
    holds if the tests hold for one of its items, with `all` in front if for all of them and there is one.
    """

    when: str
    health: str
    argo: str = ""
    message: str = ""
    each: str = ""

    def verdict(self, profile: Profile) -> str:
        """The health that this row gives in a profile; `-` if it is no row there."""
        return self.argo if self.argo and profile.follows_argo else self.health


class KnownKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group and kind, or several, whose objects have the same rows.

    group, kind: globs, several joined by `|`. rows: the first that holds decides; if none does, the object is
    Progressing. message: the field that says why, where no condition decides. beside: conditions and fields, globs
    joined by `|`, that do not oppose a success; what fails of them is told beside it.
    """

    group: str
    kind: str
    rows: tuple[StatusRow, ...]
    message: str = ".status.message"
    beside: str = ""

    def fits(self, group: str, kind: str) -> bool:
        """Whether these are the rows of a kind."""
        return _one_fits(self.group, group) and _one_fits(self.kind, kind)

    @property
    def is_exact(self) -> bool:
        """Whether it names its kinds without any glob."""
        return not set("*?[{") & set(self.group + self.kind)


class Family(msgspec.Struct, frozen=True):
    """The kinds of one vendor or project. source: its documentation of these types."""

    name: str
    source: str
    kinds: tuple[KnownKind, ...]


def _one_fits(globs: str, word: str) -> bool:
    return any(matches(glob.strip(), word) for glob in globs.split("|"))


class ReadRow:
    """A row that is ready to be asked."""

    __slots__ = ("_message", "_steps", "_tests", "every", "only", "row", "tests")

    def __init__(self, row: StatusRow) -> None:
        self.row, self.tests = row, read_tests(row.when)
        self._tests = tuple(test.holds for test in self.tests)
        quantifier, _, path = row.each.rpartition(" ")
        self.every = quantifier == ALL
        self._steps = steps_of(path) if path else None
        self.only = self._tests[0] if len(self._tests) == 1 and self._steps is None else None
        self._message = _template(row.message)

    def holds(self, view: ObjectView) -> ObjectView | None:
        """The view for which the tests hold, that of the item or of the object; None if they do not."""
        if self._steps is None:
            return view if self._all_hold(view) else None
        last = None
        for at in view.items(self.row.each, self._steps):
            if self._all_hold(at):
                last = at
                if not self.every:
                    return at
            elif self.every:
                return None
        return last

    def _all_hold(self, view: ObjectView) -> bool:
        for holds in self._tests:  # noqa: SIM110  # quicker than all()
            if not holds(view):
                return False
        return True

    def message(self, view: ObjectView) -> str:
        """The row's own message; empty if it has none."""
        return self._message(view)


def _template(message: str) -> Callable[[ObjectView], str]:
    parts = _PLACE.split(message)
    if len(parts) == 1:
        return lambda _: message
    gets: list[Get | str] = [operand(part) if index % 2 else part for index, part in enumerate(parts)]
    return lambda view: "".join(one if isinstance(one, str) else text(one(view)) for one in gets)


def problems(kind: KnownKind, where: str) -> Iterator[str]:
    """What is wrong with the rows of a kind, in sentences. where: where it stands."""
    for name, globs in (("group", kind.group), ("kind", kind.kind), ("beside", kind.beside)):
        for glob in globs.split("|"):
            if said := problem(glob.strip()):
                yield f"{where}.{name}: {said}"
    if not kind.kind.strip():
        yield f"{where}.kind must be a kind such as Widget, found {kind.kind!r}"
    if not 0 < len(kind.rows) <= MOST_ROWS:
        yield f"{where}.rows must have 1 to {MOST_ROWS} rows, found {len(kind.rows)}"
    for index, row in enumerate(kind.rows):
        yield from (f"{where}.rows[{index}]{said}" for said in _row_problems(row))
    if said := _path_problem(kind.message):
        yield f"{where}.message: {said}"


def _row_problems(row: StatusRow) -> Iterator[str]:
    for name, word in (("health", row.health), ("argo", row.argo)):
        if (name == "health" or word) and ALIASES.get(word, word) not in (*VERDICTS, NONE):
            yield f".{name} must be one of {', '.join(VERDICTS)}, or {NONE}, found {word!r:.60}"
    quantifier, _, path = row.each.rpartition(" ")
    if quantifier not in ("", ANY, ALL) or (path and not path.startswith(".")):
        shape = f"a path such as .status.parents[], with {ALL} in front if it must hold for all"
        yield f".each must be {shape}, found {row.each!r:.60}"
    elif said := _path_problem(path):
        yield f".each: {said}"
    try:
        tests = read_tests(row.when)
    except BadTest as error:
        yield f".when: {error}"
        return
    if not row.each and any(test.uses_item for test in tests):
        yield ".when: @ is an item of `each`, and this row has no `each`"
    for place in _PLACE.findall(row.message):
        try:
            operand(place)
        except BadTest as error:
            yield f".message: {error}"


def _path_problem(path: str) -> str:
    try:
        checked_path(path)
    except BadTest as error:
        return str(error)
    return ""


def wanted_of(rows: tuple[StatusRow, ...]) -> str:
    """What an object would have to say to be Healthy: the tests of its last row that gives this."""
    return next((row.when for row in reversed(rows) if row.health == HEALTHY and row.when and not row.each), "")
