"""The users of an installation: the roles of the table, each with names, keys, and subjects written out.

Belongs here: `AccountPlan`, which a configuration is made from. Does not: its form (`nats_conf`).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from phaseline.engine.nats.accounts import roles
from phaseline.engine.nats.accounts.roles import Export, Role
from phaseline.schemas.errors import InvalidInput
from phaseline.schemas.subjects import BadSubject, check_id, quote

EDGE_NAME = re.compile(r"[A-Za-z0-9_-]{1,48}")
EDGE_PROBLEM = "an edge has 1 to 48 letters, digits, `_` or `-`"


class User(NamedTuple):
    """One user. name: of its key file and its inbox. `publish` and `subscribe` are complete. account: its account.

    never: what it may not publish, although `publish` takes it in.
    """

    name: str
    role: Role
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    account: str = roles.ENGINE
    never: tuple[str, ...] = ()

    @property
    def inbox(self) -> str:
        """The prefix of its replies: the setting `inbox_prefix`."""
        return inbox_of(self.name)


class Import(NamedTuple):
    """What an account takes from another one, the `owner`: `subject` there is `local` here."""

    export: Export
    subject: str
    local: str
    owner: str = roles.ENGINE


@dataclass(frozen=True, slots=True)
class AccountPlan:
    """The accounts of one installation. Names of users must differ from each other; raises `InvalidInput`.

    tabled: those of the table's accounts that the server has.
    """

    prefix: str
    trees: Sequence[str] = ()
    readers: Sequence[str] = ("reader",)
    watchers: Sequence[str] = ("watcher",)
    operators: Sequence[str] = ("operator",)
    edges: Sequence[str] = ()
    workers: Sequence[str] = ("engine",)
    tabled: Sequence[str] = roles.ACCOUNTS

    def __post_init__(self) -> None:
        names = [user.name for user in self.users()]
        for name in names:
            if names.count(name) > 1:
                raise InvalidInput.bad_user_name(name=name, problem="there are several users of this name")

    def users(self, account: str | None = None) -> Iterator[User]:
        """All users, or those of one account."""
        named = {
            "engine": self.workers,
            "operator": self.operators,
            "tree": self.trees,
            "reader": self.readers,
            "watcher": self.watchers,
            "edge": self.edges,
        }
        for role in roles.ROLES:
            for name in named[role.name]:
                user = self._user(role, name)
                if account in (None, user.account):
                    yield user

    def _user(self, role: Role, name: str) -> User:
        if role.account == roles.EDGE:
            return self._edge(role, name)
        try:
            check_id(name)
        except BadSubject as error:
            raise InvalidInput.bad_user_name(name=name, problem=str(error)) from None
        if "/" in name:
            raise InvalidInput.bad_user_name(name=name, problem="a tree is named by its root, without a slash")
        token = quote(name)
        user = f"tree-{token}" if role.name == "tree" else token
        publish, subscribe, never = (
            tuple(roles.filled(subject, self.prefix, token) for subject in subjects)
            for subjects in (role.publish, role.subscribe, role.never)
        )
        return User(user, role, publish, (f"{inbox_of(user)}.>", *subscribe), role.account, never)

    def _edge(self, role: Role, name: str) -> User:
        """The user of an edge. It is a server: it has no inbox."""
        if not EDGE_NAME.fullmatch(name):
            raise InvalidInput.bad_user_name(name=name, problem=EDGE_PROBLEM)
        publish, subscribe = (
            tuple(roles.filled(subject, self.prefix, name) for subject in subjects)
            for subjects in (role.publish, role.subscribe)
        )
        return User(f"edge-{name}", role, publish, subscribe, roles.edge_account(name))

    @property
    def accounts(self) -> tuple[str, ...]:
        """All accounts: those of the table, and one for each edge."""
        return (*self.tabled, *map(roles.edge_account, self.edges))

    def account(self, name: str) -> str:
        """The name of an account on the server."""
        return roles.account_name(self.prefix, name)

    def exports(self, account: str = roles.ENGINE) -> Iterator[tuple[str, Export]]:
        """What an account exports, with the subject."""
        for export in roles.EXPORTS if account == roles.ENGINE else ():
            if to := tuple(one for one in export.to if one in self.tabled):
                yield roles.filled(export.subject, self.prefix), export._replace(to=to)
        for name in self.edges:
            if account == roles.edge_account(name):
                for export in roles.EDGE_EXPORTS:
                    yield roles.filled(export.subject, self.prefix, name), export

    def imports(self, account: str) -> Iterator[Import]:
        """What an account imports."""
        for owner, name in ((roles.ENGINE, ""), *((roles.edge_account(edge), edge) for edge in self.edges)):
            for subject, export in self.exports(owner):
                if account in export.to:
                    yield Import(
                        export, subject, roles.filled(export.local or export.subject, self.prefix, name), owner
                    )


def inbox_of(user: str) -> str:
    """The inbox prefix of a user."""
    return f"_INBOX_{user}"
