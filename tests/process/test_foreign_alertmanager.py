"""Debian's Alertmanager gets the notices of a real sender: an alert opens, stays open, and is resolved.

`python3 dev.py foreign` installs it; without it this test is skipped.
"""

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from phaseline.engine.products.notices.fold.bodies import shapes
from phaseline.engine.products.notices.sending import sender
from phaseline.schemas.records import SECOND
from tests.support import free_ports
from tests.support.foreign_programs import INSTALLED
from tests.support.installation import Settings, Wire, at_work
from tests.support.notified import Receiver
from tests.support.odd_receivers import OddReceiver, receiving
from tests.support.own_installation import Client
from tests.support.senders import KINDS, LIMIT, at_send, began, ended, until

CONFIG = """
route: {receiver: hook, group_by: [notice], group_wait: 0s, group_interval: 1s, repeat_interval: 4h}
receivers: [{name: hook, webhook_configs: [{url: "%s", send_resolved: true}]}]
"""


SHARE = INSTALLED / "debian" / "usr" / "share"
ITS_SHARE = [
    "unshare",
    "--map-root-user",
    "--mount",
    "sh",
    "-c",
    'mount --bind "$0" /usr/share && exec "$@"',
    str(SHARE),
]
"""Debian's Alertmanager reads its templates below /usr/share, where nothing is installed for a test."""


@pytest.fixture(scope="module")
def program() -> list[str]:
    """Alertmanager."""
    found = INSTALLED / "debian" / "usr" / "bin" / "prometheus-alertmanager"
    if not found.exists():
        pytest.skip("Alertmanager is not installed: python3 dev.py foreign")
    tried = subprocess.run([*ITS_SHARE, "true"], capture_output=True, check=False) if shutil.which("unshare") else None
    if tried is None or tried.returncode:
        pytest.skip("needs unshare, and namespaces of mounts allowed")
    return [*ITS_SHARE, str(found)]


@asynccontextmanager
async def alertmanager(program: list[str], folder: Path, hook: OddReceiver) -> AsyncIterator[str]:
    """The URL of an Alertmanager that passes on what it gets."""
    (folder / "am.yaml").write_text(CONFIG % hook.url)
    url = f"http://127.0.0.1:{free_ports.some(1)[0]}"
    process = await asyncio.create_subprocess_exec(
        *program, f"--config.file={folder / 'am.yaml'}", f"--storage.path={folder}", "--cluster.listen-address=",
        f"--web.listen-address={url.removeprefix('http://')}", cwd=folder,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(LIMIT):
            while await asked(url) is None:
                assert process.returncode is None
                await asyncio.sleep(0.1)
        yield url
    finally:
        process.kill()
        await process.wait()


async def asked(url: str) -> Any:
    """The open alerts that Alertmanager has; None if it does not answer."""

    def ask() -> Any:
        try:
            with urlopen(f"{url}/api/v2/alerts", timeout=LIMIT) as answer:
                return json.loads(answer.read())
        except OSError:
            return None

    return await asyncio.to_thread(ask)


async def test_an_alert_opens_stays_open_and_is_resolved(
    program: list[str], settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "ALERT_AGAIN", 0.5)
    monkeypatch.setattr(shapes, "ALERT_LASTS", 60 * SECOND)
    settings = replace(settings, prefix=f"{settings.prefix}-notices", partitions=1)
    async with (
        receiving() as hook,
        alertmanager(program, tmp_path, hook) as url,
        Wire.open(settings, name="test") as wire,
        at_work(settings, wire, KINDS),
        Client.open(settings, source="/test", kinds=KINDS) as client,
        at_send(settings, Receiver("prom", "alertmanager", {
            "url": url, "allow-private": True, "labels": {"team": "a"}, "timeout": "60s",
        })) as counts,
    ):  # fmt: skip
        opened = await began(client, "down/1", "prom")
        await until(client, "down/1/prom", "Sent", told="begin")
        [first] = await asked(url)
        assert first["labels"] == {"alertname": "down", "notice": "down/1", "severity": "critical", "team": "a"}
        assert first["annotations"]["summary"].startswith("CRITICAL: node c1/p/n1 NotReady")
        async with asyncio.timeout(LIMIT):
            while (await asked(url))[0]["endsAt"] == first["endsAt"]:  # it was sent again
                await asyncio.sleep(0.1)
        await hook.until(1)
        await ended(client, "down/1", opened, "prom")
        await until(client, "down/1/prom", "Sent", told="end")
        await hook.until(2)
        assert [one.json["status"] for one in hook.got] == ["firing", "resolved"]
        assert await asked(url) == []
    assert counts.outcomes["prom", "alertmanager", "sent"] == 2
    assert counts.outcomes["prom", "alertmanager", "repeated"] > 0
