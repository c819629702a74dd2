"""Declares the name and the revision of rules that are written as code: functions in tables, predicates, libraries.

Belongs here: `Revision`, the decorator `rule`, reading a declaration back. Does not: the version of a table
(`fingerprint`), which code needs a declaration (`checks`). A version of a table holds these names and numbers, never a
Python path: moving or renaming code changes no version; raising a revision changes the version of every table that uses
the rule.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T", bound=Callable[..., Any])

DECLARATION = "__phaseline_rule__"
"""The attribute of a function or class that holds its `Declaration`."""
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")


class Revision(NamedTuple):
    """One revision of some code.

    name: stays the same when the code moves or is renamed. number: another one when the code does something else; the
    version of a distribution (a string) where a plug-in declares none.
    """

    name: str
    number: int | str


Uses = tuple[Revision | Callable[[], Iterable[Revision]], ...]
"""Libraries that a rule calls. A function gives revisions that are known only once plug-ins are loaded."""


class Declaration(NamedTuple):
    """What a rule declares about itself."""

    revision: Revision
    uses: Uses = ()

    @property
    def used(self) -> tuple[Revision, ...]:
        """The revisions of all libraries that the rule uses, sorted."""
        found = [(use,) if isinstance(use, Revision) else use() for use in self.uses]
        return tuple(sorted((one for group in found for one in group), key=lambda one: (one.name, str(one.number))))


def rule(name: str, *, revision: int, uses: Uses = ()) -> Callable[[T], T]:
    """Declare the function or predicate class below as the rule `name`.

    name: words with dots between them, the first one yours: `acme.cooled`. revision: 1 or more; raise it when the rule
    gives another result for the same input. uses: the libraries whose behaviour the rule passes on.
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError(
            f"rule name {name!r}: write lower-case words with dots between them, for example 'acme.{name or 'cooled'}'"
        )
    if type(revision) is not int or revision < 1:
        raise ValueError(f"rule {name}: the revision must be a whole number from 1 up, found {revision!r}")

    def declare(code: T) -> T:
        setattr(code, DECLARATION, Declaration(Revision(name, revision), uses))
        return code

    return declare


def declaration_of(code: object) -> Declaration | None:
    """The declaration of a function, or of the class of a predicate; None where there is none.

    A subclass must declare itself: it may do something else than its base.
    """
    own = code if hasattr(code, "__qualname__") else type(code)
    found = getattr(own, "__dict__", {}).get(DECLARATION)
    return found if isinstance(found, Declaration) else None
