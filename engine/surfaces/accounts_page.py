"""The tables of roles and exports in docs/security.md, generated from the table that makes the configuration.

Belongs here: writing or checking them. Does not: the rest of that page, which people write.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from phaseline.engine.nats.accounts import roles
from phaseline.engine.nats.accounts.users import AccountPlan
from phaseline.machines.docs.written_parts import keep_part

COMMAND = "python -m phaseline.engine.surfaces.generate"
PAGE = Path("docs/security.md")
BEGIN, END = "<!-- generated: the tables of roles and exports -->", "<!-- end of the generated tables -->"


def tables(prefix: str = "pl") -> str:
    """All tables, as Markdown."""
    return "\n".join([*_roles(prefix), "", *_exports(prefix), "", *_edge_exports(prefix)]) + "\n"


def _roles(prefix: str) -> Iterator[str]:
    yield "| role | account | who | publishes | subscribes |"
    yield "|---|---|---|---|---|"
    for role in roles.ROLES:
        publish, subscribe, never = (
            _subjects(roles.filled(subject, prefix, f"<{role.name}>") for subject in subjects)
            for subjects in (role.publish, role.subscribe, role.never)
        )
        publish += f", and never {never}" if role.never else ""
        answers = ", and answers requests" if role.answers else ""
        account = roles.account_name(
            prefix, roles.edge_account("<edge>") if role.account == roles.EDGE else role.account
        )
        yield f"| {role.name} | `{account}` | {role.who} | {publish}{answers} | {subscribe} |"


def _exports(prefix: str) -> Iterator[str]:
    plan = AccountPlan(prefix)
    yield f"| `{plan.account(roles.ENGINE)}` exports | as a | to | there it is called | for |"
    yield "|---|---|---|---|---|"
    for subject, export in plan.exports():
        to = _subjects(plan.account(account) for account in export.to)
        local = f"`{roles.filled(export.local, prefix)}`" if export.local else "the same"
        yield f"| `{subject}` | {export.kind} | {to} | {local} | {export.why} |"


def _edge_exports(prefix: str) -> Iterator[str]:
    account = roles.account_name(prefix, roles.edge_account("<edge>"))
    yield f"| `{account}` exports | as a | to | there it is called | for |"
    yield "|---|---|---|---|---|"
    for export in roles.EDGE_EXPORTS:
        subject, local = (roles.filled(one, prefix, "<edge>") for one in (export.subject, export.local))
        to = _subjects(roles.account_name(prefix, account) for account in export.to)
        yield f"| `{subject}` | {export.kind} | {to} | {f'`{local}`' if local else 'the same'} | {export.why} |"


def _subjects(found: Iterable[str]) -> str:
    return ", ".join(f"`{subject}`" for subject in found) or "nothing"


def renewed(page: str) -> str:
    """The page with the present tables."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{rest.partition(END)[2]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the tables; 1 if `--check` finds them stale."""
    return keep_part(arguments, COMMAND, PAGE, renewed)
