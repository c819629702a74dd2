"""The status service: each worker answers status queries for the trees it owns, by the conventions of NATS services.

Belongs here: requests and replies, forwarding a request to the worker that owns the tree. Does not: the answers
(`load`).
Any worker may receive a request. If it does not own the tree, it asks the worker that does. An answer shows committed
states only: a worker whose memory is ahead of its commits waits for them.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar

from phaseline.engine import logs
from phaseline.engine.core.tree import Tree
from phaseline.engine.emco_status import load, schema
from phaseline.engine.emco_status.error_headers import CODE, ERROR
from phaseline.engine.emco_status.query import BadQuery, read
from phaseline.engine.errors import BadStatusQuery, EntityUnknown, Fenced, NoAnswer, PhaselineError
from phaseline.engine.jetstream.micro import serve
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import Latest
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.subjects import BadSubject, unquote

NAME, DESCRIPTION = "phaseline", "The status query on EMCO resources: the state of everything that was deployed."
POSITION = "Phaseline-Position"
"""Header of an answer: the position of the last event that it takes into account."""
ROOM = 1024
"""Bytes that are kept free for the headers of a message."""

T = TypeVar("T")
log = logs.get_logger(__name__)


class Answer(NamedTuple):
    """A reply: its body, and headers with its position or its error."""

    body: bytes
    headers: dict[str, str]


class ServiceRequest(Protocol):
    """A request to a NATS service."""

    @property
    def subject(self) -> str:
        """The subject on which it arrived."""

    @property
    def data(self) -> bytes:
        """Its body."""

    async def respond(self, data: bytes, headers: dict[str, str]) -> None:
        """Send the answer."""

    async def respond_error(self, code: str, description: str, data: bytes, headers: dict[str, str]) -> None:
        """Send an error, and count it."""


class OwnedPartition(Protocol):
    """A partition that this worker owns, with its tree in memory."""

    async def look(self, ask: Callable[[Tree], T]) -> tuple[T, int]:
        """The result of `ask` on the tree once it is committed, and the position that the tree has reached."""
        ...


@cache
def _about() -> dict[str, str]:
    """The schemas of the service, as it announces them."""
    return {name: json.dumps(found, separators=(",", ":")) for name, found in schema.service().items()}


class StatusService:
    """The status service of one worker. `owned`: the partitions that it owns now; they change."""

    def __init__(
        self, installation: Installation, owned: Mapping[int, OwnedPartition], worker: str, version: str
    ) -> None:
        """Answers nothing before `start`."""
        self.installation, self.wire, self.owned = installation, installation.wire, owned
        self.worker, self.version = worker, version
        self.subjects = installation.subjects
        self._under_way: set[asyncio.Future[None]] = set()

    async def start(self) -> Any:
        """Announce the service. Returns an object with `stop`."""
        metadata = {"prefix": self.installation.prefix, "worker": self.worker}
        service = await serve(self.wire, NAME, self.version, DESCRIPTION, metadata)
        await service.add_endpoint(
            name="status", handler=self.handle, subject=self.subjects.status("*"), metadata=_about()
        )
        return service

    async def handle(self, request: ServiceRequest) -> None:
        """Answer a request from outside, or forward it to the owner of the tree."""
        token = request.subject.rpartition(".")[2]
        try:
            resource_id = unquote(token)
        except BadSubject as error:
            found = refusal(400, str(error))
        else:
            partition = self.installation.partition_of(resource_id)
            if partition in self.owned:
                found = await self.answer(partition, resource_id, request.data)
            else:
                found = await self._forward(partition, token, request.data)
        if ERROR in found.headers:
            headers = {name: value for name, value in found.headers.items() if name not in (ERROR, CODE)}
            await request.respond_error(found.headers[CODE], found.headers[ERROR], found.body, headers)
        else:
            await request.respond(found.body, headers=found.headers)

    async def _forward(self, partition: int, token: str, body: bytes) -> Answer:
        try:
            reply = await self.wire.request(self.subjects.owner(partition, token), body)
        except NoAnswer:
            return refusal(503, "no worker owns the tree of this resource at the moment: try again")
        return Answer(reply.data, reply.headers)

    async def listen(self, partition: int) -> int:
        """Take the requests that other workers forward for one of our partitions; returns the subscription."""

        def take(subject: str, data: bytes, _: bytes | None, reply: str) -> None:
            if not self.wire.replies.may_answer(subject, reply):
                return
            task = asyncio.ensure_future(self._answer_forwarded(partition, subject, data, reply))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

        return await self.wire.subscribe(self.subjects.owner(partition, "*"), take)

    async def _answer_forwarded(self, partition: int, subject: str, body: bytes, reply: str) -> None:
        found = await self.answer(partition, unquote(subject.rpartition(".")[2]), body)
        try:
            self.wire.send(self.wire.frame(reply, found.body, found.headers))
        except NoAnswer as error:
            log.warning("status_unsent", partition=partition, error=str(error))

    async def answer(self, number: int, resource_id: str, body: bytes) -> Answer:
        """The answer from the tree of partition `number` in memory, once that tree is committed."""
        partition = self.owned.get(number)
        if partition is None:
            return refusal(503, "the tree of this resource has just moved to another worker: try again")
        try:
            query = read(codec.decode(body) if body else {})
            selection, position = await partition.look(lambda tree: load.select_status(tree, resource_id, query))
            found = codec.encode_json(await load.answer(Latest(self.installation), selection, query))
        except codec.Undecodable as error:
            return refusal(400, f"the query must be a JSON object or a msgpack map: {error}")
        except (BadQuery, BadStatusQuery) as error:
            return refusal(400, str(error))
        except EntityUnknown as error:
            return refusal(404, str(error))
        except (Fenced, NoAnswer) as error:
            return refusal(503, f"{error}: try again")
        except PhaselineError as error:
            return refusal(500, str(error))
        if len(found) > self.wire.max_payload - ROOM:
            problem = (
                f"the answer has {len(found)} bytes, but a message of this server has {self.wire.max_payload} at most: "
                "ask for one app, cluster or resource, or for output=summary"
            )
            return refusal(413, problem)
        return Answer(found, {**content_types.AS_JSON, POSITION: str(position)})


def refusal(code: int, why: str) -> Answer:
    """An error reply, by the conventions of NATS services."""
    text = " ".join(why.split())[: ROOM // 2]
    return Answer(
        codec.encode_json({"error": why, "code": code}), {**content_types.AS_JSON, ERROR: text, CODE: str(code)}
    )
