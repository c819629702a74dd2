"""The status service: each worker answers status queries for the trees it owns, by NATS' service conventions.

Belongs here: requests and replies, forwarding a request to the worker that owns the tree. Does not: answers (`statuses`).
Any worker may get a request. One that does not own the tree asks the one that does. An answer holds committed states only:
a worker whose memory is ahead of its commits waits for them.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import structlog

from phaseline.engine.core.tree import Tree
from phaseline.engine.emco_status import load, schema
from phaseline.engine.emco_status.query import BadQuery, read
from phaseline.engine.errors import BadStatusQuery, EntityUnknown, Fenced, NoAnswer, PhaselineError
from phaseline.engine.jetstream.micro import serve
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import Latest
from phaseline.schemas import codec
from phaseline.schemas.subjects import BadSubject, unquote

NAME, DESCRIPTION = "phaseline", "What became of what was deployed: the status query on EMCO resources."
POSITION = "Phaseline-Position"
"""Header of an answer: the sequence in EVENTS of the last event that it takes into account."""
ERROR, CODE = "Nats-Service-Error", "Nats-Service-Error-Code"
ROOM = 1024
"""Bytes of a message that headers may take."""

T = TypeVar("T")
log = structlog.get_logger(__name__)


class Answer(NamedTuple):
    """A body, and headers that say how it came about or what is wrong."""

    body: bytes
    headers: dict[str, str]


class Asked(Protocol):
    """A request, as NATS' services have it."""

    @property
    def subject(self) -> str:
        """Where it came in."""

    @property
    def data(self) -> bytes:
        """Its body."""

    async def respond(self, data: bytes, headers: dict[str, str]) -> None:
        """Answer it."""

    async def respond_error(self, code: str, description: str, data: bytes, headers: dict[str, str]) -> None:
        """Refuse it, and count that."""


class OwnedPartition(Protocol):
    """A partition that this worker owns, with its tree in memory."""

    async def look(self, ask: Callable[[Tree], T]) -> tuple[T, int]:
        """The result of `ask` on the tree once it is committed, and the position in EVENTS that it is true at."""
        ...


class StatusService:
    """One worker's part of the service. `owned`: its partitions, as they come and go."""

    def __init__(
        self, installation: Installation, owned: Mapping[int, OwnedPartition], worker: str, version: str
    ) -> None:
        """Answer from these partitions once started."""
        self.installation, self.wire, self.owned = installation, installation.wire, owned
        self.worker, self.version = worker, version
        self.subjects = installation.subjects
        self._under_way: set[asyncio.Future[None]] = set()

    async def start(self) -> Any:
        """Announce the service; what comes back has `stop`."""
        metadata = {"prefix": self.installation.prefix, "worker": self.worker}
        service = await serve(self.wire, NAME, self.version, DESCRIPTION, metadata)
        about = {name: json.dumps(found, separators=(",", ":")) for name, found in schema.service().items()}
        await service.add_endpoint(name="status", handler=self.asked, subject=self.subjects.status("*"), metadata=about)
        return service

    async def asked(self, request: Asked) -> None:
        """Answer a request from outside, or let the tree's owner answer it."""
        token = request.subject.rpartition(".")[2]
        try:
            resource_id = unquote(token)
        except BadSubject as error:
            found = refused(400, str(error))
        else:
            partition = self.installation.partition_of(resource_id)
            if partition in self.owned:
                found = await self.answer(partition, resource_id, request.data)
            else:
                found = await self._hand_on(partition, token, request.data)
        if ERROR in found.headers:
            headers = {name: value for name, value in found.headers.items() if name not in (ERROR, CODE)}
            await request.respond_error(found.headers[CODE], found.headers[ERROR], found.body, headers)
        else:
            await request.respond(found.body, headers=found.headers)

    async def _hand_on(self, partition: int, token: str, body: bytes) -> Answer:
        try:
            reply = await self.wire.request(self.subjects.owner(partition, token), body)
        except NoAnswer:
            return refused(503, "no worker owns this resource's tree at the moment: try again")
        return Answer(reply.data, reply.headers)

    async def listen(self, partition: int) -> int:
        """Take the requests that other workers hand on for a partition of ours; the answer is for `Wire.unsubscribe`."""

        def take(subject: str, data: bytes, _: bytes | None, reply: str) -> None:
            task = asyncio.ensure_future(self._handed_on(partition, subject, data, reply))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

        return await self.wire.subscribe(self.subjects.owner(partition, "*"), take)

    async def _handed_on(self, partition: int, subject: str, body: bytes, reply: str) -> None:
        found = await self.answer(partition, unquote(subject.rpartition(".")[2]), body)
        try:
            self.wire.send(self.wire.frame(reply, found.body, found.headers))
        except NoAnswer as error:
            log.warning("status_unsent", partition=partition, error=str(error))

    async def answer(self, number: int, resource_id: str, body: bytes) -> Answer:
        """The answer from what partition `number` holds in memory, once that is committed."""
        partition = self.owned.get(number)
        if partition is None:
            return refused(503, "this resource's tree has just gone to another worker: try again")
        try:
            query = read(codec.decode(body) if body else {})
            selection, position = await partition.look(lambda tree: load.chosen(tree, resource_id, query))
            found = codec.encode_json(await load.told(Latest(self.installation), selection, query))
        except codec.Undecodable as error:
            return refused(400, f"the question must be a JSON object, or a msgpack map: {error}")
        except (BadQuery, BadStatusQuery) as error:
            return refused(400, str(error))
        except EntityUnknown as error:
            return refused(404, str(error))
        except (Fenced, NoAnswer) as error:
            return refused(503, f"{error}: try again")
        except PhaselineError as error:
            return refused(500, str(error))
        if len(found) > self.wire.max_payload - ROOM:
            return refused(413, f"the answer has {len(found)} bytes, the server takes {self.wire.max_payload}: ask for one "
                           "app, cluster or resource, or for output=summary")  # fmt: skip
        return Answer(found, {POSITION: str(position)})


def refused(code: int, why: str) -> Answer:
    """An answer that is none, as NATS' services refuse."""
    text = " ".join(why.split())[: ROOM // 2]
    return Answer(codec.encode_json({"error": why, "code": code}), {ERROR: text, CODE: str(code)})
