"""Who asks, and what they may do.

Belongs here: `Caller`, the roles, and reading roles. Does not: finding out who asks (`access`).
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import unquote

from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.similar import did_you_mean
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


class BadRole(ValueError):
    """A text names no role. The message says why."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who asks. roles: what they may do.

    trees, published: the roots of the trees that they may read, and whose events they may publish; empty: all.
    until: when their token expires, in seconds since 1970; None: never. is_known: whether it is still theirs.
    """

    name: str
    roles: frozenset[Role]
    trees: frozenset[str] = frozenset()
    published: frozenset[str] = frozenset()
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

    def may_read(self, entity_id: str) -> bool:
        """Whether they may read about an entity."""
        return not self.trees or entity_id.partition("/")[0] in self.trees

    def check_try(self, entity_id: str) -> None:
        """Raise `InvalidInput.not_allowed` unless they may read about an entity, or publish events about it."""
        if READ not in self.roles or not self.may_read(entity_id):
            self.check_publish(entity_id)

    def check_publish(self, entity_id: str) -> None:
        """Raise `InvalidInput.not_allowed` unless they may publish events about an entity."""
        root = entity_id.partition("/")[0]
        if PUBLISH not in self.roles or (self.published and root not in self.published):
            raise InvalidInput.not_allowed(name=self.name, needed=f"{PUBLISH}:{root}")


LOCAL = Caller("local", frozenset({"", READ, PUBLISH, OPERATE}))
"""Whoever reaches a server that asks for no token."""


def with_roles(name: str, words: Iterable[str], until: float | None = None) -> Caller:
    """The caller with roles such as `read`, `read:c1`, `publish:c1`, `operate`; raises `BadRole`.

    A tree may be percent-encoded.
    """
    roles = dict[Role, set[str]]()
    for word in words:
        role, colon, tree = word.partition(":")
        known = next((one for one in (READ, PUBLISH, OPERATE) if one == role), None)
        if known is None:
            meant = did_you_mean(role, (READ, PUBLISH, OPERATE))
            raise BadRole(f"{word[:64]!r} is no role{meant}: roles are read, read:TREE, publish:TREE, operate")
        if colon:
            tree = unquote(tree)
            _check_tree(word, known, tree)
        roles.setdefault(known, set()).add(tree)
    if not roles:
        raise BadRole("no role is named: roles are read, read:TREE, publish:TREE, operate")
    limited = {role: frozenset[str]() if "" in trees else frozenset(trees) for role, trees in roles.items()}
    return Caller(name, frozenset(limited), limited.get(READ, frozenset()), limited.get(PUBLISH, frozenset()), until)


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
