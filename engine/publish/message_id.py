"""The `Nats-Msg-Id` of an event: subject, source and id, hashed under a secret where the publisher has one.

Belongs here: the headers of an event, the secret behind this one, and recognising the event that is stored under it:
whether it is ours, and whether this call stored it. Does not: sending (`single`, `pipeline`).
The server recognises repeats in the whole stream, whatever their subject. Without a secret, whoever foresees an id
could send it first, with another event. A publisher has a secret if it has credentials. Publishers with the same
credentials may send each other's events anyway. They share the secret, so a repeat is recognised whoever of them sends
it.
"""

import re
import time
from functools import lru_cache
from hashlib import blake2b, scrypt
from pathlib import Path
from urllib.parse import urlsplit

from phaseline.engine.log.log import direct_event
from phaseline.engine.nats import stream_reader
from phaseline.engine.nats.api_reply import Ack
from phaseline.engine.nats.wire import Wire
from phaseline.engine.publish.compose import EventMessage
from phaseline.engine.settings import Settings
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import ApiFailed, BadSetting, NoAnswer, NotPermitted
from phaseline.schemas.records import SECOND, nanoseconds, timestamp
from phaseline.schemas.subjects import is_stored_as

MESSAGE_ID = "Nats-Msg-Id"
SHORTEST, LONGEST = 16, 64
"""Bytes of a `message_id_key`: blake2b takes at most 64."""
_PURPOSE = b"pl-Nats-Msg-Id"
"""Makes the keys that follow from credentials useless for anything else."""
_SEED = re.compile(rb"-----BEGIN USER NKEY SEED-----\s+(\S+)")


def headers_of(message: EventMessage, key: bytes) -> dict[str, str]:
    """The headers of an event: its id for the server, and those that it has itself, or the type of its body."""
    own = dict(message.headers) if message.headers else {content_types.HEADER: content_types.of_event(message.body)}
    return {MESSAGE_ID: header(key, message.message_id), **own}


def header(key: bytes, text: str) -> str:
    """The header's value for an event's `message_id`: the text itself, or its hash under the publisher's `key`."""
    return blake2b(text.encode(), key=key, digest_size=16).hexdigest() if key else text


@lru_cache(maxsize=16)
def key_of(settings: Settings) -> bytes:
    """The secret of a publisher: its `message_id_key`, or one that follows from its credentials; empty without any.

    Raises `BadSetting` if the file of the key cannot be used.
    """
    if settings.message_id_key is not None:
        return _key_in(settings.message_id_key)
    for name in ("creds", "nkey"):
        if (path := getattr(settings, name)) is not None:
            content = _content(name, path)
            seed = _SEED.search(content)
            return _derived(seed[1] if seed else content)
    for url in settings.nats:
        parts = urlsplit(url)
        if password := parts.password or parts.username:
            # Readers of EVENTS see the ids. This makes it slow to try passwords on them.
            return scrypt(password.encode(), salt=_PURPOSE, n=2**14, r=8, p=1, dklen=32)
    return b"" if settings.tls_key is None else _derived(_content("tls_key", settings.tls_key))


def _key_in(path: Path) -> bytes:
    key = _content("message_id_key", path)
    if not SHORTEST <= len(key) <= LONGEST:
        needed = f"a key has {SHORTEST} to {LONGEST}; `openssl rand -hex 32` makes one"
        raise BadSetting(name="message_id_key", problem=f"{path} holds {len(key)} bytes, but {needed}")
    return key


def _content(name: str, path: Path) -> bytes:
    try:
        return path.read_bytes().strip()
    except OSError as error:
        raise BadSetting(name=name, problem=f"cannot read {path}: {error.strerror or error}") from error


def _derived(secret: bytes) -> bytes:
    return blake2b(secret, digest_size=32, person=_PURPOSE).digest()


def renamed(message: EventMessage) -> EventMessage:
    """The same message under its next id. A repeat comes to the same id in as many steps, and is recognised there."""
    return message._replace(message_id=f"{message.message_id} +")


async def is_repeat(wire: Wire, message: EventMessage, ack: Ack) -> bool:
    """Whether `message`, which the server takes for a repeat, is one: whether the stored event has its subject.

    True also where that cannot be found out. With a secret nobody else can have used the id.
    """
    if key_of(wire.settings):
        return True
    try:
        stored = await direct_event(wire, ack.stream, ack.seq)
    except (NoAnswer, ApiFailed, NotPermitted):
        return True
    return stored is None or is_stored_as(message.subject, stored.subject)


async def first_since(wire: Wire, moment: float) -> int:
    """The position of the first event that EVENTS stored since a `time.monotonic`; 0 if that cannot be found out.

    What the server takes for a repeat of an event before it was stored before `moment`; a repeat of one after it
    repeats a try of ours since then. The server's clock alone decides, so no clocks are compared.
    """
    events = wire.settings.stream("EVENTS")
    try:
        info = await wire.api(f"STREAM.INFO.{events}")
        then = nanoseconds(info["ts"]) - round((time.monotonic() - moment) * SECOND)
        found = await stream_reader.first_since(wire, events, timestamp(then))
    except (NoAnswer, ApiFailed, NotPermitted):
        return 0
    return int(info["state"]["last_seq"]) + 1 if found is None else found
