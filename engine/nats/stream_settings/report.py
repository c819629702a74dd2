"""One stream as it is: what it holds, whether its copies keep up, how it differs from what is wanted.

Belongs here: asking the server, for everybody who looks at streams. Does not: the comparison (`differences`), what is
done about it (`change`, `surfaces.doctor`).
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from phaseline.engine import logs
from phaseline.engine.nats.stream_settings.differences import Config, StreamDifference, differences
from phaseline.engine.nats.stream_settings.fill import Fill
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.errors import ApiFailed, SetupError

STREAM_NOT_FOUND = 10059
APPLY = "`phaseline admin streams --apply` changes it"

log = logs.get_logger(__name__)


class StreamReport(msgspec.Struct, frozen=True):
    """A stream as it is. late: the servers whose copy is not up to date."""

    stream: str
    messages: int
    fill: Fill
    replicas: int
    late: tuple[str, ...]
    differences: tuple[StreamDifference, ...]

    def shown(self) -> dict[str, Any]:
        """The fields for programs."""
        return {
            "stream": self.stream, "messages": self.messages, "bytes": self.fill.bytes,
            "max_bytes": self.fill.limit or None, "percent": self.fill.percent if self.fill.limit else None,
            "replicas": self.replicas, "late": list(self.late),
            "differences": [one.shown() for one in self.differences],
        }  # fmt: skip


async def info_of(wire: Wire, name: str) -> dict[str, Any] | None:
    """What the server says of a stream; None if it does not exist. Raises as `Wire.api` does."""
    try:
        return await wire.api(f"STREAM.INFO.{name}")
    except ApiFailed as error:
        if error.err_code == STREAM_NOT_FOUND:
            return None
        raise


async def report_on(wire: Wire, name: str, wanted: Config) -> StreamReport | None:
    """The stream of that name; None if it does not exist. Raises as `Wire.api` does."""
    info = await info_of(wire, name)
    if info is None:
        return None
    fill, config = Fill.of(info), info["config"]
    found = differences(name, config, wanted, fill.bytes, clustered=wire.clustered)
    return StreamReport(
        name, int(info["state"]["messages"]), fill, int(config["num_replicas"]), late_copies(info), tuple(found)
    )


def late_copies(info: Mapping[str, Any]) -> tuple[str, ...]:
    """The servers whose copy of a stream is not up to date."""
    peers = (info.get("cluster") or {}).get("replicas") or ()
    return tuple(peer["name"] for peer in peers if not peer.get("current", True) or peer.get("offline", False))


def check(name: str, found: Config, wanted: Config, *, is_copy: bool = False) -> None:
    """Raise `SetupError` if no worker can work with a stream of this configuration; log what else differs.

    is_copy: workers do without the stream: it holds copies for readers.
    """
    for one in differences(name, found, wanted):
        if one.needed and not is_copy:
            difference = f"{one.setting}: {one.found}, wanted {one.wanted}"
            raise SetupError.streams_differ(stream=name, difference=difference, way_out=one.way_out or APPLY)
        log.warning(
            "stream_differs", stream=name, setting=one.setting, found=one.found, wanted=one.wanted,
            hint=one.way_out or APPLY,
        )  # fmt: skip
