"""The accounts that `phaseline admin accounts` prints, on a server: each role times each subject that is not its own.

Each subject is tried as the subject of a message and as the reply subject of every request that the role may make.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from phaseline.schemas.errors import ApiFailed, NoAnswer, NotPermitted
from tests.support.account_requests import EVENT, INTERNAL, OTHER_TREES, REQUESTS, sizes
from tests.support.accounts_server import SPY, AccountPlan, AccountsServer, accounts_installation, roles
from tests.support.archives import run_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.http_server import http_server
from tests.support.installation import (
    EmbeddedServer,
    Installation,
    PublishResult,
    Settings,
    Wire,
    Worker,
    inspect,
    until_decided,
)
from tests.support.own_installation import Client
from tests.support.owners import tables_report
from tests.support.patience import LIMIT


@pytest_asyncio.fixture
async def server() -> AsyncIterator[AccountsServer]:
    """The accounts, with the streams of an installation that holds something. The worker has stopped: all is still."""
    async with accounts_installation() as installed:
        async with Client.open(installed.settings("operator")) as client:
            await client.publish_and_wait("cluster", "create", "c1", source="/x")
        await installed.stop_worker()
        async with Wire.open(installed.settings(SPY)) as wire:
            await until_sourced(wire)
        yield installed


async def until_sourced(wire: Wire) -> None:
    """Wait until each copy has its source: the server asks for them some time after it made the streams."""
    async with asyncio.timeout(60):
        for name in ("pl-EVENTS", "pl-STATE", "pl-LIVE"):
            while any(one["active"] < 0 for one in (await wire.api(f"STREAM.INFO.{name}"))["sources"]):
                await asyncio.sleep(0.02)


class Spy:
    """Everything that is published in the engine's account, from now on."""

    def __init__(self, wire: Wire) -> None:
        self.wire, self.seen = wire, list[str]()

    async def start(self) -> None:
        def note(subject: str, *_: object) -> None:
            if not subject.startswith(("_R_.", "$JS.EVENT.", "$JS.S.")):  # the server's own
                self.seen.append(subject)

        await self.wire.subscribe(">", note)
        await self.wire.flush()

    async def after(self, other: Wire) -> set[str]:
        """The subjects seen, once all that `other` sent has been handled and answered."""
        await other.flush(30)
        count = -1
        while count != len(self.seen):
            count = len(self.seen)
            await asyncio.sleep(0.2)
            await self.wire.flush(30)
        return set(self.seen)


def test_a_request_is_tried_for_each_export() -> None:
    exported = {found.local for account in roles.ACCOUNTS for found in AccountPlan("pl").imports(account)}
    feed = {"pl.transition.>", "pl.rejection.>", "pl.loss.>"}
    tried = {request for requests in REQUESTS.values() for request, _ in requests}
    for subject in exported - feed:
        start = subject.removesuffix(">")
        assert [request for request in tried if request.startswith(start)], f"no request for the export {subject}"


def test_an_answer_can_reach_nothing_but_further_reads() -> None:
    """The server passes an answer on to other services that the account imports. So no account publishes and reads."""
    for account in (roles.PUBLISHERS, roles.READERS, roles.WATCHERS):
        services = [found.subject for found in AccountPlan("pl").imports(account) if found.export.kind == "service"]
        reads = ("$JS.API.STREAM.INFO.", "$JS.API.STREAM.MSG.GET.", "$JS.API.DIRECT.GET.", "pl.status.")
        assert len(services) == 1 or all(subject.startswith(reads) for subject in services)


@pytest.mark.parametrize("user", REQUESTS)
async def test_no_message_of_a_role_arrives_where_it_may_not(server: AccountsServer, user: str) -> None:
    others = [*INTERNAL, *OTHER_TREES, *([] if user == "tree-c1" else ["pl.events.c1.cluster.create"])]
    async with Wire.open(server.settings(SPY)) as watching, Wire.open(server.settings(user)) as wire:
        spy = Spy(watching)
        await spy.start()
        for subject in others:
            with pytest.raises((NotPermitted, NoAnswer)):
                await wire.request(subject, b"{}", timeout=1.0)
        assert await spy.after(wire) == set()


@pytest.mark.parametrize(
    ("user", "own"),
    [
        (
            "operator",
            (
                "pl.tables.archived",
                "pl.tables.operated",
                "pl.tables.skipped",
                "pl.tables.0.purged",
                "pl.mark.0.transition.checkpoint.",
                "pl.edge.",
            ),
        ),
        ("engine", tuple(f"pl.{one}." for one in ("log", "mark", "plan", "tables", "timer", "lease", "owner"))),
    ],
)
async def test_users_of_the_engines_account_keep_to_their_subjects(
    server: AccountsServer, user: str, own: tuple[str, ...]
) -> None:
    """By mistake they cannot do what is not theirs. Reply subjects stay open to them: they are trusted."""
    others = [subject for subject in INTERNAL if subject.startswith("pl.") and not subject.startswith(own)]
    async with Wire.open(server.settings(user)) as wire:
        for subject in others:
            with pytest.raises(NotPermitted):
                await wire.request(subject, b"{}", timeout=30)


@pytest.mark.parametrize("user", ["tree-c1", "reader"])
async def test_no_answer_arrives_where_the_role_may_not_publish(server: AccountsServer, user: str) -> None:
    own = [subject for subject, _ in (*REQUESTS["tree-c1"], *REQUESTS["reader"])]
    replies = [*INTERNAL, *OTHER_TREES, *own]
    async with Wire.open(server.settings(SPY)) as watching, Wire.open(server.settings(user)) as wire:
        before = await sizes(watching)
        spy = Spy(watching)
        await spy.start()
        for request, body in REQUESTS[user]:
            for reply in replies:
                wire.send(wire.frame(request, body, None, reply))
        await spy.after(wire)
        # The requests arrive, and the server's answers to them: nothing else moves in the engine's account.
        taken = len(replies) - sum(reply.startswith("$JS.ACK.") for reply in replies)  # the server refuses these itself
        inside = [subject.replace("pl.read.", "$JS.API.") for subject, _ in REQUESTS[user]]
        seen = Counter(spy.seen)
        assert seen.keys() == set(inside)
        # The server passes an answer on to another service of its asker, but not to the one that gave it.
        assert seen == Counter(inside * taken) or user == "reader"
        async with Wire.open(server.settings(SPY)) as after:
            now = await sizes(after)
        assert now == {**before, "pl-EVENTS": before["pl-EVENTS"] + (taken if user == "tree-c1" else 0)}


@pytest.mark.parametrize("user", ["operator", "reader", "watcher"])
async def test_the_whole_live_feed_is_heard(server: AccountsServer, user: str) -> None:
    async with Wire.open(server.settings(user)) as wire, Wire.open(server.settings("engine")) as engine:
        for feed in ("transition", "rejection", "loss"):
            heard: asyncio.Queue[str] = asyncio.Queue()
            await wire.subscribe(f"pl.{feed}.>", lambda subject, *_, heard=heard: heard.put_nowait(subject))
            await wire.flush()
            async with asyncio.timeout(LIMIT):
                while heard.empty():  # the feed is not repeated for who was away for a moment
                    await engine.publish_acked(f"pl.log.0.{feed}.anything", b"{}", {})
                    await asyncio.sleep(0.05)
                while await heard.get() != f"pl.{feed}.anything":  # the worker of this server commits too
                    pass


async def test_each_role_can_do_its_work(tmp_path: Path) -> None:
    async with accounts_installation() as server, asyncio.timeout(60):
        heard: asyncio.Queue[str] = asyncio.Queue()
        async with Wire.open(server.settings("watcher")) as watcher:
            await watcher.subscribe("pl.transition.>", lambda subject, *_: heard.put_nowait(subject))
            await watcher.flush()
            async with Client.open(server.settings("tree-c1"), source="/agent/c1") as agent:
                await agent.publish("emco_resource", "create", "c1")
                await agent.publish("cluster", "adopt", "c1", {"phase": "Running"})
                found = await agent.publish_many(adopted(f"c1/p/n{number}") for number in range(1_200))
                assert found == PublishResult(1_200, 0)
            assert await heard.get() == "pl.transition.emco_resource.phase.Created.c1"
            while await heard.get() != "pl.transition.node.phase.Running.c1.p.n1199":
                pass
        async with Client.open(server.settings("reader")) as reader:
            assert (await reader.emco.status("c1", output="summary"))["state"] == "Created"
            while len([node async for node in reader.list("node", tree="c1")]) < 1_200:
                await asyncio.sleep(0.05)  # states are a copy of the log
            records = reader.watch("node", start="start", follow=False)
            assert [record.entity.id async for record in records] == [f"c1/p/n{number}" for number in range(1_200)]
            changed = await tables_report(await reader._session.installation())
            assert (changed.kinds, changed.entities, changed.groups.total()) == ([], 1_203, 0)
        async with http_server(server.settings("reader")) as api:  # with the subject prefix of the JetStream API
            await api.place()
            assert (await api.get("/v1/counts", kind="node"))["total"] == 1_200
            assert (await api.get("/v1/why/node/c1/p/n7"))["facets"]
            assert len((await api.get("/v1/history/cluster/c1"))["items"]) == 1
            assert (await api.get("/v1/summary"))["partitions"][0]["partition"] == 0
            past = await api.get(
                "/v1/columns", at=(await api.get("/v1/history/node/c1/p/n9"))["items"][0]["logsequence"]
            )
            assert "c1/p/n9" in past["id"]
        async with Wire.open(server.settings("operator")) as wire:
            live = Installation(wire, await inspect(wire, server.settings("operator")), BUILT_IN_KINDS)
            await until_decided(wire, live.layout)
            assert (await run_archive(live, tmp_path)).trimmed.events == 1_202
        async with Client.open(replace(server.settings("reader"), archive=str(tmp_path))) as reader:
            records = reader.watch("node", start="start", follow=False)
            assert [record.entity.id async for record in records] == [f"c1/p/n{number}" for number in range(1_200)]
            early = await reader.at(records.sequence - 700)
            assert 100 < len([node async for node in early.list("node")]) < 900


def adopted(node: str) -> dict[str, Any]:
    about = {"type": "node.adopt", "subject": f"node/{node}", "data": {"phase": "Running"}}
    return {"specversion": "1.0", "id": node, "source": "/agent/c1", **about}


class OneAccount(EmbeddedServer):
    """A server without accounts, whose users may publish one subject each."""

    def _config(self) -> str:
        users = [
            '{user: agent, password: x, permissions: {publish: "pl.events.c1.>", subscribe: "_INBOX_agent.>"}}',
            '{user: asker, password: x, permissions: {publish: "$JS.API.DIRECT.GET.pl-LOG", subscribe: "_INBOX_asker.>"}}',
            "{user: engine, password: x}",
        ]
        return f"{super()._config()}authorization {{ users: [ {', '.join(users)} ], timeout: 60 }}\n"

    def settings(self, user: str) -> Settings:
        url = self.url.replace("//", f"//{user}:x@")
        return Settings(nats=(url,), inbox_prefix=f"_INBOX_{user}", partitions=2)


async def test_without_accounts_an_answer_goes_wherever_its_asker_says() -> None:
    async with OneAccount() as server, Wire.open(server.settings("engine")) as engine:
        stop = asyncio.Event()
        worker = Worker(engine, server.settings("engine"), BUILT_IN_KINDS)
        running = asyncio.create_task(worker.run(stop))
        await worker.ready.wait()
        stop.set()
        await running
        spy = Spy(engine)
        await spy.start()
        async with Wire.open(server.settings("agent")) as agent, Wire.open(server.settings("asker")) as asker:
            before = await sizes(engine)
            agent.send(agent.frame("pl.events.c1.cluster.update", EVENT, None, "pl.mark.0.transition.checkpoint.-.-.-"))
            assert "pl.mark.0.transition.checkpoint.-.-.-" in await spy.after(agent)
            assert (await sizes(engine))["pl-LOG"] == before["pl-LOG"] + 1
            # The answer "no such message" has no body, and so is a whole request.
            nothing = b'{"last_by_subj": "pl.log.none"}'
            asker.send(asker.frame("$JS.API.DIRECT.GET.pl-LOG", nothing, None, "$JS.API.STREAM.DELETE.pl-LOG"))
            await spy.after(asker)
            with pytest.raises(ApiFailed, match="stream not found"):
                await sizes(engine)
