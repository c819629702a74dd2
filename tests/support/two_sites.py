"""Two sites on loopback: a server that decides, and one that mirrors its EVENTS over a leaf node.

Belongs here: starting them, the mirror, and what tests of backups take from the engine. Does not: what becomes of it
when the first is lost (the tests).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from phaseline.engine.log.restored import identity
from phaseline.engine.log.restored.identity import log_identity
from phaseline.engine.nats.embedded.server import EmbeddedServer
from phaseline.engine.nats.wire import Wire
from phaseline.engine.replay.backup import backing_up, checkpoints, manifest, mirror, restoring, stream_files
from phaseline.engine.replay.backup.backing_up import back_up, order, state_of
from phaseline.engine.replay.backup.manifest import BackupManifest, StreamEntry
from phaseline.engine.settings import DEFAULT_WINDOW, Settings
from phaseline.schemas.records import SECOND
from tests.support import free_ports
from tests.support.patience import wait_for

__all__ = [
    "BackupManifest", "StreamEntry", "back_up", "backing_up", "checkpoints", "identity", "log_identity", "manifest",
    "mirror", "order", "restoring", "state_of", "stream_files",
]  # fmt: skip

FIRST_API = "$JS.first.API"
"""The JetStream API of the first site, as it is called from the second one."""

WINDOW = int(DEFAULT_WINDOW * SECOND)
"""Without it a promoted mirror does not know what publishers have sent already."""


class SiteServer(EmbeddedServer):
    """A server with a JetStream domain. more: lines of its configuration."""

    def __init__(self, domain: str, more: str, data: Path) -> None:
        super().__init__(data)
        self._domain, self._more = domain, more

    def _config(self) -> str:
        base = super()._config().replace("server_name: phaseline-embedded", f"server_name: {self._domain}")
        return base.replace("jetstream {", f"jetstream {{ domain: {self._domain}, ") + self._more


class TwoSites(NamedTuple):
    """settings: for the first and for the second one."""

    first: SiteServer
    second: SiteServer
    settings: tuple[Settings, Settings]

    async def mirror(self, wire: Wire) -> None:
        """Let the second site mirror EVENTS. wire: to the second."""
        name = self.settings[0].stream("EVENTS")
        mirror = {"name": name, "external": {"api": FIRST_API}}
        config = {"name": name, "storage": "file", "num_replicas": 1, "duplicate_window": WINDOW, "mirror": mirror}
        await wire.api(f"STREAM.CREATE.{name}", config)

    async def until_mirrored(self, wire: Wire, position: int) -> None:
        """Wait until the mirror has this event, as long as it grows."""
        name = self.settings[0].stream("EVENTS")

        async def last() -> int:
            return int((await wire.api(f"STREAM.INFO.{name}"))["state"]["last_seq"])

        async def there() -> bool:
            return await last() >= position

        await wait_for(there, last)


@asynccontextmanager
async def two_sites(folder: Path, **more: object) -> AsyncIterator[TwoSites]:
    """Both servers, without streams. more: settings."""
    [port] = free_ports.some(1)
    own = '"pl.>"'
    remote = f'{{ url: "nats-leaf://127.0.0.1:{port}", deny_imports: [{own}], deny_exports: [{own}] }}'
    at_first = f"leafnodes {{ listen: 127.0.0.1:{port} }}\n"
    at_second = f"leafnodes {{ reconnect: 1s, remotes: [{remote}] }}\n"
    async with (
        SiteServer("first", at_first, folder / "first") as first,
        SiteServer("second", at_second, folder / "second") as second,
    ):
        base = replace(Settings(partitions=2, lease=1.0, request_timeout=30.0), **more)  # type: ignore[arg-type]
        yield TwoSites(first, second, (replace(base, nats=(first.url,)), replace(base, nats=(second.url,))))
