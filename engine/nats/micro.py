"""NATS services: the implementation of nats-py, over our connection.

Belongs here: passing on the service's subscriptions and replies. Does not: what a service replies
(`worker.services`).
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from phaseline.engine import logs
from phaseline.engine.nats import frames
from phaseline.engine.nats.nats_library import Msg, sparing
from phaseline.engine.nats.wire import Wire
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import NatsUnreachable

with sparing():
    from nats.micro.request import Request
    from nats.micro.service import Service, ServiceConfig

__all__ = ["Request", "serve"]

log = logs.get_logger(__name__)
Handler = Callable[[Msg], Awaitable[None]]


async def serve(wire: Wire, name: str, version: str, description: str, metadata: dict[str, str]) -> Service:
    """Start a service without endpoints. It answers `$SRV` requests for its name and version until its `stop`."""
    config = ServiceConfig(name=name, version=version, description=description, metadata=metadata)
    service = Service(_Client(wire), config)  # type: ignore[arg-type]  # `_Client` has all that a service uses
    await service.start()
    return service


class _Names:
    def next(self) -> bytes:
        """A unique id for a service."""
        return secrets.token_hex(11).encode()


class _Client:
    """The part of nats-py's client that its services use."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._nuid = _Names()

    async def subscribe(self, subject: str, queue: str = "", cb: Handler | None = None) -> "_Subscription":
        async def answer(subject: str, data: bytes, block: bytes | None, reply: str) -> None:
            headers = frames.read_headers(block) if block else None
            message = Msg(self, subject, reply, data, headers)  # type: ignore[arg-type]  # `_Client` too
            if cb is not None:
                await cb(message)

        return _Subscription(self._wire, await self._wire.serve(subject, answer, queue))

    async def publish(
        self, subject: str, data: bytes = b"", headers: Mapping[str, str] | None = None, **_: Any
    ) -> None:
        try:
            # All that a service of ours replies is JSON, as is what the library itself replies about it.
            self._wire.publish(subject, data, {**content_types.AS_JSON, **(headers or {})})
        except NatsUnreachable as error:
            log.warning("answer_lost", subject=subject, error=str(error))

    async def flush(self) -> None:
        """Do nothing: the server handles frames in the order in which they were sent."""


class _Subscription:
    def __init__(self, wire: Wire, sid: int) -> None:
        self._wire, self._sid = wire, sid

    async def unsubscribe(self) -> None:
        await self._wire.unsubscribe(self._sid)

    drain = unsubscribe
