"""A message on a subject of NATS, as a CloudEvent in JSON.

Belongs here: publishing, what the server's answer means.
"""

from phaseline.engine.nats.wire import Wire
from phaseline.engine.outgoing import problem, said
from phaseline.engine.products.notices.sending.attempts import Attempt
from phaseline.schemas import codec
from phaseline.schemas.bounds import LEVELS
from phaseline.schemas.cloudevents import content_types
from phaseline.schemas.errors import ApiFailed, NoResponders, PhaselineError, RequestTimedOut

PATIENCE = 2.0
"""Seconds that a stream may take to store a message. Who only subscribes answers nothing."""


async def send(wire: Wire, subject: str, body: bytes, message_id: str) -> Attempt:
    """Publish a message. It is sent if a stream has stored it, or somebody subscribes."""
    headers = {content_types.HEADER: content_types.JSON_EVENT, "Nats-Msg-Id": message_id}
    try:
        await wire.until_connected(PATIENCE)
        reply = await wire.request(subject, body, headers, timeout=PATIENCE)
    except NoResponders:
        return Attempt("failed", f"nobody listens on {subject}, and no stream stores it")
    except RequestTimedOut as error:
        if error.hint or not wire.connected:
            return Attempt("failed", problem(error))
        return await _unanswered(wire, subject)
    except PhaselineError as error:
        return Attempt("failed", problem(error))
    return _judged(reply.data)


async def _unanswered(wire: Wire, subject: str) -> Attempt:
    """What it means that nobody answered: somebody listens, or the server, or a stream, did not get to the message."""
    try:
        await wire.flush(PATIENCE)  # it has read the message, and did not say that nobody listens
        names = (await wire.api("STREAM.NAMES", {"subject": subject})).get("streams") or []
        streams = [name for name in names if await _answers(wire, name)]
    except (NoResponders, ApiFailed):
        streams = []  # there are no streams here
    except RequestTimedOut as error:
        if not error.hint:
            return Attempt("failed", problem(error))
        streams = []  # streams are not for this user
    except PhaselineError as error:
        return Attempt("failed", problem(error))
    if streams:
        return Attempt("failed", said(f"the stream {streams[0]} did not answer"))
    return Attempt("sent", "somebody listens")


async def _answers(wire: Wire, stream: str) -> bool:
    """Whether a stream answers to what it stores."""
    config = (await wire.api(f"STREAM.INFO.{stream}")).get("config") or {}
    return not config.get("no_ack")


def _judged(body: bytes) -> Attempt:
    """What an answer means: that of a stream says where the message is, or why it is not stored."""
    try:
        found = codec.decode_text(body, LEVELS)
    except ValueError:
        found = None
    if isinstance(found, dict) and isinstance(found.get("error"), dict):
        return Attempt("failed", f"the stream did not store it: {said(found['error'].get('description', ''))}")
    if isinstance(found, dict) and {"stream", "seq"} <= found.keys():
        return Attempt("sent", said(f"stored in {found['stream']}, message {found['seq']}"))
    return Attempt("sent", "somebody answered")
