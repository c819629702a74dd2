"""Copies of records in JSON, for an installation whose feed is in both formats.

A copy is stored in LOG by the same batch as its record, so the two are there together or not at all, and the server
sends both to the live feed. Nothing of ours reads the copies.
Belongs here: making them. Does not: the choice of the feed (`jetstream.streams`), committing (`claim`).
"""

from collections.abc import Iterator, Sequence

from phaseline.engine.core.message import BATCH_LIMIT, Headers, Message
from phaseline.engine.settings import Feed
from phaseline.schemas import codec
from phaseline.schemas.subjects import json_copy
from phaseline.schemas.wire_codec import LARGEST_JSON

MARK: Headers = (("Phaseline-Copy", "json"),)
"""The header of a copy. All other messages in LOG do without it (`log.foreign`)."""


def limit(feed: Feed) -> int:
    """The most messages of a batch beside its checkpoint, without the copies that are added to it."""
    return BATCH_LIMIT // 2 if feed == "both" else BATCH_LIMIT


def of(prefix: str, messages: Sequence[Message]) -> Iterator[Message]:
    """The copies of the records among these messages: transitions, rejections and losses."""
    start = f"{prefix}.log."
    for message in messages:
        if message.subject.startswith(start):
            yield Message(json_copy(prefix, message.subject), _body(message.body), MARK)


def _body(body: bytes) -> bytes:
    """A record as JSON; a record that is too large for that stays as it is, and its content type says so."""
    found = codec.as_json(body)
    return found if len(found) <= LARGEST_JSON else body
