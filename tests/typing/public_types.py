"""The types of the public API, as type checkers see them. Nothing here runs: tests/process/test_typing.py checks it."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import assert_type

import phaseline
from phaseline import errors, sync
from phaseline.triggers import node


async def publishing(client: phaseline.Client) -> None:
    assert_type(await client.publish("node", "create", "c1/a/n1", {"a": 1}, time=datetime.now()), phaseline.Receipt)  # noqa: DTZ005
    assert_type(await client.publish(*node.create, "c1/a/n1", {"a": 1}, until_stored=60.0), phaseline.Receipt)
    assert_type(await client.dry_run(*node.create, "c1/a/n1"), phaseline.DryRun)
    outcome = await client.publish_and_wait("node", "create", "c1/a/n1", sequence=3)
    assert_type(outcome, phaseline.Outcome)
    assert_type(outcome.transitions, tuple[phaseline.Transition, ...])
    assert_type(outcome.rejection, phaseline.Rejection | None)
    assert_type(await client.publish_many([{"id": "a"}]), phaseline.PublishResult)
    assert_type(await client.dry_run("node", "create", "c1/a/n1"), phaseline.DryRun)
    assert_type(await client.resend(3), phaseline.Receipt)


async def reading(client: phaseline.Client, when: phaseline.When | None) -> None:
    assert_type(await client.at("15m"), phaseline.EntityView[phaseline.Moment])
    assert_type(await client.at(), phaseline.EntityView[None])
    assert_type(await client.at(when), phaseline.EntityView[phaseline.Moment | None])
    assert_type((await client.at(4711)).moment, phaseline.Moment)
    assert_type(await client.get("node", "c1/a/n1"), phaseline.Entity)
    assert_type(client.list("node"), AsyncIterator[phaseline.Entity])
    assert_type(await client.tree("c1"), Sequence[phaseline.Entity])
    assert_type(await client.why("node", "c1/a/n1"), phaseline.Explanation)
    assert_type(await client.timeline("c1"), phaseline.Timeline)
    assert_type(await client.changes("1h"), Sequence[phaseline.Change])
    assert_type(await client.record(3), phaseline.Logged)


async def watching(client: phaseline.Client, both: bool) -> None:  # not known before
    assert_type(client.watch(), phaseline.Watch[phaseline.Transition])
    assert_type(client.watch(rejections=False), phaseline.Watch[phaseline.Transition])
    assert_type(client.watch(rejections=True), phaseline.Watch[phaseline.Transition | phaseline.Rejection])
    assert_type(client.watch(rejections=both), phaseline.Watch[phaseline.Transition | phaseline.Rejection])
    async with client.watch(tree="c1", start=datetime.now(UTC)) as watch:
        assert_type(watch, phaseline.Watch[phaseline.Transition])
        async for transition in watch:
            assert_type(transition, phaseline.Transition)
            assert_type(transition.entity, phaseline.Entity)
    async for record in client.watch(rejections=True):
        if isinstance(record, phaseline.Rejection):
            assert_type(record.legal, tuple[str, ...])
        else:
            assert_type(record, phaseline.Transition)
    async for transition in client.history("node", "c1/a/n1"):
        assert_type(transition, phaseline.Transition)
    async for rejection in client.rejections():
        assert_type(rejection, phaseline.Rejection)
    async for entity in client.list("node"):
        assert_type(entity, phaseline.Entity)


async def following(client: phaseline.Client, other: sync.Client) -> None:
    async with client.follow("pager", "node", state="Failed") as feed:
        assert_type(feed, phaseline.Follow)
        async for change in feed:
            assert_type(change, phaseline.Followed)
            assert_type(change.record.entity.state, phaseline.State)
            await feed.ack()
    assert_type(await client.followers(), Sequence[phaseline.types.FollowerState])
    for change in other.follow("pager"):
        assert_type(change, phaseline.Followed)


async def times(client: phaseline.Client, when: datetime) -> None:
    view = await client.at(when)
    assert_type(view.moment.time, datetime)
    assert_type(view.moment.time_ns, int)
    last = await view.last("node", "c1/a/n1")
    assert_type(last.time, datetime)
    assert_type(last.cause.time, datetime | None)
    assert_type(last.entity.facets[0].since, datetime)
    assert_type(last.entity.timers, dict[str, datetime])
    assert_type(await client.stale_since([last.entity]), Mapping[tuple[str, str], datetime])
    timeline = await client.timeline("c1", start=when, end=when)
    assert_type(timeline.lanes[0].intervals[0].start, datetime)
    assert_type((await client.changes(when))[0].last, datetime)
    assert_type((await client.gitops.diff("a")).observation.time, datetime)
    assert_type((await client.emco.selection("a")).stale_since, datetime | None)
    assert_type((await client.why("node", "c1/a/n1")).facets[0].since, datetime)


async def products(client: phaseline.Client) -> None:
    assert_type(await client.emco.status("a"), phaseline.emco.SourceStatus)
    assert_type(await client.emco.status("a", output="rsync", app=["web"]), phaseline.emco.SourceStatus)
    assert_type(await client.emco.status("a", shape="emco"), phaseline.emco.EmcoStatus)
    assert_type(await client.emco.status("a", shape="emco", apps=True), phaseline.emco.EmcoNames)
    assert_type(await client.emco.selection("a"), phaseline.emco.StatusSelection)
    assert_type(await client.fleet.counts("a"), phaseline.fleet.FleetCounts)
    assert_type(await client.fleet.cluster_counts("a"), phaseline.fleet.FleetClusterCounts)
    assert_type(await client.gitops.diff("a"), phaseline.gitops.ObjectDiff)
    assert_type((await client.levels.measure("7d")).total, phaseline.levels.Level)


def without_asyncio(url: str) -> None:
    with sync.connect(url, prefix="pl", creds="a.creds", partitions=8) as client:
        assert_type(client, sync.Client)
        assert_type(client.publish("node", "create", "c1/a/n1"), phaseline.Receipt)
        assert_type(client.at("15m"), sync.EntityView[phaseline.Moment])
        assert_type(client.at().list("node"), Iterator[phaseline.Entity])
        assert_type(client.watch(), sync.Watch[phaseline.Transition])
        assert_type(client.watch(rejections=True), sync.Watch[phaseline.Transition | phaseline.Rejection])
        assert_type(client.history("node", "c1/a/n1"), sync.Watch[phaseline.Transition])
        with client.watch() as watch:
            for transition in watch:
                assert_type(transition.time, datetime)
        assert_type(client.emco.status("a"), phaseline.emco.SourceStatus)
        assert_type(client.emco.status("a", shape="emco", apps=True, at="1h"), phaseline.emco.EmcoNames)
        assert_type(client.emco.selection("a"), phaseline.emco.StatusSelection)
        assert_type(client.fleet.cluster_counts("a"), phaseline.fleet.FleetClusterCounts)
        assert_type(client.gitops.diff("a"), phaseline.gitops.ObjectDiff)
        assert_type(client.at("1h").emco, sync.EmcoView)
        assert_type(client.at("1h").emco.status("a", shape="emco"), phaseline.emco.EmcoStatus)
        assert_type(client.at("1h").fleet.counts("a"), phaseline.fleet.FleetCounts)
        for rejection in client.rejections():
            assert_type(rejection, phaseline.Rejection)


def manifests() -> None:
    assert_type(phaseline.gitops.assess({}, {}), phaseline.gitops.Assessment)
    assert_type(phaseline.gitops.assess_all([]), phaseline.gitops.ApplicationAssessment)
    assert_type(phaseline.gitops.diff({}, {}), list[phaseline.gitops.Difference])
    assert_type(phaseline.gitops.health({}), phaseline.gitops.HealthResult)


def failing(error: errors.NoAnswer) -> phaseline.PhaselineError:
    return error
