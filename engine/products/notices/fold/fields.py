"""The fields of one map of a file of rules, read one by one; each mistake is noted with its place.

Belongs here: texts, durations, names among known ones. Does not: which fields there are (`read_rules`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from phaseline.engine.log.when import seconds_of
from phaseline.machines.kinds.kubernetes import globs
from phaseline.schemas.errors import did_you_mean
from phaseline.schemas.records import SECOND, nanoseconds

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""The name of a rule, a window or a receiver: a part of ids and subjects."""


def in_one_line(problems: Sequence[str]) -> str:
    """All problems, numbered if there are several. An error of a command is one line."""
    if len(problems) == 1:
        return problems[0]
    numbered = (f"({number}) {one}" for number, one in enumerate(problems, start=1))
    return f"{len(problems)} mistakes: {'; '.join(numbered)}"


class Fields:
    """The fields of a map. where: its place, for people. problems: gets what is wrong."""

    def __init__(self, where: str, found: Any, known: Iterable[str], problems: list[str]) -> None:
        """found: what stands there, which should be a map with fields of these names."""
        self.where, self._problems = where, problems
        self.found: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
        if not isinstance(found, Mapping):
            self._wrong(f"it must be a map, found {_shown(found)}")
        names = [*known]
        for name in self.found:
            if name not in names:
                self._wrong(f"there is no {name!r}{did_you_mean(name, names)}; there are: {', '.join(names)}")

    def _wrong(self, problem: str) -> None:
        self._problems.append(f"{self.where}: {problem}")

    def require(self, *names: str) -> None:
        """Note those that are missing."""
        for name in names:
            if self.found.get(name) in (None, "", []):
                self._wrong(f"it needs {name}")

    def name(self) -> str:
        """The name."""
        found = self.found.get("name")
        if not isinstance(found, str) or not NAME.fullmatch(found):
            self._wrong(f"name must be of a-z, 0-9 and -, at most 63 characters; found {_shown(found)}")
            return ""
        return found

    def map(self, name: str) -> Mapping[str, Any]:
        """A map whose keys are names."""
        found = self.found.get(name, {})
        if not isinstance(found, Mapping):
            self._wrong(f"{name} must be a map by name, found {_shown(found)}")
            return {}
        for key in found:
            if not NAME.fullmatch(key):
                self._wrong(f"{name}: a name must be of a-z, 0-9 and -, at most 63 characters; found {_shown(key)}")
        return found

    def list(self, name: str) -> Sequence[Any]:
        """A list; of one value too."""
        found = self.found.get(name, [])
        return found if isinstance(found, list) else [found]

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; of one text too."""
        found = self.list(name)
        if not all(isinstance(one, str) and one for one in found):
            self._wrong(f"{name} must be a list of texts, found {_shown(self.found.get(name))}")
        return tuple(one for one in found if isinstance(one, str) and one)

    def texts_by_name(self, name: str) -> Mapping[str, str]:
        """A map of texts."""
        found = self.found.get(name, {})
        if not isinstance(found, Mapping) or not all(isinstance(one, str) for one in found.values()):
            self._wrong(f"{name} must be a map of texts, found {_shown(found)}")
            return {}
        return found

    def among(self, name: str, known: Iterable[str], what: str) -> tuple[str, ...]:
        """A list of names of which each must be known."""
        names, found = [*known], self.texts(name)
        for one in found:
            self.known(name, one, names, what)
        return found

    def known(self, name: str, found: str, known: Iterable[str], what: str) -> None:
        """Note a name that is not known."""
        names = [*known]
        if found not in names:
            few = f"; there are: {', '.join(names)}" if names and len(names) <= 12 else ""
            self._wrong(f"{name}: there is no {what} {found[:80]!r}{did_you_mean(found, names)}{few}")

    def word(self, name: str, known: Sequence[str], otherwise: str) -> str:
        """One of some words."""
        found = self.found.get(name, otherwise)
        if found not in known:
            meant = did_you_mean(str(found), known)
            self._wrong(f"{name} must be one of {', '.join(known)}; found {_shown(found)}{meant}")
            return otherwise
        return str(found)

    def flag(self, name: str) -> bool:
        """True or false; false if it is missing."""
        found = self.found.get(name, False)
        if not isinstance(found, bool):
            self._wrong(f"{name} must be true or false, found {_shown(found)}")
        return found is True

    def number(self, name: str, least: int) -> int:
        """A whole number."""
        found = self.found.get(name, least)
        if not isinstance(found, int) or isinstance(found, bool) or found < least:
            self._wrong(f"{name} must be a whole number, {least} or more; found {_shown(found)}")
            return least
        return found

    def seconds(self, name: str, least: float = 0) -> float:
        """A duration in seconds."""
        found = self.found.get(name)
        if found is None:
            return 0
        seconds = None if isinstance(found, bool | list | dict) else seconds_of(str(found))
        if seconds is None:
            self._wrong(f"{name} must be a duration such as 90s, 5m, 2h or 1d; found {_shown(found)}")
        elif seconds < least:
            self._wrong(f"{name} must be {least:g}s or more, found {_shown(found)}")
        return seconds or 0

    def duration(self, name: str, least: float = 0) -> int:
        """A duration in ns. least: the shortest one that makes sense, in seconds."""
        return round(self.seconds(name, least) * SECOND)

    def globs(self, name: str) -> tuple[str, ...]:
        """A list of globs."""
        found = self.texts(name)
        self.check_globs(name, found)
        return found

    def check_globs(self, name: str, found: Iterable[str]) -> None:
        """Note the globs that are none."""
        for one in found:
            if problem := globs.problem(one):
                self._wrong(f"{name}, {one[:80]!r}: {problem}")

    def time(self, name: str) -> int:
        """A time with its offset, ns."""
        found = self.found.get(name)
        try:
            return nanoseconds(found) if isinstance(found, str) and _has_offset(found) else self._no_time(name, found)
        except (ValueError, OverflowError):
            return self._no_time(name, found)

    def _no_time(self, name: str, found: Any) -> int:
        self._wrong(f"{name} must be a time with its offset, such as 2026-12-24T22:00:00Z; found {_shown(found)}")
        return 0


def _has_offset(text: str) -> bool:
    return text.endswith("Z") or re.search(r"[+-]\d\d:\d\d$", text) is not None


def _shown(found: Any) -> str:
    return "nothing" if found is None else repr(found)[:80]
