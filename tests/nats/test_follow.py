"""Following under a name: each transition goes to one of the programs, until it is acknowledged; a loss is said."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from phaseline import Client, Follow, Followed
from phaseline.engine.surfaces.doctor import installation_checks
from phaseline.engine.surfaces.doctor.installation_checks import followers
from phaseline.engine.surfaces.follow import follow as follow_module
from phaseline.schemas.errors import InvalidInput, NameUnknown, NotFound
from phaseline.types import FollowChoice
from tests.support.archives import run_archive
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import EmbeddedServer, Settings, Wire, at_work
from tests.support.raising import raises
from tests.support.streams import EXPECTED
from tests.support.two_sites import identity

LIMIT = 120


def opened(settings: Settings) -> Any:
    return Client.open(settings, source="/test", kinds=BUILT_IN_KINDS)


async def clusters(client: Client, names: Sequence[str], trigger: str = "adopt") -> None:
    for name in names:
        await client.publish_and_wait("cluster", trigger, name, {"phase": "Running"} if trigger == "adopt" else None)


async def taken(feed: Follow, count: int) -> list[Followed]:
    """The next ones; the last one is acknowledged too."""
    found = [await asyncio.wait_for(anext(feed), LIMIT) for _ in range(count)]
    await feed.ack()
    return found


def ids(found: Sequence[Followed]) -> list[str]:
    return [one.record.entity.id for one in found]


async def test_the_server_keeps_the_place(client: Client, working: Settings) -> None:
    await clusters(client, ["before"])
    async with client.follow("pager", "cluster", state="Running") as feed:
        await clusters(client, ["c1", "c2", "c3"])
        await client.publish_and_wait("cluster", "overdue", "c1")
        found = await taken(feed, 2)
    await clusters(client, ["c4"])
    async with opened(working) as other, other.follow("pager", "cluster", state="Running") as feed:
        found += await taken(feed, 2)
    assert ids(found) == ["c1", "c2", "c3", "c4"]
    number = await client.log_identity()
    assert [(one.log, one.tried) for one in found] == [(number, 1)] * 4
    logged = [await client.record(one.place) for one in found]
    assert [one.record for one in logged] == [one.record for one in found]
    [follower] = await client.followers()
    assert (follower.name, follower.follows) == ("pager", FollowChoice(kind="cluster", state="Running"))
    assert (follower.place, follower.behind, follower.in_hand) == (found[-1].place, 0, 0)
    async with client.follow("all", tree="before", start="start") as feed:
        assert ids(await taken(feed, 1)) == ["before"]
    async with client.follow("later", start=found[-1].place) as feed:
        assert ids(await taken(feed, 1)) == ["c4"]
    stopped = client.follow("stopped", condition="Balance", start="start")
    async with stopped as feed:
        assert ids(await taken(feed, 1)) == ["c1"]


async def test_what_a_body_did_not_get_through_comes_again(client: Client, working: Settings) -> None:
    await clusters(client, ["c1"])

    async def handle(other: Client) -> None:
        async for change in other.follow("pager", "cluster", start="start", patience=3600):
            assert str(change) == f"place {change.place}: {change.record}"
            if change.record.entity.id == "c2":
                raise ZeroDivisionError
            await clusters(client, ["c2"])

    async with opened(working) as other:
        with pytest.raises(ZeroDivisionError):
            await handle(other)
    async with client.follow("pager", "cluster", start="start", patience=3600) as feed:
        found = [await asyncio.wait_for(anext(feed), LIMIT)]
        await feed.later()
        found += await taken(feed, 1)
        assert [(one.record.entity.id, one.tried) for one in found] == [("c2", 2), ("c2", 3)]
    with suppress(ZeroDivisionError):
        async with client.follow("pager", "cluster", patience=3600) as feed:
            await clusters(client, ["c3"])
            await anext(feed)
            raise ZeroDivisionError
    async with client.follow("pager", "cluster", patience=3600) as feed:
        [last] = await taken(feed, 1)
        assert (last.record.entity.id, last.tried) == ("c3", 2)


async def test_replicas_share(client: Client, working: Settings) -> None:
    names = [f"c{n}" for n in range(40)]
    found: dict[str, list[str]] = {"a": [], "b": []}
    both = asyncio.Event()

    async def replica(name: str, one: Client) -> None:
        async with one.follow("pager", "cluster", start="start", at_once=4) as feed:
            async for change in feed:
                found[name].append(change.record.entity.id)
                if all(found.values()):
                    both.set()
                if sum(map(len, found.values())) >= len(names):
                    await feed.ack()
                    break
                await asyncio.wait_for(both.wait(), LIMIT)  # the other one has one too

    async with opened(working) as other, asyncio.TaskGroup() as group:
        tasks = [group.create_task(replica("a", client)), group.create_task(replica("b", other))]
        await clusters(client, names)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    assert sorted(found["a"] + found["b"]) == sorted(names)
    [follower] = await client.followers()
    assert (follower.behind, follower.in_hand) == (0, 0)


async def test_a_slow_program_keeps_what_it_has_and_a_lost_one_does_not(client: Client, working: Settings) -> None:
    async with (
        opened(working) as slow,
        slow.follow("pager", "cluster", patience=1) as held,
        client.follow("pager", "cluster", patience=1) as feed,
    ):
        await clusters(client, ["c1"])
        first = await asyncio.wait_for(anext(held), LIMIT)
        waiting = asyncio.ensure_future(anext(feed))
        assert not (await asyncio.wait({waiting}, timeout=3))[0]
        await slow._session.wire.close()
        again = await asyncio.wait_for(waiting, LIMIT)
        assert (again.place, again.tried) == (first.place, 2)


async def test_a_restart_of_the_server_repeats_nothing(own_server: EmbeddedServer, own_settings: Settings) -> None:
    names = [f"c{n}" for n in range(12)]
    found = list[str]()
    async with (
        Wire.open(own_settings, name="test") as wire,
        at_work(replace(own_settings, partitions=1, lease=4.0), wire, BUILT_IN_KINDS),
        opened(own_settings) as client,
        client.follow("pager", "cluster", start="start") as feed,
    ):
        publishing = asyncio.create_task(clusters(client, names[:6]))
        async for change in feed:
            found.append(change.record.entity.id)
            if len(found) == 6:
                await publishing
                await own_server.kill()
                await own_server.start()
                for name in names[6:]:
                    await client.publish("cluster", "adopt", name, {"phase": "Running"}, until_stored=True)
            if len(found) == len(names):
                break
    assert found == names


async def test_what_no_follower_can_be(client: Client) -> None:
    await clusters(client, ["c1"])
    for name in ("", "a b", "a.b", "a*", "x" * 65, "ü", "../x"):
        with raises(InvalidInput.bad_parameter, match="cannot name a follower"):
            client.follow(name)
    for more in ({"at_once": 0}, {"patience": 0.5}, {"patience": 1e9}):
        with raises(InvalidInput.bad_parameter):
            client.follow("pager", **more)
    with pytest.raises(NameUnknown, match="no state 'Faild'"):
        client.follow("pager", "cluster", state="Faild")
    with raises(InvalidInput.place_beyond):
        await anext(client.follow("pager", start=4711))
    with raises(InvalidInput.place_of_other_log):
        await anext(client.follow("pager", start="1@4711"))
    assert await client.followers() == []
    async with client.follow("pager", "cluster", state="Running", condition="Ok"):
        pass
    said = r"follows kind='cluster', state='Running', condition=\('Ok',\), not kind='node': choose another name"
    with raises(InvalidInput.follower_differs, match=said):
        await anext(client.follow("pager", "node"))
    async with client.follow("pager", "cluster", state="Running", condition=["Ok"], at_once=3, patience=7):
        pass  # the same, with other numbers


async def test_a_follower_that_is_deleted_ends(client: Client) -> None:
    with raises(NameUnknown.none_known, match="no follower 'pager', and no other follower either"):
        await client.unfollow("pager")
    async with client.follow("pager", "cluster", start="start") as feed:
        await clusters(client, ["c1"])
        [found] = await taken(feed, 1)
        waiting = asyncio.ensure_future(anext(feed))
        await asyncio.sleep(0)
        assert (await client.unfollow("pager")).place == found.place
        with raises(NotFound.follower_gone, match=f"after place {found.place}:"):
            await asyncio.wait_for(waiting, LIMIT)
    assert await client.followers() == []
    with capture_logs() as logged:
        async with client.follow("pager", "cluster"), client.follow("from", "cluster", start=found.place + 1):
            pass
    made = {one["follower"]: one["log_level"] for one in logged if one["event"] == "follower_made"}
    assert made == {"pager": "warning", "from": "info"}  # the first one gets nothing of what came before


async def test_doctor_names_who_is_far_behind(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    installation = await client._session.installation()
    assert await followers(installation) == []
    async with client.follow("pager", "cluster"), client.follow("idle", "node"):
        await clusters(client, ["c1"])
    [well] = await followers(installation)
    assert (well.verdict, well.found) == ("ok", "2 of 2 keep up (idle, pager)")
    monkeypatch.setattr(installation_checks, "LATE", 0.0)
    [_, late] = await followers(installation)
    assert (late.verdict, late.check) == ("warning", "follower pager")
    assert late.found.startswith("1 transitions wait, and 0 are in hand; the oldest for ")


async def archived(client: Client, folder: Path) -> None:
    await run_archive(await client._session.installation(), folder)


async def test_a_loss_is_said(client: Client, tmp_path: Path) -> None:
    await clusters(client, ["c1"])
    async with client.follow("away", "cluster", start="start") as feed:
        await taken(feed, 1)
    async with client.follow("there", "node", start="start") as feed:
        await clusters(client, ["c2", "c3"])
        await client.publish_and_wait("cluster", "overdue", "c2")
        waiting = asyncio.ensure_future(anext(feed))
        while (await client.followers())[1].behind or not feed._asked:
            await asyncio.sleep(0.01)
        await archived(client, tmp_path / "archive")
        while not (await client.followers())[1].place:  # it has read the note
            await asyncio.sleep(0.01)
        waiting.cancel()
    with raises(NotFound.follower_lost, match=r"'away' has a gap: .* after place \d+ may be gone .*--remove` it"):
        await anext(client.follow("away", "cluster"))
    async with client.follow("there", "node"):
        pass  # nothing came for it, and it was there
    async with client.follow("new", start="start") as feed:
        await clusters(client, ["c9"])
        assert ids(await taken(feed, 1)) == ["c9"]


async def test_a_loss_while_somebody_has_one_in_hand_is_said(
    client: Client, working: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other program hears the server all the time, which hands out nothing."""
    monkeypatch.setattr(follow_module, "LOOK_AGAIN", -1.0)
    async with (
        client.follow("pager", "cluster", state="Running") as held,
        opened(working) as other,
        other.follow("pager", "cluster", state="Running") as feed,
    ):
        await clusters(client, ["c1", "c2"])
        await anext(held)
        waiting = asyncio.ensure_future(anext(feed))
        await client.publish_and_wait("cluster", "overdue", "c2")
        await archived(client, tmp_path / "archive")
        await held.ack()
        with raises(NotFound.follower_lost):
            await asyncio.wait_for(waiting, LIMIT)


async def test_a_log_that_was_put_back_is_said(client: Client, wire: Wire) -> None:
    await clusters(client, ["c1"])
    installation = await client._session.installation()
    async with client.follow("pager", "node", start="start") as feed:
        waiting = asyncio.ensure_future(anext(feed))
        for is_backup in (False, True):  # EVENTS alone, then LOG
            last = await identity.standing(installation)
            assert last.note is not None
            number = last.note.number + 1
            note = identity.LogIdentity(number, {}, former=last.note.number, why="copied", is_backup=is_backup)
            await wire.publish_acked(installation.subjects.identity(), note.encode(), {EXPECTED: str(last.sequence)})
            assert waiting.done() is False
        with raises(NotFound.follower_lost, match=r"put back from a backup \(.*copied\)"):
            await asyncio.wait_for(waiting, LIMIT)
    with raises(NotFound.follower_lost):
        await anext(client.follow("pager", "node"))
    await client.unfollow("pager")
    async with client.follow("pager", "node"):
        pass


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_module, "RETRY", 0.05)
    monkeypatch.setattr(follow_module, "LONGEST_PAUSE", 0.1)
