"""A request's body, and the events in it, in the three modes of the HTTP binding of CloudEvents.

Belongs here: the bounds of a body, which mode it is in, the maps of its events. Does not: checking the events
(`publish.compose`), storing them (`events`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.requests import Request

from phaseline.schemas import bounds, codec
from phaseline.schemas.cloudevents import binary_mode, content_types
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.errors import InvalidInput

LARGEST = 1 << 20
"""The most bytes of a body: a NATS server takes no larger message, unless it is told otherwise."""
MOST = 1_000
"""The most events of a batch."""
BATCH = f"{content_types.CLOUD_EVENTS}-batch"
BATCH_JSON = f"{BATCH}+json"
KEY = "idempotency-key"
FORMS = (
    f"send an event as {content_types.JSON_EVENT}, several as {BATCH_JSON}, or the data alone with the attributes in "
    "headers (ce-id, ce-source, ce-type, ce-specversion, ce-subject)"
)


class GivenEvents(NamedTuple):
    """The events of a request, as maps. is_batch: whether several may be in it."""

    events: list[dict[str, Any]]
    is_batch: bool = False


async def read(request: Request, largest: int = LARGEST) -> bytes:
    """The whole body; raises `InvalidInput.body_too_large`, `InvalidInput.media_type_unknown`, `ClientDisconnect`."""
    if (coding := request.headers.get("content-encoding", "identity")) != "identity":
        raise InvalidInput.media_type_unknown(
            problem=f"a body in the coding {coding[:32]!r} is not taken: send it as it is"
        )
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > largest:
        raise InvalidInput.body_too_large(limit=largest)
    pieces, size = list[bytes](), 0
    async for piece in request.stream():
        size += len(piece)
        if size > largest:
            raise InvalidInput.body_too_large(limit=largest)
        pieces.append(piece)
    return b"".join(pieces)


async def given(request: Request) -> GivenEvents:
    """The events in a request; raises one of our errors."""
    type_ = _type_of(request)
    media = type_.partition(";")[0].strip().lower()
    if media.startswith(BATCH):
        return _batch(request, media, await read(request))
    if media.startswith(content_types.CLOUD_EVENTS):
        return GivenEvents([_keyed(request, _structured(media, await read(request)))])
    if any(name.startswith(binary_mode.PREFIX) for name in request.headers):
        return GivenEvents([_keyed(request, _binary(request, type_, await read(request)))])
    raise InvalidInput.media_type_unknown(problem=f"a body of the type {type_[:64]!r} holds no event: {FORMS}")


def _type_of(request: Request) -> str:
    types = request.headers.getlist("content-type")
    if len(types) > 1:
        raise InvalidInput.bad_header(name="content-type", problem="stands twice")
    type_ = types[0] if types else ""
    for parameter in type_.lower().split(";")[1:]:
        name, _, value = parameter.strip().partition("=")
        if name == "charset" and value.strip('"') not in ("utf-8", "utf8", "us-ascii"):
            raise InvalidInput.media_type_unknown(problem=f"the charset {value[:32]!r} is not taken: send UTF-8")
    return type_


def _batch(request: Request, media: str, body: bytes) -> GivenEvents:
    if media != BATCH_JSON:
        raise InvalidInput.media_type_unknown(
            problem=f"a batch of the type {media[:64]!r} is not taken: send {BATCH_JSON}"
        )
    if KEY in request.headers:
        raise InvalidInput.bad_header(
            name="Idempotency-Key", problem="belongs to one event; each event of a batch has its own id"
        )
    try:
        found = codec.decode_text(body.decode())
    except UnicodeDecodeError as error:
        raise InvalidInput.bad_body(problem=codec.fault_of(error)) from None
    except codec.Undecodable as error:
        raise InvalidInput.bad_body(problem=str(error)) from None
    if not isinstance(found, list):
        raise InvalidInput.bad_body(
            problem=f"a batch is a list of events in [ ]; one event is sent as {content_types.JSON_EVENT}"
        )
    if len(found) > MOST:
        raise InvalidInput.bad_body(problem=f"a batch has at most {MOST:,} events, this one has {len(found):,}")
    return GivenEvents(found, is_batch=True)


def _structured(media: str, body: bytes) -> dict[str, Any]:
    if media not in (content_types.JSON_EVENT, content_types.MSGPACK_EVENT):
        known = f"{content_types.JSON_EVENT}, {content_types.MSGPACK_EVENT}, {BATCH_JSON}"
        raise InvalidInput.media_type_unknown(problem=f"an event of the type {media[:64]!r} is not taken: send {known}")
    if (media == content_types.JSON_EVENT) != codec.is_json(body.lstrip()):
        begins = f"begins with {body[:16].decode(errors='replace')!r}" if body else "is empty"
        raise InvalidInput.bad_body(problem=f"it is no {media}: it {begins}; {FORMS}")
    try:
        return codec.decode(body, bounds.LEVELS)
    except codec.Undecodable as error:
        raise InvalidInput.bad_body(problem=str(error)) from None


def _binary(request: Request, type_: str, body: bytes) -> dict[str, Any]:
    """The map of an event whose attributes are headers. Their rules are those of the NATS binding."""
    if "ce-datacontenttype" in request.headers:
        raise InvalidInput.bad_header(name="ce-datacontenttype", problem="the type of the data is in content-type")
    if body and type_ and not content_types.is_readable(type_):
        raise InvalidInput.media_type_unknown(problem=f"data must be JSON or msgpack, its type is {type_[:64]!r}")
    block = b"\r\n".join([b"", *(name + b": " + value for name, value in request.headers.raw), b"", b""])
    try:
        found = binary_mode.read(body, block)
    except (Invalid, codec.Undecodable) as error:
        raise (
            InvalidInput.bad_body(problem=str(error)) if isinstance(error, codec.Undecodable) else _wrong(error)
        ) from None
    needed = [
        name for name in binary_mode.REQUIRED if name not in found and not (name == "id" and KEY in request.headers)
    ]
    if needed:
        names = ", ".join(f"{binary_mode.PREFIX}{name}" for name in needed)
        raise InvalidInput.bad_header(name=names, problem=f"is missing; {FORMS}")
    return found


def _wrong(error: Invalid) -> InvalidInput:
    return InvalidInput.bad_header(name="ce-", problem=str(error).removeprefix("headers: "))


def _keyed(request: Request, event: Mapping[str, Any]) -> dict[str, Any]:
    """The event with the id that an `Idempotency-Key` gives it."""
    keys = request.headers.getlist(KEY)
    if not keys:
        return dict(event)
    key = keys[0].strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if len(keys) > 1 or not key.isprintable() or not 0 < len(key) <= 255:
        raise InvalidInput.bad_header(name="Idempotency-Key", problem="must be one text of 1 to 255 characters")
    own = event.get("id")
    if own not in (None, key):
        raise InvalidInput.keys_differ(key=key, event=str(own)[:64])
    return {**event, "id": key}
