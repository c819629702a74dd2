"""Opening and closing a client: for a block, and until it is closed."""

import json
from pathlib import Path

import pytest

import phaseline
from phaseline.engine import logs
from phaseline.engine.surfaces.client import connecting
from phaseline.machines import built_in
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.product import BrokenKind
from tests.support.cloud_events import event
from tests.support.installation import Settings
from tests.support.raising import raises


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


async def test_a_context_describes_the_connection(
    working: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nats" / "context"
    folder.mkdir(parents=True)
    (folder / "here.json").write_text(json.dumps({"url": ",".join(working.nats)}))
    (folder / "elsewhere.json").write_text(json.dumps({"url": "nats://nowhere.invalid:1"}))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    async with phaseline.connect(context="here", prefix=working.prefix) as client:
        await client.publish_and_wait("cluster", "create", "c1")
    async with phaseline.connect(working.nats, context="elsewhere", prefix=working.prefix) as client:
        assert (await client.get("cluster", "c1")).id == "c1"
    with pytest.raises(phaseline.errors.BadSetting, match=r"no context 'hre' \(did you mean here\?\)"):
        phaseline.connect(context="hre")


async def test_extension_attributes_are_kept_in_the_cause(working: Settings) -> None:
    given = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "correlationid": "order-7"}
    async with phaseline.connect(working.nats, prefix=working.prefix) as client:
        outcome = await client.publish_and_wait("cluster", "create", "c1", extensions=given)
        assert outcome.transitions[0].cause.extensions == given
        would = await client.dry_run("cluster", "created", "c1", extensions=given)
        assert would.transitions[0].cause.extensions == given
        for wrong in ({"correlation-id": "a"}, {"subject": "a"}, {"trace": 1.5}, {"long": "x" * 2_000}):
            with raises(
                phaseline.errors.EventRefused.unsendable, match=f"attribute '{next(iter(wrong))}' cannot be kept"
            ):
                await client.publish("cluster", "created", "c1", extensions=wrong)  # type: ignore[arg-type]  # wrong


async def test_a_broken_kind_is_logged_once(
    working: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = BrokenKind("acme-kinds 1.2", "crate", "acme:CRATE", "No module named 'rust'")
    monkeypatch.setattr(built_in.installed(), "broken", (one,))
    monkeypatch.setattr(logs.Logger, "_least", None)
    connecting._warn_of_broken_kinds.cache_clear()
    for _ in range(2):
        async with phaseline.connect(working.nats, prefix=working.prefix) as client:
            assert client.broken_kinds == (one,)
    async with phaseline.connect(
        working.nats, prefix=working.prefix, kinds=Kinds(built_in.BUILT_IN, products=PRODUCTS)
    ) as client:
        assert client.broken_kinds == ()
    connecting._warn_of_broken_kinds.cache_clear()
    [line] = [record for record in caplog.records if record.__dict__.get("event") == "kind_left_out"]
    assert line.name.startswith("phaseline.")
    assert "acme-kinds 1.2" in line.getMessage()


async def test_a_wrong_keyword_is_refused(working: Settings) -> None:
    """An `id` that is not read would leave out what makes a repeat harmless."""
    async with phaseline.connect(working.nats, prefix=working.prefix) as client:
        for call in (client.publish, client.publish_and_wait, client.dry_run):
            with pytest.raises(TypeError, match=r"no detail 'id' \(did you mean event_id\?\)"):
                await call("cluster", "create", "c1", id="e-1")  # type: ignore[call-arg]  # a wrong name
        assert not [entity async for entity in client.list("cluster")]
