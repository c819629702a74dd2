"""docs/client.md, Rights: the role that the page gives a call suffices for it, and less does not."""

import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

import phaseline
from phaseline.schemas.errors import NotPermitted
from tests.support.accounts_server import AccountsServer, accounts_installation
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.cloud_events import event
from tests.support.command import ROOT
from tests.support.own_installation import Client, Session

PAGE = (ROOT / "docs" / "client.md").read_text()
SECTION = PAGE.partition("\n## Rights\n")[2].partition("\n## ")[0]
TABLE = {
    role: re.findall(r"`([\w.]+)`", calls)
    for role, calls in re.findall(r"^\| `(\w+)` \| (.*) \|$", SECTION, re.MULTILINE)
}
USERS = {"tree": "tree-c1", "reader": "reader", "operator": "operator"}
MISSING = {
    "tree": {"reader": "tree of c1", "watcher": "tree of c1"},
    "reader": {"tree-c1": "reader", "watcher": "reader"},
    "operator": {"tree-c1": "reader", "reader": "tree of c1", "watcher": "(reader|tree of c1)"},
}
"""By role, users who have less, and the role whose right they miss first."""
OBJECT = "shop/web/apps:Deployment/default/web"
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}}
REFUSED: tuple[str, str, str, dict[str, Any]] = ("node", "create", "c1/p/n1", {})
STORY: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("cluster", "adopt", "c1", {"phase": "Running"}),
    ("node", "adopt", "c1/p/n1", {"phase": "Running"}),
    REFUSED,
    ("emco_resource", "create", "r", {}),
    ("bundle_deployment", "target", "infra/web/edge-1", {"deployment_id": "v1"}),
    ("resource", "observed", OBJECT, {"live": DEPLOYMENT, "desired": DEPLOYMENT}),
)
Call = Callable[[Any], Awaitable[Any] | AsyncIterator[Any]]
VIEW: dict[str, Call] = {
    "get": lambda of: of.get("node", "c1/p/n1"),
    "last": lambda of: of.last("node", "c1/p/n1"),
    "list": lambda of: of.list("node"),
    "tree": lambda of: of.tree("c1"),
    "kind_of": lambda of: of.kind_of("c1/p/n1"),
    "why": lambda of: of.why("node", "c1/p/n1"),
    "overview": lambda of: of.overview(),
    "emco.status": lambda of: of.emco.status("r"),
    "emco.selection": lambda of: of.emco.selection("r"),
    "fleet.counts": lambda of: of.fleet.counts("infra"),
    "fleet.cluster_counts": lambda of: of.fleet.cluster_counts("edge-*"),
}
"""The calls that a view has too."""
CALLS: dict[str, Call] = {
    **VIEW,
    "sources": lambda client: client.sources(),
    "ask": lambda client: client.ask("emco_resource", "r"),
    "publish": lambda client: client.publish("cluster", "update", "c1"),
    "publish_many": lambda client: client.publish_many([event(5, subject="node/c1/p/n5")]),
    "publish_and_wait": lambda client: client.publish_and_wait("cluster", "update", "c1"),
    "dry_run": lambda client: client.dry_run("cluster", "update", "c1"),
    "at": lambda client: client.at("now"),
    "moment": lambda client: client.moment("now"),
    "log_identity": lambda client: client.log_identity(),
    "watch": lambda client: client.watch(tree="c1", start="start", follow=False),
    "history": lambda client: client.history("node", "c1/p/n1"),
    "rejections": lambda client: client.rejections(),
    "rejection_counts": lambda client: client.rejection_counts(),
    "event": lambda client: client.event(1),
    "timeline": lambda client: client.timeline("c1"),
    "changes": lambda client: client.changes("start"),
    "gitops.diff": lambda client: client.gitops.diff(OBJECT),
    "gitops.manifest": lambda client: client.gitops.manifest("resource", OBJECT),
}

FOLLOWING: dict[str, Call] = {
    "follow": lambda client: first_of(client.follow("pager", "node", start="start")),
    "followers": lambda client: client.followers(),
    "unfollow": lambda client: client.unfollow("pager"),
}


class Installed:
    """A server with accounts, where something has happened, and a client for each user."""

    def __init__(self, server: AccountsServer, clients: dict[str, Client]) -> None:
        self.server, self.clients = server, clients
        self.receipt: phaseline.Receipt
        self.rejected = 0
        self.nodes: list[phaseline.Entity] = []

    async def tell(self) -> None:
        """Make something happen."""
        client = self.clients["operator"]
        for told in STORY:
            outcome = await client.publish_and_wait(*told)
            assert outcome.effect == ("rejection" if told == REFUSED else "transitions"), outcome
            self.receipt = outcome.receipt
        async with client.rejections() as refused:
            async for _ in refused:
                self.rejected = refused.sequence
        self.nodes = [entity async for entity in client.list("node")]

    @property
    def calls(self) -> dict[str, Call]:
        """All calls, with what they need to know of this installation. A snapshot stands there once for each way."""
        parts = ("cluster", "c1", "node", [{"id": "p/n1", "phase": "Running"}])
        return {
            **CALLS,
            "snapshot": lambda client: client.snapshot(*parts),
            "snapshot, wait": lambda client: client.snapshot(*parts, wait=10),
            "resend": lambda client: client.resend(self.rejected),
            "outcome": lambda client: client.outcome(self.receipt),
            "record": lambda client: client.record(self.rejected),
            "way_out": lambda client: client.way_out(self.rejected),
            "stale_since": lambda client: client.stale_since(self.nodes),
        }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def installed() -> AsyncIterator[Installed]:
    async with accounts_installation() as server, AsyncExitStack() as stack:
        clients = {}
        for name in (*USERS.values(), "watcher"):
            settings = server.settings(name, partitions=None, request_timeout=10.0)
            clients[name] = await stack.enter_async_context(Client.open(settings, kinds=BUILT_IN_KINDS))
        found = Installed(server, clients)
        await found.tell()
        yield found


def roles_of(calls: Iterable[str]) -> dict[str, str]:
    """By call, the least role that the page names for it."""
    found = {name: role for role in reversed(TABLE) for name in TABLE[role]}
    assert list(TABLE) == list(USERS)
    assert "`snapshot` with `wait`" in SECTION
    return {name: "operator" if name == "snapshot, wait" else found[name] for name in calls}


def public(of: type, group: str = "") -> set[str]:
    methods = inspect.getmembers(of, inspect.isfunction)
    return {f"{group}{name}" for name, _ in methods if not name.startswith("_")}


def test_every_method_is_in_the_table() -> None:
    groups = (
        public(phaseline.emco.Emco, "emco.")
        | public(phaseline.fleet.Fleet, "fleet.")
        | public(phaseline.gitops.Gitops, "gitops.")
    )
    documented = {name for names in TABLE.values() for name in names} - {"wait"}
    assert documented == (public(Client) | groups) - {"close"}
    assert documented == {
        *CALLS,
        "snapshot",
        "resend",
        "outcome",
        "record",
        "way_out",
        "source",
        "stale_since",
        *FOLLOWING,
    }
    shared = public(phaseline.emco.EmcoView, "emco.") | public(phaseline.fleet.FleetView, "fleet.")
    only = {"last_of", "last_of_tree", "next_place", "refused", "said", "shut", "stale", "unknown_parts", "unsorted"}
    assert public(phaseline.EntityView) | shared == {*VIEW, "stale_since"} | only


async def answer(made: Any) -> Any:
    """The answer of a call, read whole."""
    return [one async for one in made] if isinstance(made, AsyncIterator) else await made


@pytest.mark.asyncio(loop_scope="module")
async def test_the_role_of_a_call_suffices_and_less_does_not(installed: Installed) -> None:
    for name, role in roles_of(installed.calls).items():
        call = installed.calls[name]
        for user in {USERS[role], "operator"}:
            assert await answer(call(installed.clients[user])) is not None, (name, user)
        for user, lacking in MISSING[role].items():
            with pytest.raises(NotPermitted, match=rf" may not publish to \S+; the role {lacking} may") as refused:
                await answer(call(installed.clients[user]))
            assert refused.value.subject in str(refused.value), name


async def first_of(feed: phaseline.Follow) -> phaseline.Followed:
    """The first transition that a follower is handed."""
    async with feed:
        found = await anext(feed)
        await feed.ack()
        return found


@pytest.mark.asyncio(loop_scope="module")
async def test_only_an_operator_follows_under_a_name(installed: Installed) -> None:
    """So no tenant can take what somebody follows, or forget the place of somebody else."""
    assert FOLLOWING.keys() <= {name for name, role in roles_of(FOLLOWING).items() if role == "operator"}
    operator = installed.clients["operator"]
    assert (await answer(FOLLOWING["follow"](operator))).record.entity.id == "c1/p/n1"
    for name, call in FOLLOWING.items():
        for user, lacking in {"tree-c1": "reader", "reader": "operator", "watcher": "reader"}.items():
            with pytest.raises(NotPermitted, match=rf" may not publish to \S+; the role {lacking} may"):
                await answer(call(installed.clients[user]))
        assert [one.name for one in await operator.followers()] == ["pager"], name
    await operator.unfollow("pager")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_reader_suffices_for_all_of_a_view(installed: Installed) -> None:
    for when in (None, "now"):
        view = await installed.clients["reader"].at(when)
        for name, call in VIEW.items():
            assert await answer(call(view)) is not None, name
        assert await view.next_place() > 1
        nodes = await view.last_of("node")
        assert len(nodes) == len(await view.last_of_tree("c1")) - 2
        assert {one.entity.id for one in nodes} == {one.entity.id async for one in view.unsorted("node")}
        assert await view.unknown_parts(installed.nodes) == {}
        assert await view.stale_since(installed.nodes) == await view.stale(installed.nodes) == {}


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_refused_is_not_published(installed: Installed) -> None:
    for user in ("tree-c1", "reader", "watcher"):
        with pytest.raises(NotPermitted):
            await installed.clients[user].publish_and_wait("cluster", "overdue", "c1")
    await installed.clients["operator"].publish_and_wait("cluster", "update", "c1")
    records = [one async for one in installed.clients["reader"].watch("cluster", start="start", follow=False)]
    assert "overdue" not in {record.trigger for record in records}


@pytest.mark.asyncio(loop_scope="module")
async def test_two_clients_with_the_least_rights(installed: Installed, capsys: pytest.CaptureFixture[str]) -> None:
    [sample] = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    names: dict[str, Any] = {"phaseline": phaseline}
    exec(sample, names)
    await names["publish_and_ask"](installed.server.url, str(installed.server.keys.folder))
    assert capsys.readouterr().out in ("transitions\n", "rejection\n", "none\n")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_reader_reads_cells_and_one_who_may_not_hides_no_other(installed: Installed) -> None:
    settings = {name: installed.server.settings(name, request_timeout=10.0) for name in ("reader", "watcher")}
    made = {
        name: phaseline.types.Connecting(partial(Session.start, one, None, BUILT_IN_KINDS))
        for name, one in settings.items()
    }
    async with phaseline.Cells(made) as cells:
        assert {cell async for cell, _ in cells.list("node")} == {"reader"}
        assert isinstance(cells.away["watcher"], NotPermitted)
        assert await cells.having("c1") == ["reader"]
        assert {one.cell for one in await cells.changes("start")} == {"reader"}
        async with cells.watch("node", start="start", follow=False) as watch:
            assert {one.cell async for one in watch} == {"reader"}
        assert isinstance(watch.places["reader"], int)
