"""The accounts as a part of nats-server's configuration file.

Belongs here: `nats_conf`, which prints an `AccountPlan`. Does not: listeners, TLS, storage and clusters of the server.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from phaseline.engine.nats.accounts import roles
from phaseline.engine.nats.accounts.roles import Export
from phaseline.engine.nats.accounts.users import AccountPlan, Import, User

THRESHOLD = "10s"
"""How long the server remembers where the answers to a request go, after the last one."""


def nats_conf(plan: AccountPlan, public: Callable[[str], str]) -> str:
    """The block `accounts`. public: the public nkey of a user."""
    lines = ["accounts {"]
    for account in plan.accounts:
        lines += [f"  {plan.account(account)} {{", *_account(plan, account, public), "  }"]
    return "\n".join([*lines, "}"]) + "\n"


def _account(plan: AccountPlan, account: str, public: Callable[[str], str]) -> Iterator[str]:
    if _holds_streams(account):
        yield "    jetstream: enabled"
    yield "    users: ["
    for user in plan.users(account):
        inbox = "" if user.role.account == roles.EDGE else f"; inbox prefix {user.inbox}"
        yield f"      # {user.name}: {user.role.who}{inbox}"
        yield f"      {{ nkey: {public(user.name)}, permissions: {_permissions(user)} }}"
    yield "    ]"
    if exports := [_export(plan, subject, export) for subject, export in plan.exports(account)]:
        yield from _list("exports", exports)
    if imports := [_import(plan, found) for found in plan.imports(account)]:
        yield from _list("imports", imports)


def quoted(value: str | Sequence[str]) -> str:
    """A text, or a list of texts, as nats-server reads it: in UTF-8. It does not know the escapes that JSON has."""
    return json.dumps(value, ensure_ascii=False)


def _holds_streams(account: str) -> bool:
    """Whether an account has streams of its own."""
    return account == roles.ENGINE or account not in roles.ACCOUNTS


def _permissions(user: User) -> str:
    never = f", deny: {quoted(user.never)}" if user.never else ""
    publish = f"{{ allow: {quoted(user.publish)}{never} }}" if user.publish else '{ deny: [">"] }'
    answers = ", allow_responses: true" if user.role.answers else ""
    return f"{{ publish: {publish}, subscribe: {{ allow: {quoted(user.subscribe)} }}{answers} }}"


def _list(name: str, entries: Iterable[str]) -> Iterator[str]:
    yield f"    {name}: ["
    yield from (f"      {entry}" for entry in entries)
    yield "    ]"


def _export(plan: AccountPlan, subject: str, export: Export) -> str:
    to = quoted([plan.account(account) for account in export.to])
    many = f', response_type: stream, threshold: "{THRESHOLD}"' if export.many else ""
    return f"{{ {export.kind}: {quoted(subject)}, accounts: {to}{many} }}"


def _import(plan: AccountPlan, found: Import) -> str:
    source = f"{{ account: {plan.account(found.owner)}, subject: {quoted(found.subject)} }}"
    to = f", to: {quoted(found.local)}" if found.local != found.subject else ""
    return f"{{ {found.export.kind}: {source}{to} }}"
