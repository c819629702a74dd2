"""Who may do what: the roles, their accounts, and what passes between the accounts. One literal table.

Belongs here: the table, from which configurations, docs/security.md and tests are made. Does not: names of users, keys
(`users`), the form of a configuration (`nats_conf`).

The server checks the subject on which a user publishes, but not the reply subject that the user names: it sends the
answer there, on the user's behalf, to any subject of the account that answers. So whoever is not trusted is in another
account. There a reply subject means nothing to the engine.

Two rules keep it so, and hold for everything that is added:
- Consumers are not exported: the request that creates one may name a subject of the engine's account for its messages.
  Direct gets answer to the reply subject only.
- An account either publishes or reads. The server passes an answer on if its reply subject is another service that the
  account imports, though never to the service that gave the answer. Publishers import one service.

Each edge has an account of its own, because the server of an edge speaks the protocol of servers: it says itself which
subject a message had, and a stream that takes messages from it answers to any reply subject that it names. So the
stream that takes them is in the account of the edge, and the engine's account reads that stream.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from phaseline.schemas.subjects import ACTOR, covers

ENGINE, PUBLISHERS, READERS, WATCHERS = "engine", "publishers", "readers", "watchers"
ACCOUNTS = (ENGINE, PUBLISHERS, READERS, WATCHERS)
EDGE = "edge"
"""The beginning of the names of the edges' accounts: `edge_c1`."""


class Role(NamedTuple):
    """What users of a role may do in their account, besides subscribing to their own inbox.

    `{p}` stands for the prefix of the installation, `{S}` for the same in names of streams, `{name}` for the user,
    which is a tree's root for the role `tree`, and the edge for the role `edge`.
    answers: whether they may answer requests that they receive. never: where they may not publish, although `publish`
    takes it in.
    """

    name: str
    account: str
    who: str
    publish: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    answers: bool = False
    never: tuple[str, ...] = ()


class Export(NamedTuple):
    """What another account may use of the engine's account, or of the account of an edge.

    kind: a service takes requests, a stream sends messages. local: the subject in the importing account, if it is
    another one. many: whether a request may get several answers. `{S}` stands for the prefix in names of streams.
    """

    kind: Literal["service", "stream"]
    subject: str
    to: tuple[str, ...]
    why: str
    local: str = ""
    many: bool = False


FEED = ("{p}.transition.>", "{p}.rejection.>", "{p}.loss.>")
WRITTEN_BY_WORKERS = tuple(
    f"{{p}}.{branch}.>" for branch in ("log", "mark", "plan", "tables", "timer", "lease", "owner")
)
KEEPS_INLETS = tuple(
    f"{{p}}.edge.*.{what}"
    for what in (
        "api.INFO", "api.STREAM.INFO.*", "api.STREAM.PURGE.*", "api.STREAM.MSG.GET.*", "api.STREAM.UPDATE.*",
        "far.STREAM.INFO.*", "far.STREAM.PURGE.*",
    )
)  # fmt: skip
"""What a worker asks of the account of an edge, and of its server.

It removes from the inlet what EVENTS has, says what was dropped, and lets the inlet ask an edge again that is back.
"""

ROLES = (
    Role(
        "engine", ENGINE, "the workers",
        publish=(*WRITTEN_BY_WORKERS, *KEEPS_INLETS, "$JS.API.>"),
        subscribe=("{p}.status.>", "{p}.owner.>", "$SRV.>"),
        answers=True,
    ),
    Role(
        "operator", ENGINE, "people who maintain the installation with the command",
        publish=(
            "{p}.events.>", "{p}.status.>", "$SRV.>", "{p}.tables.*.purged", "{p}.tables.archived",
            "{p}.tables.operated", "{p}.tables.skipped", "{p}.mark.*.transition.checkpoint.-.-.-", "{p}.edge.>",
            "$JS.API.>", "$JS.*.API.>", "$JS.SNAPSHOT.>", "$JS.ACK.{S}-LOG.>", "$JS.ACK.*.*.{S}-LOG.>",
        ),
        subscribe=FEED,
    ),
    Role(
        "tree", PUBLISHERS, "the agent of one tree, which publishes its events",
        publish=("{p}.events.{name}.>",),
        never=(f"{{p}}.events.*.{ACTOR}.>",),
    ),
    Role(
        "reader", READERS, "programs that ask for states and histories, with the command or the client",
        publish=("{p}.read.>", "{p}.status.>"),
        subscribe=FEED,
    ),
    Role("watcher", WATCHERS, "programs that receive the live feed and ask for nothing", subscribe=FEED),
    Role(
        "edge", EDGE, "the NATS server of one edge, which connects as a leaf node",
        publish=("{p}.edge.{name}.up.>", "$JSC.R.>", "_R_.>"),
        subscribe=("$JS.{S}-edge-{name}.API.>", "$JS.FC.{S}-EDGE.>"),
    ),
)  # fmt: skip

EXPORTS = (
    Export("service", "{p}.events.>", (PUBLISHERS,), "publishing, with acknowledgements"),
    Export("stream", "{p}.transition.>", (READERS, WATCHERS), "the live feed"),
    Export("stream", "{p}.rejection.>", (READERS, WATCHERS), "the live feed"),
    Export("stream", "{p}.loss.>", (READERS, WATCHERS), "the live feed: what a worker found missing"),
    Export("service", "{p}.status.>", (READERS,), "status queries"),
    *(
        Export("service", f"$JS.API.{what}.{{S}}-{stream}", (READERS,), why, f"{{p}}.read.{what}.{{S}}-{stream}", many)
        for what, why, many, streams in (
            ("STREAM.INFO", "the number of partitions, the end of a stream", False, ("EVENTS", "LOG", "STATE")),
            ("STREAM.MSG.GET", "one message, from the leader", False, ("EVENTS", "LOG", "STATE")),
            ("DIRECT.GET", "several messages", True, ("EVENTS", "LOG", "STATE")),
        )
        for stream in streams
    ),
    *(
        Export("service", f"$JS.API.{what}", (READERS,), "the last message of a subject", f"{{p}}.read.{what}")
        for what in ("DIRECT.GET.{S}-STATE.{p}.state.>", "DIRECT.GET.{S}-LIVE.{p}.live.>")
    ),
)
EDGE_EXPORTS = (
    Export("service", "$JS.API.>", (ENGINE,), "the stream that takes the edge's events", "{p}.edge.{name}.api.>"),
    Export("service", "$JS.{S}-edge-{name}.API.>", (ENGINE,), "the stream at the edge", "{p}.edge.{name}.far.>"),
    Export("service", "$JS.FC.{S}-INLET-{name}.>", (ENGINE,), "the acknowledgements of EVENTS"),
    Export("stream", "{p}.edge.{name}.down.>", (ENGINE,), "the edge's events, for EVENTS"),
)
"""What the account of an edge exports."""
READ = "{p}.read"
"""The prefix under which readers find the part of the JetStream API that they may use."""


BY_RIGHTS = ("tree", "reader", "operator", "engine")
"""The roles that may publish something, the least first."""
CONSUMERS = "$JS.API.CONSUMER.>"
"""How operators read. Readers do without."""


def who_may(subject: str, prefix: str) -> str:
    """The least role that may publish to a subject, as the end of a sentence; empty if no role may."""
    role = least_role(subject, prefix)
    if role == "tree":
        role = f"tree of {subject.removeprefix(f'{prefix}.events.').partition('.')[0]}"
    how = f", with api_prefix {filled(READ, prefix)}" if role == "reader" and subject.startswith("$JS.") else ""
    return f"; the role {role} may{how}" if role else ""


def least_role(subject: str, prefix: str) -> str:
    """The role with the fewest rights that may publish to a subject, or ask the same otherwise; empty if none may."""
    may = {role.name: role.publish for role in ROLES}
    never = {role.name: role.never for role in ROLES}
    exported = (found.subject for found in EXPORTS if found.kind == "service" and READERS in found.to)
    may["reader"] = (*may["reader"], CONSUMERS, *exported)
    for name in BY_RIGHTS:
        if _is_among(subject, may[name], prefix) and not _is_among(subject, never[name], prefix):
            return name
    return ""


def _is_among(subject: str, found: Iterable[str], prefix: str) -> bool:
    return any(covers(filled(one, prefix, "*"), subject) for one in found)


def account_name(prefix: str, account: str) -> str:
    """The name of an account on the server: `engine` -> `pl_engine`."""
    return f"{prefix.replace('.', '_')}_{account}"


def edge_account(name: str) -> str:
    """The account of an edge, as in `ACCOUNTS`."""
    return f"{EDGE}_{name}"


def filled(subject: str, prefix: str, name: str = "") -> str:
    """A subject of the table, with the prefix of an installation and the name of a user."""
    stream = prefix.replace(".", "_")
    return subject.replace("{p}", prefix).replace("{S}", stream).replace("{name}", name)
