"""Reads the receivers in a file of rules, and says of each mistake what was found and what to write.

Belongs here: the types of receivers, their options, what these may be. Does not: what `${NAME}` in them stands for,
which only who sends looks up (`engine.products.notices.sending`).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args
from urllib.parse import urlsplit

from phaseline.engine.products.notices.fold.bodies import shapes
from phaseline.engine.products.notices.fold.fields import Fields
from phaseline.engine.products.notices.fold.rules import Receiver, ReceiverType

WEB = ("allow-private", "timeout")
OPTIONS: Mapping[ReceiverType, tuple[str, ...]] = {
    "webhook": ("url", "shape", "template", "secret", "headers", *WEB),
    "slack": ("token", "channel", "url", *WEB),
    "cloudevents": ("url", "secret", "headers", *WEB),
    "alertmanager": ("url", "labels", "headers", *WEB),
    "nats": ("subject",),
    "email": ("host", "port", "from", "to", "user", "password", "tls", *WEB),
}
"""The options of each type of receiver."""
REQUIRED: Mapping[ReceiverType, tuple[str, ...]] = {
    "webhook": ("url",), "slack": ("token", "channel"), "cloudevents": ("url",), "alertmanager": ("url",),
    "nats": ("subject",), "email": ("host", "from", "to"),
}  # fmt: skip
SHAPES = ("plain", *shapes.SHAPES)
TLS = ("starttls", "tls", "none")
LONGEST = 60
"""The most seconds of `timeout`."""
SECRET = re.compile(r"\$\{(file:[^{}]+|[A-Za-z_][A-Za-z0-9_]*)\}")
"""What stands for a value in the environment, or in a file."""
_SUBJECT = re.compile(r"[^\s.*>]+(\.[^\s.*>]+)*\Z")
_ADDRESS = re.compile(r"(?:[^<>\r\n\"]{0,100}<)?[^\s@<>,;:\"]{1,64}@[^\s@<>,;:\"]{1,255}>?\Z")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}\Z")
OURS = ("content-length", "content-type", "host", "transfer-encoding", "connection", "accept-encoding")
"""Headers that requests have in any case."""


def receiver(name: str, found: Any, problems: list[str]) -> Receiver:
    """One receiver. problems: gets what is wrong."""
    where = f"receiver {name}"
    pair = Fields(where, found, get_args(ReceiverType), problems)
    if len(pair.found) != 1:
        problems.append(f"{where}: name one type, such as webhook: {{url: ...}}")
        return Receiver(name, "webhook", {})
    chosen: ReceiverType = next((one for one in get_args(ReceiverType) if one in pair.found), "webhook")
    options = Fields(f"{where}, {chosen}", pair.found.get(chosen), OPTIONS[chosen], problems)
    options.require(*REQUIRED[chosen])
    problems.extend(f"{options.where}: {one}" for one in _mistakes(chosen, options.found))
    options.flag("allow-private")
    if options.seconds("timeout") > LONGEST:
        problems.append(f"{options.where}: timeout must be {LONGEST}s or less")
    for each in ("headers", "labels"):
        options.texts_by_name(each)
    if chosen == "webhook":
        options.word("shape", SHAPES, "plain")
    if chosen == "email":
        options.texts("to")
        options.word("tls", TLS, "starttls")
        options.number("port", least=1)
    return Receiver(name, chosen, options.found)


def _mistakes(chosen: ReceiverType, found: Mapping[str, Any]) -> Iterable[str]:
    """What is wrong with options, beside their types."""
    for name in ("url", "secret", "token", "channel", "subject", "host", "from", "user", "password"):
        if name in found and not isinstance(found[name], str):
            yield f"{name} must be a text, found {type(found[name]).__name__}"
    if isinstance(found.get("url"), str) and not has_secret(found["url"]):
        yield from url_mistakes(found["url"], allow_private=found.get("allow-private") is True)
    yield from {"webhook": _of_webhook, "nats": _of_nats, "email": _of_email}.get(chosen, lambda _: ())(found)
    headers, labels = found.get("headers"), found.get("labels")
    for header in headers if isinstance(headers, Mapping) else ():
        if not _HEADER.match(str(header)) or str(header).lower() in OURS:
            yield f"headers: {str(header)[:80]!r} can be no header of yours"
    for label in labels if isinstance(labels, Mapping) else ():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", str(label)) or label in ("alertname", "notice", "severity"):
            yield f"labels: {str(label)[:80]!r} can be no label of yours"


def _of_webhook(found: Mapping[str, Any]) -> Iterable[str]:
    if "shape" in found and "template" in found:
        yield "give either shape or template"
    if "secret" in found and found.get("shape", "plain") not in ("plain", *shapes.SIGNED):
        yield f"secret is of no use: {found['shape']} checks no signature"
    if "template" in found:
        if not isinstance(found["template"], Mapping):
            yield "template must be a map, as the receiver takes it in JSON"
        yield from (f"template: {one}" for one in shapes.mistakes(found["template"]))


def _of_nats(found: Mapping[str, Any]) -> Iterable[str]:
    subject = found.get("subject")
    if isinstance(subject, str) and (not _SUBJECT.match(subject) or subject.startswith("$")):
        yield f"subject must be a subject of NATS without wildcards, found {subject[:80]!r}"


def _of_email(found: Mapping[str, Any]) -> Iterable[str]:
    to = found.get("to")
    for one in (found.get("from"), *(to if isinstance(to, list) else [to])):
        if isinstance(one, str) and not has_secret(one) and not _ADDRESS.match(one):
            yield f"{one[:80]!r} is no address"
    if ("user" in found) != ("password" in found):
        yield "user and password go together"
    if "password" in found and found.get("tls") == "none":
        yield "with a password tls must not be none: it would be sent in the clear"


def has_secret(text: str) -> bool:
    """Whether something in a text stands in the environment or in a file."""
    return SECRET.search(text) is not None


def url_mistakes(url: str, *, allow_private: bool) -> Iterable[str]:
    """What is wrong with a URL. It may hold a secret, so it is not repeated."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        yield "url is none"
        return
    if parts.scheme not in ("https", "http") or not host:
        yield "url must begin with https:// and name a host"
    elif parts.scheme == "http" and not allow_private:
        yield "url must begin with https://; http:// is for your own network, with allow-private: true"
    if not url.isprintable() or " " in url:
        yield "url holds a blank or a control character"
