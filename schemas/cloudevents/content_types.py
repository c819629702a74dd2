"""The header that says in which format a message's body is, and its values.

The names are those of the NATS binding of CloudEvents: a body whose type begins with that of `CLOUD_EVENTS` holds the
whole envelope.
Belongs here: the header and the types of bodies. Does not: encoding (`codec`), the attributes in headers (`envelope`).
"""

from phaseline.schemas import codec

HEADER = "content-type"
CLOUD_EVENTS = "application/cloudevents"
"""What the type of every body begins with that holds a CloudEvents envelope (structured mode)."""
JSON_EVENT = f"{CLOUD_EVENTS}+json"
MSGPACK_EVENT = f"{CLOUD_EVENTS}+msgpack"
"""CloudEvents defines no msgpack format; the name follows the rule of media types, as that of JSON does."""
JSON = "application/json"
MSGPACK = "application/msgpack"
TEXT = "text/plain; charset=utf-8"

AS_JSON = {HEADER: JSON}
"""The header of a JSON body that is no event."""
AS_MSGPACK = {HEADER: MSGPACK}
"""The header of a msgpack body that is no event."""
_OF_JSON, _OF_MSGPACK = ("application/json", "text/json"), (MSGPACK, "application/x-msgpack", "application/vnd.msgpack")


def is_readable(type_: str) -> bool:
    """Whether data of this type is JSON or msgpack: `application/json; charset=utf-8`, `application/x+json`."""
    media = type_.partition(";")[0].strip().lower()
    return media in _OF_JSON or media in _OF_MSGPACK or media.endswith(("+json", "+msgpack"))


def of_event(body: bytes) -> str:
    """The type of a body that holds a CloudEvents envelope."""
    return JSON_EVENT if codec.is_json(body) else MSGPACK_EVENT
