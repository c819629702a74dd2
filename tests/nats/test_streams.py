"""The streams of an installation on a real server (docs/design.md, Streams)."""

import asyncio
import random
from dataclasses import replace

import pytest

from phaseline.schemas.errors import NotProvisioned, SetupError
from phaseline.schemas.subjects import Subjects, partition_of, quote
from tests.support.installation import Settings, Wire, inspect, provision
from tests.support.log_check import stored
from tests.support.own_installation import OwnInstallation
from tests.support.raising import raises
from tests.support.random_events import Sent, publish


async def test_several_workers_provision_at_once(wire: Wire, settings: Settings) -> None:
    layouts = await asyncio.gather(*(provision(wire, settings) for _ in range(6)))
    assert len(set(layouts)) == 1
    assert await inspect(wire, settings) == layouts[0]


async def test_an_absent_installation_is_an_error(wire: Wire, settings: Settings) -> None:
    with pytest.raises(NotProvisioned, match="phaseline up"):
        await inspect(wire, settings)


async def test_the_number_of_partitions_cannot_change(wire: Wire, settings: Settings) -> None:
    await provision(wire, replace(settings, partitions=3))
    assert (await provision(wire, settings)).partitions == 3
    with raises(SetupError.partitions_differ, match="was made with 3 partitions, not 5"):
        await provision(wire, replace(settings, partitions=5))


async def test_streams_of_another_version_are_an_error(installation: OwnInstallation) -> None:
    prefix = installation.settings.prefix
    await installation.wire.api(
        f"STREAM.CREATE.{prefix}-LOG", {"name": f"{prefix}-LOG", "subjects": [f"{prefix}.log.>"]}
    )
    with raises(
        SetupError.streams_differ,
        match=rf"{prefix}-LOG is not as .* needs it \(subjects: missing, wanted {prefix}.fired.>, .* streams --apply`",
    ):
        await installation.layout()


async def test_a_prefix_with_the_stream_names_of_another_is_an_error(wire: Wire, settings: Settings) -> None:
    await provision(wire, replace(settings, prefix=f"{settings.prefix}.a"))
    with raises(SetupError.prefix_taken):
        await provision(wire, replace(settings, prefix=f"{settings.prefix}_a"))


async def test_the_server_computes_the_same_partitions(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, replace(settings, partitions=7))
    dice = random.Random(1)
    alphabet = "abcdefghijklmnopqrstuvwxyz0123456789-_.% éßж集群*>🙂"
    roots = {"".join(dice.choices(alphabet, k=dice.randint(1, 20))) for _ in range(2_000)}
    subjects = Subjects(layout.prefix)
    await publish(
        wire, [Sent(subjects.event("cluster", "create", root), b"", root.encode().hex()) for root in sorted(roots)]
    )
    for partition in range(7):
        found = await stored(wire, layout.events, [subjects.inbox(partition)])
        tokens = {message.subject.split(".")[3] for message in found}
        assert tokens == {quote(root) for root in roots if partition_of(quote(root), 7) == partition}


async def test_the_live_feed_carries_records_only(wire: Wire, settings: Settings) -> None:
    layout = await provision(wire, settings)
    prefix = layout.prefix
    seen: list[str] = []
    await wire.subscribe(f"{prefix}.>", lambda subject, *_: seen.append(subject.removeprefix(f"{prefix}.")))
    for subject in (
        "mark.0.transition.checkpoint.-.-.-",
        "plan.0.1",
        "mark.0.transition.mark.-.-.node.c1",
        "log.0.transition.node.phase.Running.c1",
    ):
        await wire.publish_acked(f"{prefix}.{subject}", b"x")
    await wire.flush()
    published = ("log.", "plan.", "mark.")
    assert [subject for subject in seen if not subject.startswith(published)] == ["transition.node.phase.Running.c1"]
