"""How each type of receiver is sent to: which requests a message makes, and what their answers mean.

Belongs here: from a message to an `Attempt`, one function for each type. Does not: when (`sender`), the bodies
(`fold.bodies`), a request (`web`, `smtp`, `bus`).
"""

import base64
import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from phaseline.engine.log.when import seconds_of
from phaseline.engine.nats.wire import Wire
from phaseline.engine.outgoing import said
from phaseline.engine.products.notices.fold.bodies import shapes
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage
from phaseline.engine.products.notices.fold.rules import Receiver, ReceiverType
from phaseline.engine.products.notices.sending import bus
from phaseline.engine.products.notices.sending.attempts import Attempt
from phaseline.engine.products.notices.sending.secret_options import LookedUp, NotFoundSecret, looked_up
from phaseline.schemas import libraries
from phaseline.schemas.cloudevents import content_types

SECONDS = 10.0
"""How long a receiver may take, unless it says otherwise."""
ALERTS = "/api/v2/alerts"
SLACK = "https://slack.com/api"
SIGNATURE = "X-Hub-Signature-256"
LOST_MESSAGES = ("message_not_found", "cant_update_message", "edit_window_closed", "channel_not_found")
"""What Slack says of a message that cannot be changed any more: it is posted anew."""


class Way(NamedTuple):
    """What sending needs beside the message. source: who sends. wire: a connection to NATS."""

    given: LookedUp
    source: str
    wire: Wire | None

    @property
    def options(self) -> Mapping[str, Any]:
        """The options, complete."""
        return self.given.options

    @property
    def seconds(self) -> float:
        """How long the receiver may take."""
        return seconds_of(str(self.options.get("timeout", SECONDS))) or SECONDS

    async def post(
        self, url: str, body: Any, headers: Mapping[str, str] | None = None
    ) -> "tuple[Attempt, Mapping[str, Any]]":
        """Post a body as JSON; what the status means, and the map in the answer."""
        from phaseline.engine.products.notices.sending import web  # noqa: PLC0415  # an extra

        packed = body if isinstance(body, bytes) else msgspec.json.encode(body)
        own = self.options.get("headers") or {}
        sent = {"Content-Type": content_types.JSON, "User-Agent": "phaseline", **own, **(headers or {})}
        try:
            answer = await web.post(
                url, packed, sent, seconds=self.seconds, allow_private=self.options.get("allow-private") is True,
                secrets=self.given.secrets,
            )  # fmt: skip
        except web.NotReached as error:
            return Attempt("failed", said(error, self.given.secrets)), {}
        return web.judged(answer, self.given.secrets), answer.document


def need(receiver: Receiver) -> None:
    """Load what sends to a receiver, so that the first message does not wait for it. Raises `NotInstalled`."""
    if receiver.type != "nats":
        libraries.require("aiosmtplib" if receiver.type == "email" else "aiohttp", f"{receiver.type} receivers")
        import_module(f"{__package__}.{'smtp' if receiver.type == 'email' else 'web'}")


async def send(
    receiver: Receiver, message: NoticeMessage, source: str, *, wire: Wire | None = None,
    handle: Mapping[str, Any] | None = None,
) -> Attempt:  # fmt: skip
    """Send a message to a receiver. handle: of the message that it has, where one can be changed.

    Raises `NotInstalled` if a library is missing.
    """
    try:
        given = looked_up(receiver)
    except NotFoundSecret as error:
        return Attempt("failed", str(error))
    return await WAYS[receiver.type](Way(given, source, wire), message, handle or {})


async def _webhook(way: Way, message: NoticeMessage, _: Mapping[str, Any]) -> Attempt:
    options, secret = way.options, way.options.get("secret")
    name = options.get("shape", "plain")
    shape = shapes.SHAPES.get(name)
    url, headers = str(options["url"]), {"Idempotency-Key": message.id}
    if "template" in options:
        body: Any = shapes.filled(shapes.MessageShape(options["template"]), message)
    else:
        body = shapes.plain(message) if shape is None else shapes.filled(shape, message)
    if secret and name == "feishu":
        body |= _signed_for_feishu(secret, int(time.time()))
    elif secret and name == "dingtalk":
        url = _signed_for_dingtalk(url, secret, int(time.time() * 1_000))
    packed = msgspec.json.encode(body)
    if secret and name == "plain":
        headers |= signed(str(secret), packed)
    attempt, answer = await way.post(url, packed, headers)
    return attempt if shape is None else _taken(shape, attempt, answer)


def _taken(shape: shapes.MessageShape, attempt: Attempt, answer: Mapping[str, Any]) -> Attempt:
    """Whether a service took a message: some answer 200 and say in the body that they did not."""
    if attempt.outcome != "sent" or not shape.field or answer.get(shape.field) == shape.good:
        return attempt
    is_busy = answer.get(shape.field) in shape.busy or shape.field not in answer
    return attempt._replace(outcome="failed", about_message=not is_busy)


def signed(secret: str, body: bytes) -> dict[str, str]:
    """The header with the signature of a body: HMAC-SHA256 in hexadecimal, as GitHub and others sign webhooks."""
    return {SIGNATURE: f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"}


def _signed_for_feishu(secret: str, seconds: int) -> dict[str, str]:
    key = f"{seconds}\n{secret}".encode()
    return {"timestamp": str(seconds), "sign": base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()}


def _signed_for_dingtalk(url: str, secret: str, milliseconds: int) -> str:
    found = hmac.new(secret.encode(), f"{milliseconds}\n{secret}".encode(), hashlib.sha256).digest()
    sign = quote(base64.b64encode(found).decode(), safe="")
    return f"{url}{'&' if '?' in url else '?'}timestamp={milliseconds}&sign={sign}"


async def _cloudevents(way: Way, message: NoticeMessage, _: Mapping[str, Any]) -> Attempt:
    packed = msgspec.json.encode(shapes.cloud_event(message, way.source))
    headers = {"Content-Type": f"{content_types.JSON_EVENT}; charset=utf-8", "Idempotency-Key": message.id}
    if secret := way.options.get("secret"):
        headers |= signed(str(secret), packed)
    return (await way.post(str(way.options["url"]), packed, headers))[0]


async def _alertmanager(way: Way, message: NoticeMessage, _: Mapping[str, Any]) -> Attempt:
    return await _states(way, [message])


async def send_states(receiver: Receiver, messages: Sequence[NoticeMessage], source: str) -> Attempt:
    """Send states to an Alertmanager once more."""
    try:
        given = looked_up(receiver)
    except NotFoundSecret as error:
        return Attempt("failed", str(error))
    return await _states(Way(given, source, None), messages)


async def _states(way: Way, messages: Sequence[NoticeMessage]) -> Attempt:
    labels = way.options.get("labels") or {}
    return (await way.post(alerts_url(way), [shapes.alert(one, labels) for one in messages]))[0]


def alerts_url(way: Way) -> str:
    """Where an Alertmanager takes alerts."""
    url = str(way.options["url"]).rstrip("/")
    return url if url.endswith(ALERTS) else f"{url}{ALERTS}"


async def _slack(way: Way, message: NoticeMessage, handle: Mapping[str, Any]) -> Attempt:
    """Post a message once; later change it, and say in its thread what changed, because a change rings no bell."""
    body = shapes.filled(shapes.SHAPES["slack"], message)
    channel, at = handle.get("channel"), handle.get("at")
    is_same = handle.get("thread") == message.thread
    if channel and at and is_same:
        changed, answer = await _slack_call(way, "chat.update", {**body, "channel": channel, "ts": at})
        if changed.outcome == "sent":
            reply = {"channel": channel, "thread_ts": at, "text": body["text"]}
            attempt, _ = await _slack_call(way, "chat.postMessage", reply)
            return attempt._replace(handle=handle)
        if answer.get("error") not in LOST_MESSAGES:
            return changed
    attempt, answer = await _slack_call(way, "chat.postMessage", {**body, "channel": way.options["channel"]})
    if attempt.outcome == "sent" and answer.get("ts"):
        found = {"channel": str(answer.get("channel", ""))[:64], "at": str(answer["ts"])[:64], "thread": message.thread}
        return attempt._replace(handle=found)
    return attempt


async def _slack_call(way: Way, method: str, body: Mapping[str, Any]) -> tuple[Attempt, Mapping[str, Any]]:
    """One call of Slack's API. It answers 200 to what it did not do, too."""
    base = str(way.options.get("url", SLACK)).rstrip("/")
    attempt, answer = await way.post(f"{base}/{method}", body, {
        "Authorization": f"Bearer {way.options['token']}", "Content-Type": "application/json; charset=utf-8",
    })  # fmt: skip
    if attempt.outcome == "sent" and answer.get("ok") is not True:
        return Attempt("failed", f"Slack: {said(answer.get('error') or attempt.said, way.given.secrets)}"), answer
    return attempt._replace(said="200 OK") if attempt.outcome == "sent" else attempt, answer


async def _nats(way: Way, message: NoticeMessage, _: Mapping[str, Any]) -> Attempt:
    if way.wire is None:
        return Attempt("failed", "there is no connection to NATS")
    packed = msgspec.json.encode(shapes.cloud_event(message, way.source))
    return await bus.send(way.wire, str(way.options["subject"]), packed, message.id)


async def _email(way: Way, message: NoticeMessage, handle: Mapping[str, Any]) -> Attempt:
    from phaseline.engine.products.notices.sending import smtp  # noqa: PLC0415  # an extra

    options = way.options
    tls = str(options.get("tls", "starttls"))
    to = options["to"] if isinstance(options["to"], list) else [options["to"]]
    server = smtp.MailServer(
        str(options["host"]), int(options.get("port", smtp.PORTS[tls])), tls, options.get("user"),
        options.get("password"), options.get("allow-private") is True, way.seconds,
    )  # fmt: skip
    try:
        found = shapes.mail(message, str(options["from"]), tuple(map(str, to)), "phaseline")
    except ValueError as error:
        return Attempt("refused", said(error, way.given.secrets))
    has = handle.get("has") or () if handle.get("message") == message.id else ()
    attempt = await smtp.send(server, found, has, way.given.secrets)
    return attempt._replace(handle={"message": message.id, **attempt.handle}) if attempt.handle else attempt


WAYS: Mapping[ReceiverType, Callable[[Way, NoticeMessage, Mapping[str, Any]], Awaitable[Attempt]]] = {
    "webhook": _webhook, "slack": _slack, "cloudevents": _cloudevents, "alertmanager": _alertmanager,
    "nats": _nats, "email": _email,
}  # fmt: skip
