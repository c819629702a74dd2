"""Opening and closing a client: for a block, and until it is closed."""

import pytest

import phaseline
from phaseline.engine.settings import Settings
from tests.support.cloud_events import event


async def test_a_client_lives_until_it_is_closed(working: Settings) -> None:
    client = await phaseline.connect(working.nats, prefix=working.prefix, source="/test")
    outcome = await client.publish_and_wait("cluster", "create", "c1")
    assert outcome.effect == "transitions"
    await client.close()
    await client.close()
    with pytest.raises(RuntimeError, match="closed"):
        await client.publish("cluster", "created", "c1")
    with pytest.raises(RuntimeError, match="closed"):
        await client.publish_many([event(1)])


async def test_a_block_closes_it_however_it_was_opened(working: Settings) -> None:
    async with phaseline.connect(working.nats, prefix=working.prefix) as client:
        assert not [entity async for entity in client.list("cluster")]
        await client.close()  # the end of the block then has nothing left to do
    async with await phaseline.connect(working.nats, prefix=working.prefix) as again:
        assert not [entity async for entity in again.list("cluster")]
    for closed in (client, again):
        with pytest.raises(RuntimeError, match="closed"):
            await closed.get("cluster", "c1")


async def test_an_error_in_a_block_closes_the_client_too(working: Settings) -> None:
    with pytest.raises(LookupError, match="mine"):
        async with phaseline.connect(working.nats, prefix=working.prefix) as client:
            raise LookupError("mine")
    with pytest.raises(RuntimeError, match="closed"):
        await client.get("cluster", "c1")


async def test_a_wrong_keyword_is_refused(working: Settings) -> None:
    """An `id` that is not read would leave out what makes a repeat harmless."""
    async with phaseline.connect(working.nats, prefix=working.prefix) as client:
        for call in (client.publish, client.publish_and_wait, client.dry_run):
            with pytest.raises(TypeError, match=r"no detail 'id' \(did you mean event_id\?\)"):
                await call("cluster", "create", "c1", id="e-1")  # type: ignore[call-arg]  # a wrong name
        assert not [entity async for entity in client.list("cluster")]
