"""A timeline as a picture: SVG that stands alone, for light and dark.

Belongs here: where each lane, bar and word goes. Does not: the lanes (`phaseline.engine.log.timeline`), what states are called.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple
from xml.etree import ElementTree as ET

from phaseline.engine.log.timeline import HOUR, Interval, Lane, ticks
from phaseline.schemas.records import SECOND, State

WIDTH, LANE, BAR, TOP, LEFT_LEAST, EDGE = 1200, 22, 14, 70, 120, 16
LETTER = 6.2
"""Pixels that a letter of the labels takes, about."""
NAMES = {"green": "well", "yellow": "moving", "red": "failed", "magenta": "other", "bright_black": "gone"}
WORDS = {"well": "as it should be", "moving": "on its way", "failed": "failed", "other": "otherwise"}
STYLE = """
text { font: 11px system-ui, sans-serif; fill: #333 } .title { font-size: 16px; font-weight: 600 }
.said { fill: #777 } .bar { fill: #fff; font-size: 10px; pointer-events: none } .row { fill: #00000008 } .page { fill: #fff }
.tick { stroke: #00000018 } .well { fill: #2e9e5b } .moving { fill: #d99a1c } .failed { fill: #d1383d } .other { fill: #8b5cc7 }
.viewed { fill: url(#stripes) }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .said { fill: #999 } .row { fill: #ffffff0c } .page { fill: #16181d } .tick { stroke: #ffffff22 }
}
"""


class Words(NamedTuple):
    """What the picture says. how: a state's colour, of a kind's facet. span: how long, in words. zone: of the axis."""

    title: str
    how: Callable[[str, str, State], str]
    span: Callable[[int], str]
    zone: tzinfo = UTC


def picture(lanes: Sequence[Lane], start: int, end: int, words: Words) -> str:
    """The SVG of these lanes between two moments, ns."""
    return ET.tostring(_Picture(lanes, start, end, words).drawn(), encoding="unicode") + "\n"


def tick(moment: datetime, step: int) -> str:
    """A moment on an axis, as exactly as the distance between its ticks (ns) asks for."""
    if step < SECOND:
        return f"{moment:%H:%M:%S.%f}"[:-3]
    return (
        f"{moment:%H:%M:%S}"
        if step < 60 * SECOND
        else f"{moment:%H:%M}"
        if step < 6 * HOUR
        else f"{moment:%m-%d %H:%M}"
    )


def plain(said: str) -> str:
    """What XML can hold of it."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in said)


def label(lane: Lane) -> str:
    """`node n7`, under what it hangs from; the whole id at the top."""
    name = lane.id if lane.depth == 0 else lane.id.rpartition("/")[2]
    return f"{lane.kind} {name}{' ' + lane.facet if lane.several else ''}"


class _Picture:
    def __init__(self, lanes: Sequence[Lane], start: int, end: int, words: Words) -> None:
        self.lanes, self.start, self.end, self.words = lanes, start, max(end, start + 1), words
        longest = max((len(label(lane)) + 2 * lane.depth for lane in lanes), default=0)
        self.left = int(max(LEFT_LEAST, 2 * EDGE + longest * LETTER))
        self.bottom = TOP + LANE * len(lanes)

    def x(self, time: int) -> float:
        """Where a moment is."""
        return self.left + (WIDTH - EDGE - self.left) * (time - self.start) / (self.end - self.start)

    def drawn(self) -> ET.Element:
        """All of it."""
        height = self.bottom + 44
        root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", role="img",
                           width=str(WIDTH), height=str(height))  # fmt: skip
        ET.SubElement(root, "title").text = plain(self.words.title)
        ET.SubElement(root, "style").text = STYLE
        self._stripes(root)
        ET.SubElement(root, "rect", {"class": "page", "width": "100%", "height": "100%"})
        self._text(root, EDGE, 26, self.words.title, "title")
        self._text(root, EDGE, 44, self._when(), "said")
        self._axis(root)
        for number, lane in enumerate(self.lanes):
            self._lane(root, lane, TOP + LANE * number, shaded=number % 2 == 0)
        self._legend(root)
        return root

    def _stripes(self, root: ET.Element) -> None:
        pattern = ET.SubElement(ET.SubElement(root, "defs"), "pattern", id="stripes", width="6", height="6",
                                 patternUnits="userSpaceOnUse", patternTransform="rotate(45)")  # fmt: skip
        ET.SubElement(pattern, "rect", width="3", height="6", fill="#ffffff70")

    def _when(self) -> str:
        first, last = (self._moment(time) for time in (self.start, self.end))
        zone = first.tzname()
        return f"{first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S} {zone}, {self.words.span(self.end - self.start)}"

    def _moment(self, time: int) -> datetime:
        return datetime.fromtimestamp(time / 1e9, self.words.zone)

    def _axis(self, root: ET.Element) -> None:
        found = ticks(self.start, self.end, 10)
        step = found[1] - found[0] if len(found) > 1 else self.end - self.start
        for time in found:
            x, moment = f"{self.x(time):.1f}", self._moment(time)
            ET.SubElement(root, "line", {"class": "tick", "x1": x, "x2": x, "y1": str(TOP - 4), "y2": str(self.bottom)})
            self._text(root, self.x(time), TOP - 10, tick(moment, step), "said", anchor="middle")

    def _lane(self, root: ET.Element, lane: Lane, y: int, *, shaded: bool) -> None:
        group = ET.SubElement(root, "g", {"class": "lane"})
        if shaded:
            ET.SubElement(
                group, "rect", {"class": "row", "x": "0", "y": str(y), "width": str(WIDTH), "height": str(LANE)}
            )
        self._text(group, EDGE + 12 * lane.depth, y + 15, label(lane))
        for interval in lane.intervals:
            self._bar(group, lane, interval, y + (LANE - BAR) // 2)

    def _bar(self, group: ET.Element, lane: Lane, interval: Interval, y: int) -> None:
        x = self.x(interval.start)
        width = max(2.0, self.x(interval.end) - x)
        x = min(x, WIDTH - EDGE - width)
        how = NAMES[self.words.how(lane.kind, lane.facet, interval.state)]
        one = ET.SubElement(group, "g")
        ET.SubElement(one, "title").text = plain(self._told(lane, interval))
        place = {"x": f"{x:.1f}", "y": str(y), "width": f"{width:.1f}", "height": str(BAR), "rx": "2"}
        ET.SubElement(one, "rect", {"class": how, **place})
        if interval.viewed:
            ET.SubElement(one, "rect", {"class": "viewed", **place})
        conditions = [condition for condition in interval.state.conditions if condition not in ("Ok", "Progressing")]
        for said in (" ".join([interval.state.phase, *conditions[:1]]), interval.state.phase):
            if len(said) * LETTER < width - 6:
                self._text(one, x + 4, y + 11, said, "bar")
                break

    def _told(self, lane: Lane, interval: Interval) -> str:
        cause = interval.record.cause
        by = f"by {cause.source}" if cause.by == "event" else f"{cause.by} of {cause.origin}"
        lines = [
            f"{lane.kind} {lane.id}: {interval.state}",
            f"since {self._moment(interval.start):%Y-%m-%d %H:%M:%S}, {self.words.span(interval.end - interval.start)}",
            f"{interval.record.trigger}, {by}, event {cause.sequence}",
        ]
        return "\n".join([*lines, f"shown by a view; its own state is {interval.base}"] if interval.viewed else lines)

    def _legend(self, root: ET.Element) -> None:
        x, y = float(EDGE), self.bottom + 24
        for how, said in (*WORDS.items(), ("viewed", "shown by a view")):
            for name in ("well", "viewed") if how == "viewed" else (how,):
                ET.SubElement(root, "rect", {"class": name, "x": f"{x:.1f}", "y": str(y - 10), "width": "14",
                                              "height": "11", "rx": "2"})  # fmt: skip
            self._text(root, x + 19, y, said, "said")
            x += 36 + len(said) * LETTER

    def _text(self, parent: ET.Element, x: float, y: int, said: str, name: str = "", anchor: str = "start") -> None:
        attributes = {"x": f"{x:.1f}", "y": str(y), "text-anchor": anchor, **({"class": name} if name else {})}
        ET.SubElement(parent, "text", attributes).text = plain(said)
