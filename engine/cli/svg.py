"""A timeline as an SVG picture that needs no other file, for light and dark backgrounds.

Belongs here: the position of each lane, bar and text. Does not: the lanes (`phaseline.engine.log.timeline`), labels.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple
from xml.etree import ElementTree as ET

from phaseline.engine.log.timeline import HOUR, Interval, Lane, ticks
from phaseline.schemas.records import SECOND, State

WIDTH, LANE, BAR, TOP, LEFT_LEAST, EDGE = 1200, 22, 14, 70, 120, 16
LETTER = 6.2
"""About the width of a letter of the labels, in pixels."""
NAMES = {"green": "well", "yellow": "moving", "red": "failed", "magenta": "other", "bright_black": "gone"}
LEGEND = {"well": "healthy", "moving": "in progress", "failed": "failed", "other": "other"}
STYLE = """
text { font: 11px system-ui, sans-serif; fill: #333 } .title { font-size: 16px; font-weight: 600 }
.note { fill: #777 } .bar { fill: #fff; font-size: 10px; pointer-events: none }
.row { fill: #00000008 } .page { fill: #fff }
.tick { stroke: #00000018 } .well { fill: #2e9e5b } .moving { fill: #d99a1c } .failed { fill: #d1383d }
.other { fill: #8b5cc7 }
.viewed { fill: url(#stripes) }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd } .note { fill: #999 } .row { fill: #ffffff0c } .page { fill: #16181d } .tick { stroke: #ffffff22 }
}
"""


class Texts(NamedTuple):
    """What the picture shows besides the lanes.

    colour: the colour of a state, given its kind and facet. duration: ns as text. zone: the time zone of the axis.
    """

    title: str
    colour: Callable[[str, str, State], str]
    duration: Callable[[int], str]
    zone: tzinfo = UTC


def picture(lanes: Sequence[Lane], start: int, end: int, texts: Texts) -> str:
    """The SVG of these lanes between two moments, ns."""
    return ET.tostring(_Picture(lanes, start, end, texts).drawn(), encoding="unicode") + "\n"


def tick(moment: datetime, step: int) -> str:
    """A time on an axis, as exact as the distance between two ticks (ns) requires."""
    if step < SECOND:
        return f"{moment:%H:%M:%S.%f}"[:-3]
    return (
        f"{moment:%H:%M:%S}"
        if step < 60 * SECOND
        else f"{moment:%H:%M}"
        if step < 6 * HOUR
        else f"{moment:%m-%d %H:%M}"
    )


def plain(text: str) -> str:
    """The text without characters that XML cannot hold."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)


def label(lane: Lane) -> str:
    """The label of a lane: `node n7` below its parent, the whole id at the top."""
    name = lane.id if lane.depth == 0 else lane.id.rpartition("/")[2]
    return f"{lane.kind} {name}{' ' + lane.facet if lane.several else ''}"


class _Picture:
    def __init__(self, lanes: Sequence[Lane], start: int, end: int, texts: Texts) -> None:
        self.lanes, self.start, self.end, self.texts = lanes, start, max(end, start + 1), texts
        longest = max((len(label(lane)) + 2 * lane.depth for lane in lanes), default=0)
        self.left = int(max(LEFT_LEAST, 2 * EDGE + longest * LETTER))
        self.bottom = TOP + LANE * len(lanes)

    def x(self, time: int) -> float:
        """The x coordinate of a time."""
        return self.left + (WIDTH - EDGE - self.left) * (time - self.start) / (self.end - self.start)

    def drawn(self) -> ET.Element:
        """The whole picture."""
        height = self.bottom + 44
        root = ET.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", role="img",
                           width=str(WIDTH), height=str(height))  # fmt: skip
        ET.SubElement(root, "title").text = plain(self.texts.title)
        ET.SubElement(root, "style").text = STYLE
        self._stripes(root)
        ET.SubElement(root, "rect", {"class": "page", "width": "100%", "height": "100%"})
        self._text(root, EDGE, 26, self.texts.title, "title")
        self._text(root, EDGE, 44, self._when(), "note")
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
        length = self.texts.duration(self.end - self.start)
        return f"{first:%Y-%m-%d %H:%M:%S} to {last:%Y-%m-%d %H:%M:%S} {zone}, {length}"

    def _moment(self, time: int) -> datetime:
        return datetime.fromtimestamp(time / 1e9, self.texts.zone)

    def _axis(self, root: ET.Element) -> None:
        found = ticks(self.start, self.end, 10)
        step = found[1] - found[0] if len(found) > 1 else self.end - self.start
        for time in found:
            x, moment = f"{self.x(time):.1f}", self._moment(time)
            ET.SubElement(root, "line", {"class": "tick", "x1": x, "x2": x, "y1": str(TOP - 4), "y2": str(self.bottom)})
            self._text(root, self.x(time), TOP - 10, tick(moment, step), "note", anchor="middle")

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
        x = self.x(interval.start_ns)
        width = max(2.0, self.x(interval.end_ns) - x)
        x = min(x, WIDTH - EDGE - width)
        style = NAMES[self.texts.colour(lane.kind, lane.facet, interval.state)]
        one = ET.SubElement(group, "g")
        ET.SubElement(one, "title").text = plain(self._tooltip(lane, interval))
        box = {"x": f"{x:.1f}", "y": str(y), "width": f"{width:.1f}", "height": str(BAR), "rx": "2"}
        ET.SubElement(one, "rect", {"class": style, **box})
        if interval.viewed:
            ET.SubElement(one, "rect", {"class": "viewed", **box})
        conditions = [condition for condition in interval.state.conditions if condition not in ("Ok", "Progressing")]
        for text in (" ".join([interval.state.phase, *conditions[:1]]), interval.state.phase):
            if len(text) * LETTER < width - 6:
                self._text(one, x + 4, y + 11, text, "bar")
                break

    def _tooltip(self, lane: Lane, interval: Interval) -> str:
        cause = interval.record.cause
        by = f"by {cause.source}" if cause.by == "event" else f"{cause.by} of {cause.origin or cause.event}"
        length = self.texts.duration(interval.end_ns - interval.start_ns)
        lines = [
            f"{lane.kind} {lane.id}: {interval.state}",
            f"since {self._moment(interval.start_ns):%Y-%m-%d %H:%M:%S}, {length}",
            f"{interval.record.trigger}, {by}, event {cause.sequence}{', unasked' if interval.record.unasked else ''}",
        ]
        return "\n".join([*lines, f"shown by a view; the base is {interval.base}"] if interval.viewed else lines)

    def _legend(self, root: ET.Element) -> None:
        x, y = float(EDGE), self.bottom + 24
        for style, meaning in (*LEGEND.items(), ("viewed", "shown by a view")):
            for name in ("well", "viewed") if style == "viewed" else (style,):
                ET.SubElement(root, "rect", {"class": name, "x": f"{x:.1f}", "y": str(y - 10), "width": "14",
                                              "height": "11", "rx": "2"})  # fmt: skip
            self._text(root, x + 19, y, meaning, "note")
            x += 36 + len(meaning) * LETTER

    def _text(self, parent: ET.Element, x: float, y: int, text: str, name: str = "", anchor: str = "start") -> None:
        attributes = {"x": f"{x:.1f}", "y": str(y), "text-anchor": anchor, **({"class": name} if name else {})}
        ET.SubElement(parent, "text", attributes).text = plain(text)
