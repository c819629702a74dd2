"""The client without asyncio, on a real server: the same answers and errors, in threads, loops, and after Ctrl-C."""

import asyncio
import inspect
import os
import re
import signal
import subprocess
import sys
import threading
import time
import typing
from collections.abc import Callable
from typing import Any

import pytest

import phaseline
from phaseline import Follow
from tests.support import closed_port
from tests.support.command import ROOT
from tests.support.installation import Settings
from tests.support.own_installation import Client
from tests.support.raising import raises

PAIRS: list[tuple[type, type]] = [
    (Client, phaseline.sync.Client),
    (Follow, phaseline.sync.Follow),
    (phaseline.Watch, phaseline.sync.Watch),
    (phaseline.EntityView, phaseline.sync.EntityView),
    *((getattr(module, name), getattr(phaseline.sync, name))
      for module, names in ((phaseline.emco, ("Emco", "EmcoView")), (phaseline.fleet, ("Fleet", "FleetView")),
                            (phaseline.gitops, ("Gitops",)))
      for name in names),
]  # fmt: skip


def connected(settings: Settings) -> phaseline.sync.Client:
    return phaseline.sync.connect(settings.nats, prefix=settings.prefix, source="/sync")


async def in_thread(work: Callable[[phaseline.sync.Client], Any], settings: Settings) -> Any:
    """As a script would: no loop runs in the thread."""

    def script() -> Any:
        with connected(settings) as client:
            return work(client)

    return await asyncio.to_thread(script)


def public(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


@pytest.mark.parametrize(("with_asyncio", "without"), PAIRS)
def test_both_clients_have_the_same_methods(with_asyncio: type, without: type) -> None:
    extra = set[str]() if without is phaseline.sync.Client else {"over", "place", "sequence"}  # no properties there
    assert public(with_asyncio) - extra == public(without) - extra
    for name in public(with_asyncio) - extra:
        one, other = (inspect.getattr_static(each, name) for each in (with_asyncio, without))
        if isinstance(one, property):
            assert isinstance(other, property), name
            one, other = one.fget, other.fget
        assert shape(one) == shape(other), name
        if without is not phaseline.sync.Watch and name not in ("open", "close"):
            assert inspect.getdoc(one) == inspect.getdoc(other), name
            assert other.__qualname__ == f"{without.__name__}.{name}"
            assert not inspect.iscoroutinefunction(other)
            in_turn = "AsyncIterator" in str(inspect.signature(one).return_annotation)
            assert in_turn == inspect.isasyncgenfunction(one), name


def test_both_ways_to_connect_take_the_same() -> None:
    shown = [inspect.signature(connect).parameters for connect in (phaseline.connect, phaseline.sync.connect)]
    assert [*shown[0].values()] == [*shown[1].values()]


def shape(method: Any) -> tuple[list[str], str]:
    """The parameters and the answer of a method, without the words of asyncio. `public_types` has its overloads."""
    plain = inspect.unwrap(getattr(method, "__func__", method))
    shown = inspect.signature(plain)
    answer = str(typing.get_type_hints(plain).get("return", "")).replace(".AsyncIterator", ".Iterator")
    assert plain.__name__ == "open" or str(shown.return_annotation) == str(plain.__annotations__.get("return", ""))
    classes = re.sub(r"<class '([\w.]+)'>", r"\1", answer)
    parameters = [str(found).partition(" | collections.abc.AsyncIterable")[0] for found in shown.parameters.values()]
    return parameters, "" if plain.__name__ == "open" else re.sub(r"\bphaseline(\.\w+)*\.", "", classes)


async def test_it_publishes_reads_and_watches(working: Settings) -> None:
    def script(client: phaseline.sync.Client) -> None:
        outcome = client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
        assert [transition.after.phase for transition in outcome.transitions] == ["Running"]
        events = (
            {"specversion": "1.0", "id": f"e{number}", "source": "/s", "type": "node.adopt",
             "subject": f"node/c1/p/n{number}", "data": {"phase": "Running"}}
            for number in range(600)
        )  # fmt: skip
        assert client.publish_many(events) == phaseline.PublishResult(600, 0)
        client.publish_and_wait("node", "not_ready", "c1/p/n3", {"message": "disk"}, timeout=30)
        view = client.at("now")
        assert isinstance(view.moment, phaseline.Moment)
        assert len([entity.id for entity in view.list("node")]) == 600  # more than one slice
        assert view.get("node", "c1/p/n3") == client.get("node", "c1/p/n3", at=view.moment)
        assert client.why("node", "c1/p/n3").entity.id == "c1/p/n3"
        with client.watch("node", state="Failed", start="start", follow=False) as watch:
            assert [(transition.entity.id, watch.sequence > 0) for transition in watch] == [("c1/p/n3", True)]
        assert watch.over
        assert [record.trigger for record in client.history("node", "c1/p/n3")] == ["adopt", "not_ready"]
        assert client.timeline("c1/p/n3").lanes[0].intervals[-1].state.phase == "Failed"

    await in_thread(script, working)


async def test_it_opens_by_settings(working: Settings) -> None:
    def script() -> None:
        with phaseline.sync.Client.open(working, source="/settings") as client:
            assert client.default_source == "/settings"
            assert client.publish("cluster", "create", "c1").source == "/settings"

    await asyncio.to_thread(script)


async def test_a_list_need_not_be_read_to_its_end(working: Settings) -> None:
    def script(client: phaseline.sync.Client) -> None:
        client.publish_and_wait("cluster", "create", "c1")
        client.publish_and_wait("cluster", "create", "c2")
        found = client.at("now").list("cluster")
        assert next(iter(found)).id == "c1"
        del found
        assert client.get("cluster", "c2", at="now").id == "c2"

    await in_thread(script, working)


async def test_it_reads_products(working: Settings) -> None:
    def script(client: phaseline.sync.Client) -> None:
        client.publish_and_wait("bundle_deployment", "target", "infra/web/c1", {"deployment_id": "v1"})
        assert client.at("now").fleet.counts("infra")["deployments"]["desired_ready"] == 1
        assert client.fleet.cluster_counts("c1", at="now")["cluster"] == "c1"
        with pytest.raises(phaseline.errors.EntityUnknown):
            client.emco.status("nothing")
        with raises(phaseline.errors.NotFound.not_observed):
            client.gitops.diff("a/b/apps:Deployment/x/y")

    await in_thread(script, working)


async def test_errors_are_those_of_the_other_client(working: Settings) -> None:
    def script(client: phaseline.sync.Client) -> None:
        with pytest.raises(phaseline.errors.EventRefused) as refused:
            client.publish("cluster", "crate", "c1")
        assert refused.value.reason == "unknown_trigger"
        with pytest.raises(phaseline.errors.EntityUnknown):
            client.get("cluster", "nowhere")
        with pytest.raises(phaseline.errors.EntityUnknown):
            list(client.history("cluster", "nowhere"))
        with pytest.raises(phaseline.errors.NameUnknown):
            client.at("yesterday-ish")

    await in_thread(script, working)


async def test_it_works_where_a_loop_runs(working: Settings) -> None:
    """As in a notebook: the caller is inside a running loop, and blocks it."""
    client = connected(working)
    assert client.publish("cluster", "create", "c1").sequence == 1
    client.close()
    client.close()
    with pytest.raises(RuntimeError, match="is closed"):
        client.get("cluster", "c1")


async def test_closing_ends_the_thread_and_what_still_runs(working: Settings) -> None:
    before = {thread.ident for thread in threading.enumerate()}

    def script(client: phaseline.sync.Client) -> None:
        client.watch().__enter__()  # never left
        assert {thread.name for thread in threading.enumerate() if thread.ident not in before} >= {"phaseline-client"}

    await in_thread(script, working)
    assert "phaseline-client" not in {thread.name for thread in threading.enumerate() if thread.ident not in before}


def test_nobody_there() -> None:
    before = threading.active_count()
    with pytest.raises(phaseline.errors.NatsUnreachable):
        phaseline.sync.connect(closed_port.NATS, connect_timeout=0.5)
    assert threading.active_count() == before


async def test_ctrl_c_ends_a_watch_in_good_order(working: Settings) -> None:
    program = f"""
import phaseline
with phaseline.sync.connect({working.nats[0]!r}, prefix={working.prefix!r}) as client:
    try:
        with client.watch() as watch:
            print("watching", flush=True)
            next(watch)
    except KeyboardInterrupt:
        print("stopped", watch.over, client.at("now").moment.place >= 0, flush=True)
"""
    process = await asyncio.to_thread(
        subprocess.Popen, [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    assert await asyncio.to_thread(process.stdout.readline) == "watching\n"
    await asyncio.to_thread(time.sleep, 0.3)
    os.kill(process.pid, signal.SIGINT)
    out, err = await asyncio.to_thread(process.communicate, None, 30)
    assert (process.returncode, out, err) == (0, "stopped True True\n", "")


async def test_a_client_that_nobody_closes_does_not_stop_the_program_from_ending(working: Settings) -> None:
    program = f"""
import phaseline
client = phaseline.sync.connect({working.nats[0]!r}, prefix={working.prefix!r})
client.watch().__enter__()
print(client.publish("cluster", "create", "c1").duplicate)
"""
    command = [sys.executable, "-W", "error", "-c", program]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")


async def test_a_script_follows_under_a_name(client: Client, working: Settings) -> None:
    await client.publish_and_wait("cluster", "adopt", "c1", {"phase": "Running"})
    await client.publish_and_wait("cluster", "adopt", "c2", {"phase": "Running"})

    def script(other: phaseline.sync.Client) -> list[tuple[str, int]]:
        found = []
        with other.follow("pager", "cluster", start="start", patience=3600) as feed:
            for change in feed:
                found.append((change.record.entity.id, change.tried))
                assert feed.place == change.place
                if len(found) == 1:
                    feed.later()
                if len(found) == 3:
                    break
        return found

    assert await in_thread(script, working) == [("c1", 1), ("c1", 2), ("c2", 1)]
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda other: [1 / 0 for _ in other.follow("pager", "cluster", patience=3600)], working)
    again = await in_thread(lambda other: next(other.follow("pager", "cluster", patience=3600)), working)
    assert (again.record.entity.id, again.tried) == ("c2", 3)
    assert [one.name for one in await in_thread(lambda other: other.followers(), working)] == ["pager"]
    await in_thread(lambda other: other.unfollow("pager"), working)
