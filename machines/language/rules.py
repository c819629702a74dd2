"""Names and revisions of rules that are written as code: functions in tables, predicates, libraries.

The version of a table contains these names and numbers, but no Python path. Moving or renaming code changes no version;
raising a revision changes the version of every table that uses the rule.
Belongs here: `Revision`, the decorator `rule`, reading a declaration back. Does not: the version of a table
(`compiler.fingerprint`), which code needs a declaration (`compiler.checks`).
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T", bound=Callable[..., Any])

DECLARATION = "__phaseline_rule__"
"""The attribute of a function or class that holds its `Declaration`."""
RESERVED = "phaseline."
"""Begins the names of the rules of the table language. They take no long time, whatever they are given."""
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")


class Revision(NamedTuple):
    """One revision of some code.

    name: the name of the code, which stays the same when the code moves or is renamed.
    number: a number that changes when the results change; for a plug-in without one, the version of its distribution.
    """

    name: str
    number: int | str


Uses = tuple[Revision | Callable[[], Iterable[Revision]], ...]
"""Libraries that a rule calls. A function returns revisions that are known only when plug-ins are loaded."""


class Declaration(NamedTuple):
    """The name and revision that a rule declares, and the libraries that it uses."""

    revision: Revision
    uses: Uses = ()

    @property
    def used(self) -> tuple[Revision, ...]:
        """The revisions of all libraries that the rule uses, sorted."""
        groups = [(use,) if isinstance(use, Revision) else use() for use in self.uses]
        return tuple(sorted((one for group in groups for one in group), key=lambda one: (one.name, str(one.number))))


def rule(name: str, *, revision: int, uses: Uses = ()) -> Callable[[T], T]:
    """Declare the function or predicate class below as the rule `name`.

    name: words with dots between them, of which the first is your own: `acme.cooled`.
    revision: 1 or more. Raise it when the rule gives another result for the same input.
    uses: the libraries on whose behaviour the result depends.
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError(
            f"rule name {name!r}: write lower-case words with dots between them, for example 'acme.{name or 'cooled'}'"
        )
    if type(revision) is not int or revision < 1:
        raise ValueError(f"rule {name}: the revision must be a whole number of 1 or more, found {revision!r}")

    def declare(code: T) -> T:
        if name.startswith(RESERVED) and not code.__module__.startswith(RESERVED):
            raise ValueError(
                f"rule {name}, of {code.__module__}: names that begin with {RESERVED!r} are of the table language, "
                "use a word of your own"
            )
        setattr(code, DECLARATION, Declaration(Revision(name, revision), uses))
        return code

    return declare


def declaration_of(code: object) -> Declaration | None:
    """The declaration of a function, or of the class of a predicate; None if there is none.

    A subclass needs a declaration of its own, because it may behave differently.
    """
    own = code if hasattr(code, "__qualname__") else type(code)
    declaration = getattr(own, "__dict__", {}).get(DECLARATION)
    return declaration if isinstance(declaration, Declaration) else None
