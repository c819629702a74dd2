"""A few events with one record each are committed one after the other, by plain messages under the fence."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import pytest_asyncio

from phaseline.schemas.errors import Fenced
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.installation import Installation, Settings, Wire, provision
from tests.support.log_check import assert_log_is_the_fold, stored
from tests.support.owners import Batch, Claim, Processor, take_over
from tests.support.random_events import RandomEvents, publish
from tests.support.streams import EXPECTED, Reader

COUNT = 3


@pytest_asyncio.fixture
async def installation(wire: Wire, settings: Settings) -> Installation:
    """One partition with the first events of some clusters."""
    layout = await provision(wire, replace(settings, partitions=1))
    fleet = RandomEvents(settings.prefix)
    await publish(wire, [fleet.event("cluster", "heartbeat", f"c{number}") for number in range(COUNT)])
    return Installation(wire, layout, BUILT_IN_KINDS)


async def decide(installation: Installation, claim: Claim) -> Batch:
    """What the owner makes of the events after its position."""
    processor = Processor(claim.tree, installation.subjects, 0, as_json=installation.layout.feed == "json")
    subjects = [installation.subjects.stored(0)]
    events = []
    async with Reader(installation.wire, installation.layout.events, subjects, claim.position + 1) as reader:
        while not reader.caught_up:
            events += await reader.take(COUNT)
    return processor.process(events, claim.position)


async def headers(installation: Installation) -> Sequence[dict[str, str]]:
    records = f"{installation.prefix}.log.0.transition.>"
    return [message.headers for message in await stored(installation.wire, installation.layout.log, [records])]


async def test_each_record_of_a_row_is_a_plain_message_under_the_fence(installation: Installation) -> None:
    claim = await take_over(installation, 0, "w")
    batch = await decide(installation, claim)
    assert batch.is_row
    await claim.append_row(batch.messages, batch.position)
    found = await headers(installation)
    assert len(found) == COUNT
    assert all("Nats-Batch-Id" not in one and one[EXPECTED] == str(claim.fence.sequence) for one in found)
    assert (await take_over(installation, 0, "next")).position == batch.position


async def test_whoever_takes_over_in_the_middle_of_a_row_decides_the_rest_of_it(installation: Installation) -> None:
    claim = await take_over(installation, 0, "w")
    batch = await decide(installation, claim)
    await claim.append_row(batch.messages[:1], batch.position)
    following = await take_over(installation, 0, "next")
    with pytest.raises(Fenced):
        await claim.append_row(batch.messages[1:], batch.position)
    rest = await decide(installation, following)
    assert (rest.events, rest.position) == (COUNT - 1, batch.position)
    await following.append_row(rest.messages, rest.position)
    assert await assert_log_is_the_fold(installation.wire, installation.layout, BUILT_IN_KINDS) == COUNT
