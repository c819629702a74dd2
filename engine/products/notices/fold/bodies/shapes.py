"""The forms in which receivers take a message: as JSON, as chat services have it, as an alert, as a mail.

A form of a chat service, or a template, is a map as JSON has it. `{title}` in a text stands for a field. `{"$by":
"word", "end": 1, "otherwise": 2}` stands for what the value of a field chooses. What fields hold is put into texts
only, so it can add no other field. Alertmanager takes states, not messages: what is not sent again is over. Mails are
plain text, in one thread for each notice.
Belongs here: the forms, filling one, checking one. Does not: sending, and sending an alert again
(`engine.products.notices.sending`).
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Any, Final, NamedTuple

from phaseline.engine.products.notices.fold.bodies import wording
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage, time_of
from phaseline.schemas.errors import did_you_mean
from phaseline.schemas.records import SECOND, timestamp

KEPT = (
    "about", "state", "trigger", "said", "cause", "because", "number", "most", "below", "names", "kinds", "left",
    "since", "opened", "ended", "ended_as", "flapping", "window", "opened_by",
)  # fmt: skip
"""What the data of a notice and of a message have in common."""


def plain(message: NoticeMessage) -> dict[str, Any]:
    """The message for programs."""
    return {
        "id": message.id, "notice": message.notice, "thread": message.thread, "rule": message.rule,
        "word": message.word, "severity": message.severity, "title": wording.title(message),
        "text": wording.text(message), "due": timestamp(message.due) if message.due else "",
        "sent": timestamp(message.now), "late_seconds": message.late // SECOND, "taken_by": message.taken_by,
        **{name: message.data[name] for name in KEPT if name in message.data},
    }  # fmt: skip


def cloud_event(message: NoticeMessage, source: str) -> dict[str, Any]:
    """The message as a CloudEvent in structured mode."""
    return {
        "specversion": "1.0", "id": message.id, "source": source, "type": f"notice.{message.word}",
        "subject": f"notice/{message.notice}", "time": timestamp(message.due or message.now),
        "datacontenttype": "application/json", "data": plain(message),
    }  # fmt: skip


BY, OTHERWISE = "$by", "otherwise"
FIELDS = (
    "id", "notice", "thread", "rule", "word", "severity", "colour", "title", "escaped", "text", "about", "state",
    "reason", "said", "number", "below", "since", "opened", "ended", "ended_as", "late", "receiver",
)  # fmt: skip
"""What a template may name."""
_FIELD = re.compile(r"\{([a-z_]+)\}")


class MessageShape(NamedTuple):
    """The form of a service. body: what it takes.

    field, good: the field of its answer that says whether it took the message, and its value then; empty if the status
    does. busy: other values with which it asks to come again later. most: the most bytes of the field `text`; services
    that count bytes cut elsewhere in the middle of a letter.
    """

    body: Any
    field: str = ""
    good: Any = None
    busy: tuple[Any, ...] = ()
    most: int = 8_000


def _colours(critical: str, warning: str, info: str, over: str) -> Mapping[str, str]:
    return {BY: "colour", "critical": critical, "warning": warning, "info": info, "over": over}


def _text(text: str) -> Mapping[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


SLACK: Final = {
    "text": "{escaped}",
    "attachments": [{
        "color": _colours("#c0392b", "#e67e22", "#2980b9", "#27ae60"),
        "blocks": [{"type": "header", "text": _text("{title}")}, {"type": "section", "text": _text("{text}")}],
    }],
}  # fmt: skip
TEAMS: Final = {
    "type": "message",
    "attachments": [{
        "contentType": "application/vnd.microsoft.card.adaptive",
        "content": {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
            "fallbackText": "{title}",
            "body": [{
                "type": "Container", "style": _colours("attention", "warning", "accent", "good"),
                "items": [
                    {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": "{title}", "weight": "bolder"}]},
                    {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": "{text}"}]},
                ],
            }],
        },
    }],
}  # fmt: skip
FEISHU: Final = {
    "msg_type": "interactive",
    "card": {
        "config": {"wide_screen_mode": True},
        "header": {
            "title": {"tag": "plain_text", "content": "{title}"},
            "template": _colours("red", "orange", "blue", "green"),
        },
        "elements": [{"tag": "div", "text": {"tag": "plain_text", "content": "{text}"}}],
    },
}
CONTENT: Final = {"msgtype": "text", "text": {"content": "{title}\n{text}"}}
SHAPES: Final[Mapping[str, MessageShape]] = {
    #                       body     field      good  come again later          most
    "slack":   MessageShape(SLACK),
    "teams":   MessageShape(TEAMS),
    "feishu":  MessageShape(FEISHU,  "code",    0,    (9499, 11232)),
    "dingtalk": MessageShape(CONTENT, "errcode", 0,   (-1, 130101, 410100, 660026)),
    "wecom":   MessageShape(CONTENT, "errcode", 0,    (-1, 45009, 45033),       1_500),
}  # fmt: skip
"""All of them show plain text as it is: nothing in it is a link, a mention or markup."""
SIGNED = ("feishu", "dingtalk")
"""Those that check a signature of their own."""


def fields(message: NoticeMessage) -> dict[str, Any]:
    """What templates may name, of one message."""
    data = message.data
    said = data.get("said")
    said = said if isinstance(said, Mapping) else {}
    texts = {name: str(data.get(name) or "") for name in ("about", "since", "opened", "ended", "ended_as")}
    title = wording.title(message)
    return {
        **{name: wording.short(one, wording.LINE) for name, one in texts.items()},
        "id": message.id, "notice": message.notice, "thread": message.thread, "rule": message.rule,
        "word": message.word, "severity": message.severity, "title": title, "text": wording.text(message),
        "colour": "over" if message.is_over else message.severity, "receiver": message.receiver,
        "state": wording.short(str(data.get("state") or ""), wording.LINE),
        "reason": wording.short(str(said.get("reason") or ""), wording.LINE),
        "said": wording.short(str(said.get("message") or ""), wording.LINE),
        "number": data.get("number", 0), "below": data.get("below", 0),
        "late": wording.span(message.late) if message.late else "",
        "escaped": title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
    }  # fmt: skip


def filled(shape: MessageShape, message: NoticeMessage) -> Any:
    """The body of a message."""
    found = fields(message)
    found["text"] = _bounded(found["text"], shape.most)
    return _filled(shape.body, found)


def _filled(part: Any, found: Mapping[str, Any]) -> Any:
    if isinstance(part, str):
        return _put(part, found)
    if isinstance(part, list):
        return [_filled(one, found) for one in part]
    if not isinstance(part, Mapping):
        return part
    if BY in part:
        return _filled(part.get(str(found[part[BY]]), part.get(OTHERWISE)), found)
    return {name: _filled(one, found) for name, one in part.items()}


def _put(text: str, found: Mapping[str, Any]) -> Any:
    """A text with its fields. A field that stands alone keeps its type."""
    whole = _FIELD.fullmatch(text)
    if whole is not None and whole[1] in found:
        return found[whole[1]]
    return _FIELD.sub(lambda one: str(found.get(one[1], one[0])), text)


def _bounded(text: str, most: int) -> str:
    packed = text.encode()
    return text if len(packed) <= most else packed[:most].decode(errors="ignore")


def mistakes(part: Any) -> Iterator[str]:
    """What is wrong with a template: each name that is no field."""
    if isinstance(part, str):
        for name in _FIELD.findall(part):
            if name not in FIELDS:
                yield f"there is no field {{{name}}}{did_you_mean(name, FIELDS)}; there are: {', '.join(FIELDS)}"
    elif isinstance(part, Mapping):
        if BY in part and part[BY] not in FIELDS:
            yield f"{BY} names no field, found {part[BY]!r}; there are: {', '.join(FIELDS)}"
        yield from (one for name, inner in part.items() if name != BY for one in mistakes(inner))
    elif isinstance(part, list):
        yield from (one for inner in part for one in mistakes(inner))


PRIORITY = {"critical": "high", "warning": "normal", "info": "low"}


def mail(message: NoticeMessage, sender: str, to: tuple[str, ...], host: str) -> EmailMessage:
    """The e-mail. host: what stands behind the @ of its ids. Raises `ValueError` for addresses that are none."""
    found, thread = EmailMessage(policy=SMTP), f"<{message.thread}.notice@{host}>"
    found["Subject"] = wording.title(message)
    found["From"] = sender
    found["To"] = ", ".join(to)
    found["Date"] = format_datetime(datetime.fromtimestamp(message.now // SECOND, UTC))
    found["Message-ID"] = f"<{message.id}@{host}>"
    found["In-Reply-To"] = found["References"] = thread
    found["Auto-Submitted"] = "auto-generated"
    found["Importance"] = "normal" if message.is_over else PRIORITY.get(message.severity, "normal")
    found.set_content(f"{wording.title(message)}\n\n{wording.text(message)}\n")
    return found


ALERT_AGAIN = 60
"""Seconds after which an open notice is sent again."""
ALERT_LASTS = 4 * ALERT_AGAIN * SECOND
"""For how long an alert is open when nobody sends it again, as long as Prometheus lets it be, ns."""
ALERT_AFTER = 15 * 60 * SECOND
"""For how long the end of one is sent again, as Prometheus does, ns."""


def alert(message: NoticeMessage, labels: Mapping[str, str]) -> dict[str, Any]:
    """The alert of a notice as it is. Its labels never change, or it would be another alert.

    What has happened and has no end is open for as long as one that is not sent again.
    """
    data, opened = message.data, time_of(message.data, "opened") or message.due or message.now
    ended = time_of(data, "ended") if message.word in ("end", "past") else message.now + ALERT_LASTS
    said = message._replace(word="end" if message.word in ("end", "past") else "begin", due=message.now)
    return {
        "labels": {**labels, "alertname": message.rule, "notice": message.notice, "severity": message.severity},
        "annotations": {
            "summary": wording.title(said), "description": wording.text(said),
            "about": wording.short(str(data.get("about") or ""), wording.LINE),
        },
        "startsAt": timestamp(opened), "endsAt": timestamp(max(ended, opened)),
    }  # fmt: skip
