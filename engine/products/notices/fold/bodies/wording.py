"""The title and the text of a message, for a person with a phone.

Belongs here: sentences, their bounds. Does not: where they stand in a body (`shapes`).
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from phaseline.engine.products.notices.fold.bodies.message import MessageWord, NoticeMessage, time_of
from phaseline.machines.language.endings import ASSUMED, TOLD
from phaseline.schemas.records import SECOND, timestamp

TITLE, TEXT, LINE = 150, 2_000, 300
"""The most characters of a title, of a text, and of one of its lines. Slack's headers have 150."""
NAMED = 10
"""How many of those concerned a text names."""
TITLES: Final[Mapping[MessageWord, str]] = {
    "begin":    "{severity}: {what} {state}{reason}{more}{late}",
    "happened": "{severity}: {what} {state}{reason}{more}{late}",
    "flapping": "FLAPPING: {what} comes and goes{reason}{more}{late}",
    "change":   "CHANGED: {what} {state}{reason}{more}{late}",
    "reminder": "STILL {severity}: {what} {state}{lasting}{more}{late}",
    "given_back": "NOT DEALT WITH: {what} {state}{lasting}{more}{late}",
    "end":      "OVER: {what} {ended}{lasting}{late}",
    "past":     "WAS {severity}: {what}{reason}, {ended}{lasting}{late}",
}  # fmt: skip
ENDED = {"good": "good again", "excused": "excused", "gone": "gone", "": "over"}
"""How a notice ended, in words."""
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_BREAKS = re.compile(r"\s+")


def title(message: NoticeMessage) -> str:
    """One line that says what happened to what."""
    data = message.data
    words = {
        "severity": message.severity.upper(), "what": _about(data), "state": str(data.get("state", "")),
        "reason": _reason(message), "more": _more(message), "ended": _ended(data),
        "lasting": _lasting(message), "late": f" (told {span(message.late)} late)" if message.late else "",
    }  # fmt: skip
    shape = TITLES[message.word]
    rest = shape.format(**{**words, "what": "", "reason": ""})
    room = TITLE - len(rest)
    what = short(words["what"], max(20, room))
    reason = words["reason"] if len(words["reason"]) + len(what) <= room else ""
    return short(shape.format(**{**words, "what": what, "reason": reason}), TITLE)


def lines(message: NoticeMessage) -> list[str]:
    """The lines of the text, each bounded."""
    return [short(one, LINE) for one in _lines(message)]


def text(message: NoticeMessage) -> str:
    """The lines, bounded."""
    found, room = list[str](), TEXT
    for one in lines(message):
        room -= len(one) + 1
        if room < 0:
            break
        found.append(one)
    return "\n".join(found)


def _lines(message: NoticeMessage) -> Iterator[str]:
    data = message.data
    since, ended = time_of(data, "since"), time_of(data, "ended")
    if since:
        until = f" to {at(ended)}" if message.is_over and ended > since else ""
        yield f"Since {at(since)}{until}" if not until else f"From {at(since)}{until}"
    yield from _why(data)
    yield from _concerned(message)
    if window := data.get("window"):
        by = f", opened by {data['opened_by']}" if data.get("opened_by") else ""
        yield f"Left by the window {window}{by}"
    if message.taken_by:
        yield f"Taken by {message.taken_by}"
    if message.late:
        yield f"This was to be told at {at(message.due)}: it is {span(message.late)} late"
    yield f"Notice {message.notice}"


def _reason(message: NoticeMessage) -> str:
    """The reason in brackets; of what nobody has heard of the state that it was in, too."""
    was = _before(message.data)
    reason = was["reason"] or ("" if message.word == "past" else _part(message.data, "said", "reason"))
    state = was["state"] if message.word == "past" else ""
    return "".join(f" {one}" for one in (state, f"({reason})" if reason else "") if one)


def _before(data: Mapping[str, Any]) -> Mapping[str, str]:
    """What was said of the head before it left; texts that are empty if it has not."""
    said = data.get("said")
    was = said.get("was") if isinstance(said, Mapping) else None
    was = was if isinstance(was, Mapping) else {}
    return {name: str(was.get(name) or "") for name in ("state", "reason", "message")}


def _why(data: Mapping[str, Any]) -> Iterator[str]:
    said = ": ".join(filter(None, (_part(data, "said", "reason"), _part(data, "said", "message"))))
    if said:
        yield said
    was = _before(data)
    if was["state"]:
        yield f"Was {': '.join(filter(None, (was['state'], was['reason'], was['message'])))}"
    if about := _part(data, "because", "about"):
        told = _part(data, "because", "said")
        state = _part(data, "because", "state")
        yield f"Because of {_named(about)} {state}" + (f": {told}" if told else "")
    source, actor = _part(data, "cause", "source"), _part(data, "cause", "actor")
    if source:
        yield f"By {data.get('trigger', '')} from {source}" + (f", {actor}" if actor else "")


def _concerned(message: NoticeMessage) -> Iterator[str]:
    data = message.data
    if message.is_over:
        left, most = data.get("left"), _count(data, "most")
        times = sum(left.values()) if isinstance(left, Mapping) else 0
        if isinstance(left, Mapping) and times > 1:
            at_once = f", {most:,} at most at once" if most > 1 else ""
            who = f"Came and went {times:,} times{at_once}" if times > most else "Concerned"
            yield f"{who}: " + ", ".join(f"{number:,} {ENDED.get(name, name)}" for name, number in left.items())
        return
    number, names = _count(data, "number"), data.get("names") or ()
    if number > 1:
        few = [_named(str(one)) for one in islice(names, NAMED)]
        rest = f" and {number - len(few):,} more" if number > len(few) else ""
        yield f"{number:,} concerned: {', '.join(few)}{rest}"
    if below := _count(data, "below"):
        yield f"And {below:,} below"


def _more(message: NoticeMessage) -> str:
    number, below = _count(message.data, "number"), _count(message.data, "below")
    many = f", and {number - 1:,} more" if number > 1 else ""
    return many + (f", and {below:,} below" if below else "")


def _about(data: Mapping[str, Any]) -> str:
    found = _named(str(data.get("about") or "something"))
    most, number = _count(data, "most"), _count(data, "number")
    return f"{found} and {most - 1:,} more" if most > 1 and not number else found


def _ended(data: Mapping[str, Any]) -> str:
    found = str(data.get("ended_as") or "")
    unseen = " (not seen)" if found == "gone" and str(TOLD[ASSUMED]) in str(data.get("state", "")) else ""
    return ENDED.get(found, found) + unseen


def _lasting(message: NoticeMessage) -> str:
    since = time_of(message.data, "since")
    ended = time_of(message.data, "ended") if message.is_over else message.now
    word = "after" if message.is_over else "for"
    return f" {word} {span(ended - since)}" if since and ended > since else ""


def _named(name: str) -> str:
    """`node c1/p/n1`, as people say it, from `node/c1/p/n1`."""
    return name.replace("/", " ", 1)


def _part(data: Mapping[str, Any], name: str, part: str) -> str:
    found = data.get(name)
    return str(found.get(part) or "") if isinstance(found, Mapping) else ""


def _count(data: Mapping[str, Any], name: str) -> int:
    found = data.get(name)
    return found if isinstance(found, int) else 0


def span(time_ns: int) -> str:
    """A duration in its two largest units: `1 h 12 min`."""
    left, found = max(0, time_ns // SECOND), list[str]()
    for size, unit in UNITS:
        number, left = divmod(left, size)
        if number or (unit == "s" and not found):
            found.append(f"{number} {unit}")
        if len(found) == 2 or (found and unit == "min"):
            break
    return " ".join(found[:2])


def at(time_ns: int) -> str:
    """A time to the second: `2026-11-27 08:12:00 UTC`."""
    return f"{timestamp(time_ns)[:19].replace('T', ' ')} UTC"


def short(text: str, most: int) -> str:
    """One line of at most so many characters, of which each can be seen and none turns the direction."""
    found = _BREAKS.sub(" ", text[: 4 * most]).strip()
    found = "".join(one if one.isprintable() else "?" for one in found)
    return found if len(found) <= most and len(text) <= 4 * most else f"{found[: most - 1]}…"
