"""The service `phaseline` of each worker: questions about entities, answered by the conventions of NATS services.

Belongs here: requests and replies, forwarding a question to the worker that owns the tree; how many events wait. Does
not: the answers, which are the products' (`language.product.WorkerService`), what the number means (`publish.backlog`).
Any worker may receive a question. If it does not own the tree, it asks the worker that does. An answer shows committed
states only: a worker whose memory is ahead of its commits waits for them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from phaseline.engine import logs
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.latest import Latest
from phaseline.engine.nats.frames import CODE, ERROR
from phaseline.engine.nats.micro import Request, serve
from phaseline.engine.publish import source_counts
from phaseline.engine.worker.partition import Partition
from phaseline.machines.language.product import WorkerService, load
from phaseline.schemas import codec
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import (
    EntityUnknown,
    Fenced,
    InvalidInput,
    NatsUnreachable,
    NoAnswer,
    PhaselineError,
    SetupError,
)
from phaseline.schemas.subjects import BadSubject, unquote

NAME, DESCRIPTION = "phaseline", "A worker of Phaseline. It answers for the trees that it owns, out of its memory."
POSITION = "Phaseline-Position"
"""Header of an answer: the position of the last event that it takes into account."""
ROOM = 1024
"""Bytes that are kept free for the headers of a message."""
PATIENCE = 0.5
"""Seconds for which an answer waits for the commit under way. A commit takes longer only where NATS is in trouble."""

T = TypeVar("T")
log = logs.get_logger(__name__)


class Answer(NamedTuple):
    """A reply: its body, and headers with its position or its error."""

    body: bytes
    headers: dict[str, str]


@dataclass(slots=True)
class ServiceQuery:
    """A question about the entity `id`, for a service of a product.

    data: what was asked, a map. states: the states in the streams. Where more is needed: `states.installation`.
    """

    id: str
    data: Mapping[str, Any]
    states: Latest
    _partition: Partition
    _position: int | None = None

    async def look(self, ask: Callable[[Tree], T]) -> T:
        """The result of `ask` on the worker's tree, which it must not change, once all of the tree is committed."""
        found, self._position = await self._partition.look(ask)
        return found

    @property
    def headers(self) -> dict[str, str]:
        """What the answer says of itself."""
        return {} if self._position is None else {POSITION: str(self._position)}


class Endpoint(NamedTuple):
    """A service of a product, loaded. arity: how many parts the ids have that it is asked about."""

    service: WorkerService
    arity: int
    answer: Callable[[ServiceQuery], Awaitable[Any]]
    metadata: Mapping[str, str]

    @classmethod
    def of(cls, service: WorkerService, arity: int) -> "Endpoint":
        """Load a service; raises `SetupError.kinds_broken` if that fails."""
        try:
            metadata = load(service.metadata)() if service.metadata else {}
            return cls(service, arity, load(service.answer), metadata)
        except Exception as error:
            problem = f"the service {service.name} of {service.kind} cannot be loaded: {type(error).__name__}: {error}"
            raise SetupError.kinds_broken(problem=problem) from error


class Services:
    """The services of one worker. `owned`: the partitions that it owns now; they change."""

    def __init__(self, installation: Installation, owned: Mapping[int, Partition], worker: str, version: str) -> None:
        """Answers nothing before `start`. Raises `SetupError.kinds_broken` if a product's service cannot be loaded."""
        self.installation, self.wire, self.owned = installation, installation.wire, owned
        self.worker, self.version = worker, version
        self.subjects = installation.subjects
        kinds = installation.kinds
        offered = (one for product in kinds.products or () for one in product.services if one.kind in kinds)
        self.endpoints = {one.kind: Endpoint.of(one, kinds[one.kind].arity) for one in offered}

    async def start(self) -> Any:
        """Announce the service. Returns an object with `stop`."""
        metadata = {"prefix": self.installation.prefix, "worker": self.worker}
        service = await serve(self.wire, NAME, self.version, DESCRIPTION, metadata)
        for kind, one in self.endpoints.items():
            subject = self.subjects.status(kind, ".".join(["*"] * one.arity))
            await service.add_endpoint(
                name=one.service.name, handler=self.handle, subject=subject, metadata=dict(one.metadata)
            )
        return service

    async def handle(self, request: Request) -> None:
        """Answer a request from outside, or forward it to the owner of the tree."""
        question = request.subject[len(self.subjects.status("", "")) - 1 :]
        try:
            partition = self.installation.partition_of(_asked(question)[1])
        except BadSubject as error:
            found = refusal(400, str(error))
        else:
            if partition in self.owned:
                found = await self.answer(partition, question, request.data)
            else:
                found = await self._forward(partition, question, request.data)
        if ERROR in found.headers:
            headers = {name: value for name, value in found.headers.items() if name not in (ERROR, CODE)}
            await request.respond_error(found.headers[CODE], found.headers[ERROR], found.body, headers)
        else:
            await request.respond(found.body, headers=found.headers)

    async def _forward(self, partition: int, question: str, body: bytes) -> Answer:
        try:
            reply = await self.wire.request(self.subjects.owner(partition, question), body)
        except NoAnswer:
            return refusal(503, "no worker owns the tree of this entity at the moment: try again")
        return Answer(reply.data, reply.headers)

    async def listen(self, partition: int) -> int:
        """Take the questions that other workers forward for one of our partitions; returns the subscription."""

        async def answer(subject: str, body: bytes, _: bytes | None, reply: str) -> None:
            found = await self.answer(partition, subject[len(self.subjects.owner(partition, "")) :], body)
            try:
                self.wire.send(self.wire.frame(reply, found.body, found.headers))
            except NoAnswer as error:
                log.warning("status_unsent", partition=partition, error=str(error))

        return await self.wire.serve(self.subjects.owner(partition, ">"), answer)

    async def answer(self, number: int, question: str, body: bytes) -> Answer:
        """The answer from the tree of partition `number` in memory, once that tree is committed."""
        partition = self.owned.get(number)
        if partition is None:
            return refusal(503, "the tree of this entity has just moved to another worker: try again")
        kind, entity_id = _asked(question)
        if kind not in self.endpoints:
            return refusal(404, f"this worker answers no questions about {kind}")
        endpoint = self.endpoints[kind]
        try:
            query = ServiceQuery(entity_id, codec.decode(body) if body else {}, Latest(self.installation), partition)
            found = codec.encode_json(await endpoint.answer(query))
        except codec.Undecodable as error:
            return refusal(400, f"the query must be a JSON object or a msgpack map: {error}")
        except InvalidInput as error:
            return refusal(400, str(error))
        except EntityUnknown as error:
            return refusal(404, str(error))
        except (Fenced, NoAnswer) as error:
            return refusal(503, f"{error}: try again")
        except PhaselineError as error:
            return refusal(500, str(error))
        except Exception as error:  # whatever the code of a product raises must not leave the asker without an answer
            log.exception("service_failed", kind=kind, id=entity_id, error=f"{type(error).__name__}: {error}")
            return refusal(500, "the service failed, which is a bug: the worker's log has the error")
        if len(found) > self.wire.max_payload - ROOM:
            most = (
                f"the answer has {len(found)} bytes, but a message of this server has {self.wire.max_payload} at most"
            )
            return refusal(413, ": ".join(filter(None, (most, endpoint.service.narrower))))
        return Answer(found, {**content_types.AS_JSON, **query.headers})


def _asked(question: str) -> tuple[str, str]:
    """The kind and the id in the end of a subject: `node.c1.pool-a.n7`. Raises `BadSubject`."""
    kind, *tokens = question.split(".")
    return kind, "/".join(map(unquote, tokens))


def refusal(code: int, why: str) -> Answer:
    """An error reply, by the conventions of NATS services."""
    text = " ".join(why.split())[: ROOM // 2]
    return Answer(
        codec.encode_json({"error": why, "code": code}), {**content_types.AS_JSON, ERROR: text, CODE: str(code)}
    )


async def listen_backlog(installation: Installation, partition: Partition) -> int:
    """Answer for a partition that this worker owns; returns the subscription.

    To a request with the body `sources` it adds the counts by source. Any other answer waits for the commit under way,
    at most `PATIENCE`. Readers see records before this worker knows that they are stored. Without the wait, an answer
    would call events undecided whose outcome the asker has seen.
    """
    wire = installation.wire

    async def answer(_: str, data: bytes, __: bytes | None, reply: str) -> None:
        is_lost, more = False, dict[str, Any]()
        if data == source_counts.ASKED:
            more = source_counts.answer(partition.outcomes.sources)
        elif (committed := partition.commits.under_way()) is not None:
            await asyncio.wait({committed}, timeout=PATIENCE)
            is_lost = committed.cancelled()
        waiting = None if is_lost else partition.waiting
        body = {"worker": partition.worker, "position": partition.position, "waiting": waiting, **more}
        with suppress(NatsUnreachable):
            wire.send(wire.frame(reply, codec.encode_json(body)))

    return await wire.serve(installation.subjects.backlog(partition.number), answer)
