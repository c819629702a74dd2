"""Who asks, and what they may do.

Belongs here: `Caller`, the roles, reading roles, and patterns of sources such as `/agent/*`. Does not: finding out who
asks (`access`).
"""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import unquote

from phaseline.schemas.cloudevents import actors
from phaseline.schemas.cloudevents.actors import BadActor
from phaseline.schemas.errors import InvalidInput, did_you_mean
from phaseline.schemas.subjects import BadSubject, check_id

Role = Literal["", "read", "publish", "operate", "try"]
"""What a request needs: nothing; reading; publishing events; what operators do; reading or publishing."""
READ: Role = "read"
PUBLISH: Role = "publish"
OPERATE: Role = "operate"
TRY: Role = "try"
"""A dry run: whoever may read or publish may see what an event would do."""
LIMITED: tuple[Role, ...] = (READ, PUBLISH)
"""The roles that can be limited to a tree: `read:c1`."""


SOURCE = "source:"
"""The beginning of a word that limits the sources of events."""
LONGEST_PATTERN = 256
"""The most characters of a pattern of sources."""
ROLES = "read, read:TREE, publish:TREE, operate"


class BadRole(ValueError):
    """A text names no role. The message says why."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who asks. roles: what they may do.

    trees, published: the roots of the trees that they may read, and whose events they may publish; empty: all.
    sources: the patterns of the sources that their events may have; empty: any.
    actor: the name under which what they do is recorded; empty if they have none. nameless: why somebody who was
    authenticated has none; empty of all others.
    until: when their token expires, in seconds since 1970; None: never. is_known: whether it is still theirs.
    """

    name: str
    roles: frozenset[Role]
    trees: frozenset[str] = frozenset()
    published: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    actor: str = field(default="", compare=False)
    nameless: str = field(default="", compare=False)
    until: float | None = None
    is_known: Callable[[], bool] = field(default=lambda: True, compare=False)

    @property
    def is_over(self) -> bool:
        """Whether their token has expired, or was taken away."""
        return (self.until is not None and time.time() > self.until) or not self.is_known()

    def check(self, role: Role) -> None:
        """Raise `InvalidInput.not_allowed` unless they have a role."""
        if role == TRY:
            role = PUBLISH if PUBLISH in self.roles else READ
        if role and role not in self.roles:
            raise InvalidInput.not_allowed(name=self.name, needed=role)
        if role in (PUBLISH, OPERATE) and self.nameless:
            raise InvalidInput.nameless(problem=self.nameless)

    @property
    def may_read_all(self) -> bool:
        """Whether they may read about everything."""
        return READ in self.roles and not self.trees

    def may_read(self, entity_id: str) -> bool:
        """Whether they may read about an entity."""
        return not self.trees or entity_id.partition("/")[0] in self.trees

    def check_try(self, entity_id: str) -> None:
        """Raise `InvalidInput.not_allowed` unless they may read about an entity, or publish events about it."""
        if READ not in self.roles or not self.may_read(entity_id):
            self.check_publish(entity_id)

    def check_source(self, source: str) -> None:
        """Raise `InvalidInput.source_refused` unless their events may have this source."""
        if self.sources and not is_among(source, self.sources):
            raise InvalidInput.source_refused(name=self.name, source=source[:64], allowed=", ".join(self.sources))

    def check_publish(self, entity_id: str) -> None:
        """Raise `InvalidInput.not_allowed` unless they may publish events about an entity."""
        root = entity_id.partition("/")[0]
        if PUBLISH not in self.roles or (self.published and root not in self.published):
            raise InvalidInput.not_allowed(name=self.name, needed=f"{PUBLISH}:{root}")


LOCAL = Caller("local", frozenset({"", READ, PUBLISH, OPERATE}))
"""Whoever reaches a server that asks for no token."""
NOBODY = Caller("nobody", frozenset())
"""Whoever has not said who asks, where that is not needed."""


def named(caller: Caller) -> Caller:
    """The same caller, under whose name what they do is recorded, or who is told why that cannot be."""
    try:
        actors.check(caller.name)
    except BadActor as error:
        return replace(
            caller, name=caller.name[: actors.LONGEST], nameless=f"of the name {caller.name[:32]!r}: {error}"
        )
    return replace(caller, actor=caller.name)


def with_roles(name: str, words: Iterable[str], until: float | None = None) -> Caller:
    """The caller with roles such as `read`, `read:c1`, `publish:c1`, `operate`; raises `BadRole`.

    A word such as `source:/agent/*` limits the sources of their events. A tree and a pattern may be percent-encoded.
    """
    words, roles = list(words), dict[Role, set[str]]()
    patterns = tuple(unquote(word.removeprefix(SOURCE)) for word in words if word.startswith(SOURCE))
    for pattern in patterns:
        check_pattern(pattern)
    for word in words:
        if word.startswith(SOURCE):
            continue
        role, colon, tree = word.partition(":")
        known = next((one for one in (READ, PUBLISH, OPERATE) if one == role), None)
        if known is None:
            meant = did_you_mean(role, (READ, PUBLISH, OPERATE))
            raise BadRole(f"{word[:64]!r} is no role{meant}: roles are {ROLES}; source:PATTERN limits sources")
        if colon:
            tree = unquote(tree)
            _check_tree(word, known, tree)
        roles.setdefault(known, set()).add(tree)
    if not roles:
        raise BadRole(f"no role is named: roles are {ROLES}")
    limited = {role: frozenset[str]() if "" in trees else frozenset(trees) for role, trees in roles.items()}
    trees, published = limited.get(READ, frozenset()), limited.get(PUBLISH, frozenset())
    return Caller(name, frozenset(limited), trees, published, patterns, until=until)


def _check_tree(word: str, role: Role, tree: str) -> None:
    if role not in LIMITED:
        raise BadRole(f"{word[:64]!r}: {role} is for all trees, write {role}")
    try:
        check_id(tree)
    except BadSubject as error:
        raise BadRole(f"{word[:64]!r}: {error}") from None
    if "/" in tree:
        root = tree.partition("/")[0]
        raise BadRole(f"{word[:64]!r}: a role is limited to whole trees, write {role}:{root}")


def check_pattern(pattern: str) -> None:
    """Raise `BadRole` unless a text may be a pattern of sources.

    A `*` stands for any characters, also for none and for slashes; every other character for itself.
    """
    if not pattern:
        raise BadRole("a pattern of sources is empty: write `/agent/c1`, or `/agent/*`")
    if len(pattern) > LONGEST_PATTERN:
        raise BadRole(f"the pattern {pattern[:32]!r}... has more than {LONGEST_PATTERN} characters")
    if not pattern.isprintable():
        raise BadRole(f"the pattern {pattern[:64]!r} holds a control character")


def is_among(source: str, patterns: Collection[str]) -> bool:
    """Whether a source fits one of the patterns."""
    return any(_fits(source, pattern) for pattern in patterns)


def _fits(source: str, pattern: str) -> bool:
    """Takes each piece between stars where it comes first, so a hostile source takes no more than linear time."""
    first, *rest = pattern.split("*")
    if not rest:
        return source == first
    last = rest.pop()
    if len(source) < len(first) + len(last) or not (source.startswith(first) and source.endswith(last)):
        return False
    start, end = len(first), len(source) - len(last)
    for piece in rest:
        found = source.find(piece, start, end)
        if found < 0:
            return False
        start = found + len(piece)
    return True
