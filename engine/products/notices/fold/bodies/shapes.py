"""The forms in which chat services and others take a message, as tables; own templates have the same form.

A form is a map as JSON has it. `{title}` in a text stands for a field. `{"$by": "word", "end": 1, "otherwise": 2}`
stands for what the value of a field chooses. What fields hold is put into texts only, so it can add no other field.
Belongs here: the forms, filling one, checking one.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from phaseline.engine.products.notices.fold.bodies import wording
from phaseline.engine.products.notices.fold.bodies.message import NoticeMessage
from phaseline.schemas.errors import did_you_mean

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
        "state": wording.short(wording.states(str(data.get("state") or "")), wording.LINE),
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
