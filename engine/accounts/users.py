"""The users of an installation: the roles of the table, each with names, keys, and subjects written out.

Belongs here: `AccountPlan`, which all forms of a configuration are made from. Does not: the forms (`nats_conf`,
`operator_mode`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from phaseline.engine.accounts import roles
from phaseline.engine.accounts.roles import Export, Role
from phaseline.engine.errors import BadUserName
from phaseline.schemas.subjects import BadSubject, check_id, quote


class User(NamedTuple):
    """One user. name: of its key file and its inbox. `publish` and `subscribe` are complete."""

    name: str
    role: Role
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]

    @property
    def inbox(self) -> str:
        """The prefix of its replies: the setting `inbox_prefix`."""
        return inbox_of(self.name)


class Import(NamedTuple):
    """What an account takes from the engine's account: `subject` there is `local` here."""

    export: Export
    subject: str
    local: str


@dataclass(frozen=True, slots=True)
class AccountPlan:
    """The accounts of one installation. Names of users must differ from each other; raises `BadUserName`."""

    prefix: str
    trees: Sequence[str] = ()
    readers: Sequence[str] = ("reader",)
    watchers: Sequence[str] = ("watcher",)
    operators: Sequence[str] = ("operator",)

    def __post_init__(self) -> None:
        names = [user.name for user in self.users()]
        for name in names:
            if names.count(name) > 1:
                raise BadUserName(name=name, problem="there are several users of this name")

    def users(self, account: str | None = None) -> Iterator[User]:
        """All users, or those of one account."""
        named = {
            "engine": ("engine",),
            "operator": self.operators,
            "tree": self.trees,
            "reader": self.readers,
            "watcher": self.watchers,
        }
        for role in roles.ROLES:
            for name in named[role.name]:
                if account in (None, role.account):
                    yield self._user(role, name)

    def _user(self, role: Role, name: str) -> User:
        try:
            check_id(name)
        except BadSubject as error:
            raise BadUserName(name=name, problem=str(error)) from None
        if "/" in name:
            raise BadUserName(name=name, problem="a tree is named by its root, without a slash")
        token = quote(name)
        user = f"tree-{token}" if role.name == "tree" else token
        publish, subscribe = (
            tuple(roles.filled(subject, self.prefix, token) for subject in subjects)
            for subjects in (role.publish, role.subscribe)
        )
        return User(user, role, publish, (f"{inbox_of(user)}.>", *subscribe))

    def account(self, name: str) -> str:
        """The name of an account on the server."""
        return roles.account_name(self.prefix, name)

    def exports(self) -> Iterator[tuple[str, Export]]:
        """What the engine's account exports, with the subject."""
        return ((roles.filled(export.subject, self.prefix), export) for export in roles.EXPORTS)

    def imports(self, account: str) -> Iterator[Import]:
        """What an account imports."""
        for subject, export in self.exports():
            if account in export.to:
                yield Import(export, subject, roles.filled(export.local or export.subject, self.prefix))


def inbox_of(user: str) -> str:
    """The inbox prefix of a user."""
    return f"_INBOX_{user}"
