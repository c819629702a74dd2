"""What of the time does not count for or against somebody: windows, excuses, and when nobody could say anything.

Belongs here: the times at which a window by the clock is open, `Excuse`, and all of it together for one entity. Does
not: windows that intents open (`fold`), what is left (`tallies`).
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from phaseline.engine.products.levels.fold.spans import Span, Spans
from phaseline.engine.products.notices.fold.matching import in_trees
from phaseline.engine.products.notices.fold.rules import QuietWindow
from phaseline.schemas.records import SECOND, utc

MINUTE = 60 * SECOND


class Excuse(NamedTuple):
    """A time that somebody excused later, for an entity and all below it. Times in ns.

    by: who says to have done it. given_ns: when. place: of the note in the log.
    """

    tree: str
    begin_ns: int
    end_ns: int
    why: str
    by: str = ""
    given_ns: int = 0
    place: int = 0

    @property
    def begin(self) -> datetime:
        """Where it begins."""
        return utc(self.begin_ns)

    @property
    def end(self) -> datetime:
        """Where it ends."""
        return utc(self.end_ns)

    @property
    def given(self) -> datetime:
        """When it was given."""
        return utc(self.given_ns)

    def is_for(self, entity_id: str) -> bool:
        """Whether it excuses an entity."""
        return is_at_or_below(entity_id, self.tree)


class SparedTime(NamedTuple):
    """What does not count for one entity. No two of these sets overlap.

    window: it is in a window. excused: it was excused later, and is in no window. away: the server could take no
    event, and nothing else excuses it. away_excused: what of `excused` the server was away.
    """

    window: Spans
    excused: Spans
    away: Spans
    away_excused: Spans


class Spared:
    """Says what does not count for an entity. Entities with the same windows and excuses share it."""

    def __init__(
        self, begin: int, end: int, windows: Sequence[QuietWindow] = (), excuses: Sequence[Excuse] = (),
        away: Spans | None = None,
    ) -> None:  # fmt: skip
        """Look between two times. away: when the server could take no event."""
        self._away = (away or Spans()).clipped(begin, end)
        self._windows = [(one.trees, found) for one in windows if (found := by_the_clock(one, begin, end))]
        self._excuses = [one for one in excuses if one.begin_ns < end and one.end_ns > begin]
        self._known: dict[tuple[int, ...], SparedTime] = {}

    def of(self, entity_id: str) -> SparedTime:
        """What does not count for an entity."""
        windows = [at for at, (trees, _) in enumerate(self._windows) if in_trees(trees, entity_id)]
        excuses = [at for at, one in enumerate(self._excuses) if one.is_for(entity_id)]
        key = (*windows, -1, *excuses)
        if (found := self._known.get(key)) is None:
            window = Spans(span for at in windows for span in self._windows[at][1])
            given = Spans((self._excuses[at].begin_ns, self._excuses[at].end_ns) for at in excuses)
            excused = given - window
            found = SparedTime(window, excused, self._away - window - excused, self._away & excused)
            self._known[key] = found
        return found


def is_at_or_below(entity_id: str, above: str) -> bool:
    """Whether an id is another one, or below it."""
    return entity_id == above or entity_id.startswith(f"{above}/")


def by_the_clock(window: QuietWindow, begin: int, end: int) -> Spans:
    """When a window is open by a schedule, or between its two times; empty for one that intents open."""
    if window.between is not None:
        return Spans([window.between]).clipped(begin, end)
    return Spans(_scheduled(window, begin, end)).clipped(begin, end)


def _scheduled(window: QuietWindow, begin: int, end: int) -> Iterator[Span]:
    """Each time of a schedule, from the first that may reach to the beginning."""
    if window.schedule is None or not window.lasting:
        return
    minute = window.schedule.first((begin - window.lasting) // MINUTE)
    while minute is not None and minute * MINUTE < end:
        yield minute * MINUTE, minute * MINUTE + window.lasting
        minute = window.schedule.first(minute + 1)


def covered(spans: Iterable[Span], begin: int, end: int) -> Spans:
    """What of some spans lies between two times, as a set."""
    return Spans((max(one, begin), min(other, end)) for one, other in spans)
