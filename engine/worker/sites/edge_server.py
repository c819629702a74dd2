"""The configuration of the NATS server of an edge: who may publish there, and how it reaches the hub.

Belongs here: `edge_server`, which prints it. Does not: the accounts' table (`nats.accounts.roles`), the hub's
configuration (`nats.accounts.nats_conf`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from phaseline.engine.nats.accounts import roles
from phaseline.engine.nats.accounts.nats_conf import nats_conf, quoted
from phaseline.engine.nats.accounts.users import AccountPlan
from phaseline.engine.worker.sites.edge_names import EdgeNames

RECONNECT = "50ms"
"""How often the edge's server tries to reach the hub.

A hub that starts asks its edges for events after 0.1 s. Who is not connected by then is asked again after 5 s.
"""
PING = "5s"
"""How often it asks the hub for a sign of life. After two questions without an answer it connects anew."""
SYNC = "always"
"""When the store is written to the disk: before an event is acknowledged.

A store that loses its last events in a power cut gives their numbers to the next ones, and the hub takes these for the
events that it has had.
"""


@dataclass(frozen=True, slots=True)
class EdgeServer:
    """What the configuration says. Files are named as they are called at the edge.

    hub: URLs of the hub's leaf node ports. seed, creds: the edge's user there; without either, the hub has no accounts.
    """

    names: EdgeNames
    hub: tuple[str, ...]
    listen: str = "127.0.0.1:4222"
    data: str = "./data"
    max_store: int = 0
    seed: str = ""
    creds: Path | None = None
    hub_ca: Path | None = None
    hub_cert: Path | None = None
    hub_key: Path | None = None

    @property
    def has_user(self) -> bool:
        """Whether the hub knows the edge by a user."""
        return bool(self.seed or self.creds)


def users_at_edge(prefix: str, trees: tuple[str, ...]) -> AccountPlan:
    """The accounts of the edge's server: the agents of its trees, and the operators of the hub."""
    tabled = (roles.ENGINE, roles.PUBLISHERS)
    return AccountPlan(prefix, trees, readers=(), watchers=(), workers=(), tabled=tabled)


def edge_server(server: EdgeServer, plan: AccountPlan, public: Callable[[str], str]) -> str:
    """The configuration file. plan: the users at the edge. public: the public nkey of a user."""
    names = server.names
    limit = f", max_file_store: {server.max_store}" if server.max_store else ""
    lines = [
        f"# The NATS server of the edge {names.name}: nats-server -c FILE",
        f"server_name: {names.domain}",
        f"listen: {quoted(server.listen)}",
        f"ping_interval: {PING}",
        f"jetstream {{ domain: {names.domain}, store_dir: {quoted(server.data)}{limit}, sync_interval: {SYNC} }}",
        "leafnodes {",
        f"  reconnect: {RECONNECT}",
        "  remotes: [",
        "    {",
        *(f"      {line}" for line in _remote(server, plan)),
        "    }",
        "  ]",
        "}",
    ]
    text = "\n".join(lines) + "\n"
    return text + nats_conf(plan, public) if server.has_user else text


def _remote(server: EdgeServer, plan: AccountPlan) -> Iterator[str]:
    yield f"urls: {quoted(list(server.hub))}"
    if server.has_user:
        yield f"account: {plan.account(roles.ENGINE)}"
    if server.creds is not None:
        yield f"credentials: {quoted(str(server.creds))}"
    elif server.seed:
        yield f"nkey: {server.seed}  # a secret: the edge's key at the hub"
    files = {"ca_file": server.hub_ca, "cert_file": server.hub_cert, "key_file": server.hub_key}
    tls = [f"{name}: {quoted(str(file))}" for name, file in files.items() if file is not None]
    if tls:
        yield f"tls {{ {', '.join(tls)} }}"
    # Events cross in the stream only: not as messages too, in neither direction.
    events = quoted([f"{server.names.prefix}.events.>"])
    yield f"deny_exports: {events}"
    yield f"deny_imports: {events}"
