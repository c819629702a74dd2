"""The programs in examples/client run against a real server."""

import asyncio
import importlib.util
from types import ModuleType
from typing import Any

import pytest

import phaseline
from tests.support.command import ROOT
from tests.support.installation import Settings


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples/client" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What the program printed; the worker in this process logs between its lines."""
    return [line for line in capsys.readouterr().out.splitlines() if " [info " not in line]


async def test_publish_then_read(working: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    await program("publish").main(working.nats[0], working.prefix)
    assert printed(capsys) == ["stored at 1", "stored 3", "refused: illegal", "not sent: unknown_trigger"]
    await program("read").main(working.nats[0], working.prefix)
    said = printed(capsys)
    assert any(line.startswith("refused: c1/pool-a/n1 ") for line in said)
    assert "c1 created" in said


async def test_script(working: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    await asyncio.to_thread(program("script").main, working.nats[0], working.prefix)
    said = printed(capsys)
    assert said[:2] == ["['Running [Ok]', 'Running [Ok]']", "c2/pool-a/n1 Running [Ok]"]
    assert said[-1].startswith("there is no node 'c2/pool-a/n9'")


async def test_products(client: phaseline.Client) -> None:
    products = program("products")
    await client.publish_and_wait("emco_resource", "create", "p+a+v1+g", {"type": "deployment_intent_group"})
    assert (await products.summary(client, "p+a+v1+g")).startswith("g Created")
    await client.publish_and_wait("bundle_deployment", "target", "infra/web/c1", {"deployment_id": "v1"})
    assert await products.ready(client, "infra", "now") == "0/0"
    live: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}}
    await client.publish_and_wait(
        "resource", "observed", "shop/shop/core:ConfigMap/-/a", {"live": live, "desired": live}
    )
    assert await products.drift(client, "shop/shop/core:ConfigMap/-/a") == []
    assert products.wanted(live, {**live, "data": {"a": "2"}}) == "OutOfSync"
