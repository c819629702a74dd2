"""Wrong uses of the public API. Nothing here runs: a type checker must find each line that ends with a comment.

mypy --strict finds comments that silence nothing. tests/process/test_typing.py checks the same with pyright.
"""

import phaseline
from phaseline import sync
from phaseline.triggers import node


async def wrong(client: phaseline.Client) -> None:
    number: int = await client.get("node", "c1/a/n1")  # type: ignore[assignment]
    assert node.cordn  # type: ignore[attr-defined]
    await client.status("a")  # type: ignore[attr-defined]
    await client.emco.status("a", output="everything")  # type: ignore[call-overload]
    async with phaseline.connect(request_timout=3):  # type: ignore[call-arg]
        assert number


def wrong_without_asyncio(client: sync.Client) -> None:
    client.emco.status("a", output="everything")  # type: ignore[call-overload]
    client.at("1h").gitops.diff("a")  # type: ignore[attr-defined]
    client.fleet = client.fleet  # type: ignore[misc]
    client.acme.readiness("v2")  # type: ignore[attr-defined]
