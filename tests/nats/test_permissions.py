"""The permissions in docs/security.md (Without accounts) are enough for each role, and not too many."""

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from phaseline.machines.built_in import installed
from phaseline.schemas.errors import EntityUnknown, NoAnswer, NotPermitted, PhaselineError
from tests.support.installation import EmbeddedServer, Settings, Wire, Worker, inspect
from tests.support.own_installation import Client

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
ROLES = {
    "agent": "An agent of cluster c1",
    "watcher": "A watcher",
    "asker": "A reader of single states",
    "enquirer": "A reader of EMCO statuses",
    "importer": "A program that imports logs",
    "worker": "A worker",
}


def granted(title: str) -> tuple[list[str], list[str]]:
    """The subjects that the page lets a role publish and subscribe."""
    section = section_of(title)
    return _subjects(section, "publish"), _subjects(section, "subscribe")


def section_of(title: str) -> str:
    _, _, after = PAGE.read_text().partition(f"### {title}\n")
    assert after, f"no section {title!r}"
    return after.partition("\n#")[0]


def _subjects(section: str, verb: str) -> list[str]:
    items = re.findall(rf"^- {verb}: (.*(?:\n  .*)*)", section, re.MULTILINE)
    return [subject for item in items for subject in re.findall("`(.*?)`", item)]


class Guarded(EmbeddedServer):
    """A server with the users of the page."""

    def _config(self) -> str:
        users = []
        for name, title in ROLES.items():
            publish, subscribe = granted(title)
            answers = ", allow_responses: true" if "`allow_responses`" in section_of(title) else ""
            never = _subjects(section_of(title), "never publish")
            allowed = f"publish: {{allow: {publish or ['nothing']}, deny: {never}}}, subscribe: {[*subscribe, f'_INBOX_{name}.>']}{answers}"
            users.append(f"{{user: {name}, password: secret, permissions: {{{allowed}}}}}")
        return super()._config() + f"authorization {{ users: [ {', '.join(users)} ], timeout: 60 }}\n"


@pytest_asyncio.fixture
async def guarded() -> AsyncIterator[EmbeddedServer]:
    """That server, with a worker."""
    async with Guarded() as server:
        settings = settings_of(server, "worker")
        async with Wire.open(settings, name="worker") as wire:
            stop = asyncio.Event()
            worker = Worker(wire, settings, installed())
            running = asyncio.create_task(worker.run(stop))
            await worker.ready.wait()
            yield server
            stop.set()
            await running


def settings_of(server: EmbeddedServer, role: str) -> Settings:
    url = server.url.replace("nats://", f"nats://{role}:secret@")
    return Settings(nats=(url,), inbox_prefix=f"_INBOX_{role}", partitions=8, request_timeout=3.0)


async def test_each_role_can_do_its_work(guarded: EmbeddedServer) -> None:
    seen: asyncio.Queue[str] = asyncio.Queue()
    async with Wire.open(settings_of(guarded, "watcher")) as watcher:
        await watcher.subscribe("pl.transition.>", lambda subject, *_: seen.put_nowait(subject))
        await watcher.flush()
        async with Client.open(settings_of(guarded, "agent")) as agent:
            await agent.publish("cluster", "create", "c1")
            assert await asyncio.wait_for(seen.get(), 60) == "pl.transition.cluster.phase.Creating.c1"
    async with Client.open(settings_of(guarded, "asker")) as asker, asyncio.timeout(60):
        while True:
            try:
                assert (await asker.get("cluster", "c1")).version == 1
            except EntityUnknown:
                await asyncio.sleep(0.05)
            else:
                break


async def test_an_importer_can_find_the_streams_and_send_events(guarded: EmbeddedServer) -> None:
    settings = settings_of(guarded, "importer")
    async with Wire.open(settings) as wire:
        layout = await inspect(wire, settings)
        ack = await wire.publish_acked("pl.events.c7.cluster.create", b"{}")
    assert (layout.partitions, ack.stream) == (8, layout.events)


async def test_a_status_query_is_answered_where_the_user_may_send_it(guarded: EmbeddedServer) -> None:
    async with Client.open(settings_of(guarded, "agent")) as agent:
        await agent.publish("emco_resource", "create", "c1")
    async with Client.open(settings_of(guarded, "enquirer")) as enquirer, asyncio.timeout(60):
        while True:
            try:
                assert (await enquirer.emco.status("c1", output="summary"))["state"] == "Created"
            except (EntityUnknown, NotPermitted):  # not decided yet; not loaded yet, so that the streams were asked
                await asyncio.sleep(0.05)
            else:
                break


OF_OTHERS = (
    "pl.events.c2.cluster.create",
    "pl.events.c1.~.ann.cluster.create",
    "pl.log.0.transition.cluster.phase.Running.c1",
    "pl.mark.0.transition.checkpoint.-.-.-",
    "pl.plan.0.0",
    "pl.lease.partition.0",
    "$JS.API.STREAM.PURGE.pl-LOG",
    "$JS.API.STREAM.DELETE.pl-EVENTS",
)


async def test_no_role_can_publish_for_another(guarded: EmbeddedServer) -> None:
    taken = []
    for role in ("agent", "watcher", "asker", "enquirer"):
        async with Wire.open(replace(settings_of(guarded, role), request_timeout=1.0)) as wire:
            for subject in OF_OTHERS:
                try:
                    await wire.request(subject, b"{}")
                except (NotPermitted, NoAnswer):
                    continue
                taken.append((role, subject))
    assert taken == []


async def test_the_error_for_a_wrong_password_hides_the_password(guarded: EmbeddedServer) -> None:
    settings = replace(settings_of(guarded, "agent"), nats=(guarded.url.replace("://", "://agent:hunter2@"),))
    with pytest.raises(PhaselineError) as told:
        async with Wire.open(settings):
            pass
    assert "hunter2" not in str(told.value)
    # The server sends the reason and closes the connection at once; the reset can arrive first.
    said = (f"the NATS server at {guarded.url} refuses the user 'agent'", f"cannot reach NATS at {guarded.url}")
    assert str(told.value).startswith(said)
