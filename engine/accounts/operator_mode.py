"""The accounts for a server in operator mode: JWTs of the operator and the accounts, and credentials of the users.

Belongs here: `operator_mode`, which prints an `AccountPlan` and writes credentials. Does not: the table (`roles`).

Users are in their credentials only, so a user can be added without telling the server.
"""

import base64
import hashlib
import json
import time
from pathlib import Path
from typing import Any

from phaseline.engine.accounts import roles
from phaseline.engine.accounts.keys import KeyFolder
from phaseline.engine.accounts.nats_conf import THRESHOLD, holds_streams
from phaseline.engine.accounts.secret_files import replace_secret
from phaseline.engine.accounts.users import AccountPlan, Import, User

SECOND = 1_000_000_000
ANSWER_LIMIT = 120 * SECOND
"""How long a user may answer a request, once; ns, as `allow_responses` in a configuration file."""
UNLIMITED = dict.fromkeys(("subs", "conn", "leaf", "imports", "exports", "data", "payload"), -1) | {"wildcards": True}
STORED = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
SYSTEM = "system"
"""The account of the servers themselves. Operator mode needs one for JetStream."""
CREDENTIALS = """\
-----BEGIN NATS USER JWT-----
{token}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
{seed}
------END USER NKEY SEED------
"""


class Authority:
    """The operator's and the accounts' keys, in a folder, and what they sign."""

    def __init__(self, plan: AccountPlan, folder: Path) -> None:
        """The keys are made when they are needed."""
        self.plan = plan
        self.operators, self.accounts = KeyFolder(folder, "operator"), KeyFolder(folder, "account")
        self.operator = f"{plan.account('operator')}"

    def key(self, account: str) -> str:
        """The public key of an account of the plan."""
        return self.accounts.public(self.plan.account(account))

    def operator_token(self) -> str:
        """The operator's JWT, signed by itself."""
        own = self.operators.public(self.operator)
        about = {"type": "operator", "version": 2, "system_account": self.key(SYSTEM)}
        return _signed(self.operators, self.operator, own, self.operator, about)

    def account_token(self, account: str) -> str:
        """The JWT of an account, signed by the operator."""
        stored = account != SYSTEM and holds_streams(account)
        about: dict[str, Any] = {"type": "account", "version": 2, "limits": {**UNLIMITED, **(STORED if stored else {})}}
        if exports := [_export(subject, export) for subject, export in self.plan.exports(account)]:
            about["exports"] = exports
        if imports := [self._import(account, found) for found in self.plan.imports(account)]:
            about["imports"] = imports
        return _signed(self.operators, self.operator, self.key(account), self.plan.account(account), about)

    def _import(self, account: str, found: Import) -> dict[str, Any]:
        """An import, with the token by which the other account allows it."""
        kind = found.export.kind
        allowed = {"type": "activation", "version": 2, "subject": found.subject, "kind": kind}
        owner = self.plan.account(found.owner)
        return {
            "name": found.subject,
            "type": kind,
            "subject": found.subject,
            "account": self.key(found.owner),
            "token": _signed(self.accounts, owner, self.key(account), found.subject, allowed),
            **({"local_subject": found.local} if found.local != found.subject else {}),
        }

    def user_token(self, user: User, public: str) -> str:
        """The JWT of a user, signed by its account."""
        about: dict[str, Any] = {
            "type": "user",
            "version": 2,
            "pub": {"allow": user.publish} if user.publish else {"deny": [">"]},
            "sub": {"allow": user.subscribe},
            **dict.fromkeys(("subs", "data", "payload"), -1),
            **({"resp": {"max": 1, "ttl": ANSWER_LIMIT}} if user.role.answers else {}),
        }
        return _signed(self.accounts, self.plan.account(user.account), public, user.name, about)


def operator_mode(plan: AccountPlan, users: KeyFolder) -> str:
    """A part of nats-server's configuration file. Writes `<user>.creds` for each user, beside the keys."""
    authority = Authority(plan, users.folder / "authority")
    lines = [
        f"operator: {authority.operator_token()}",
        f"system_account: {authority.key(SYSTEM)}",
        "resolver: MEMORY",
        "resolver_preload: {",
    ]
    for account in (SYSTEM, *plan.accounts):
        lines += [f"  # {plan.account(account)}", f"  {authority.key(account)}: {authority.account_token(account)}"]
    for user in plan.users():
        token = authority.user_token(user, users.public(user.name))
        replace_secret(users.folder / f"{user.name}.creds", CREDENTIALS.format(token=token, seed=users.seed(user.name)))
    return "\n".join([*lines, "}"]) + "\n"


def _export(subject: str, export: roles.Export) -> dict[str, Any]:
    many = {"response_type": "Stream", "response_threshold": int(THRESHOLD.removesuffix("s")) * SECOND}
    service = many if export.many else {"response_type": "Singleton"} if export.kind == "service" else {}
    return {"name": subject, "subject": subject, "type": export.kind, "token_req": True, **service}


def _signed(keys: KeyFolder, signer: str, subject: str, name: str, about: dict[str, Any]) -> str:
    """A JWT about `subject`, signed by the key `signer`."""
    claims = {"iat": int(time.time()), "iss": keys.public(signer), "name": name, "sub": subject, "nats": about}
    digest = hashlib.sha256(_compact(claims)).digest()
    claims["jti"] = base64.b32encode(digest).decode().rstrip("=")
    parts = [_encoded(_compact(part)) for part in ({"typ": "JWT", "alg": "ed25519-nkey"}, claims)]
    signature = keys.sign(signer, ".".join(parts).encode())
    return ".".join([*parts, _encoded(signature)])


def _compact(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
