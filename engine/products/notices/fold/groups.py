"""A notice under way: who is concerned, what it waits for, and which events it has made.

Belongs here: `NoticeGroup`, its times, `NoticeEvent`. Does not: when a group changes (`fold`), what an event says
(`telling`).
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from phaseline.engine.products.notices.fold.rules import Rule
from phaseline.engine.products.notices.fold.sayings import NoticeMember, Saying, shared
from phaseline.engine.products.notices.fold.windows import OpenWindow
from phaseline.schemas.records import timestamp

Name = tuple[str, str]
"""A kind and an id."""
Key = tuple[str, str]
"""The name of a rule, and of a group of it."""
Phase = Literal["Waiting", "Held", "Open", "Clearing", "Old"]
"""Old: it was so before the fold began, and is told no more."""
Word = Literal["", "begin", "flapping", "reminder", "end"]
"""What receivers are told."""
TOLD: Sequence[Phase] = ("Open", "Clearing")
"""The phases in which receivers have heard that it began."""
EVERYWHERE = ""
"""The home of a notice whose members have several homes: the log as a whole gives its order."""
PER_PLACE = 1_000_000
"""How many events of one notice a place in the log has room for."""


class NoticeEvent(NamedTuple):
    """An event of the kind `notice`.

    place: of the last record that concerned the notice. number: how many events it has made since. time_ns: when it
    fell due, by the log. word: what receivers are told; empty if nothing. to: their names.
    """

    rule: str
    group: str
    trigger: str
    place: int
    number: int
    time_ns: int
    data: Mapping[str, Any]
    word: Word
    to: tuple[str, ...]

    @property
    def id(self) -> str:
        """The id of the notice."""
        return f"{self.rule}/{self.group}"

    @property
    def sequence(self) -> int:
        """Its number among all events of the notice. The same log makes the same."""
        return self.place * PER_PLACE + self.number

    @property
    def time(self) -> str:
        """When it fell due."""
        return timestamp(self.time_ns)


@dataclass(slots=True)
class NoticeGroup:
    """A notice under way. Times in ns.

    home: whose clock tells when it is due. begins: the place from which on the log makes it. needs: the place from
    which on the log makes all that has a part in what it is now, such as what held it before. reached: the latest time
    of the log, also in other homes, when a record concerned it last, and the place of that. due: when it opens, or
    closes, or its window ends. left: how many left, by class. former: who left lately, and when. returned: under which
    names others may be who came back to it, and would else be there. last: who left last, with what is said of
    that, and what was said before. noted: when it falls due
    next, as the order knows it (`due`).
    """

    rule: Rule
    name: str
    home: Hashable
    since: int
    begins: int
    place: int
    needs: int
    reached: tuple[int, int]
    number: int = -1
    phase: Phase = "Waiting"
    members: dict[Name, NoticeMember] = field(default_factory=dict)
    due: int | None = None
    update_at: int | None = None
    remind_at: int | None = None
    calm_at: int | None = None
    most: int = 0
    left: Counter[str] = field(default_factory=Counter)
    former: dict[Name, int] = field(default_factory=dict)
    returned: dict[str, None] = field(default_factory=dict)
    last: tuple[Name, Saying, Saying] | None = None
    opened_at: int = 0
    ended_at: int = 0
    ended_as: str = ""
    held_by: Key | None = None
    window: OpenWindow | None = None
    is_flapping: bool = False
    is_announced: bool = False
    noted: int | None = None

    @property
    def key(self) -> Key:
        """Its name."""
        return self.rule.name, self.name

    @property
    def is_of_one_tree(self) -> bool:
        """Whether all that are concerned are in one tree, so that one order of time counts."""
        return self.home != EVERYWHERE

    @property
    def next_due(self) -> int | None:
        """When it does something by itself next."""
        return min((one for one in (self.due, self.update_at, self.remind_at, self.calm_at) if one is not None),
                   default=None)  # fmt: skip

    @property
    def first(self) -> int:
        """The place before that from which on the log makes it as it is."""
        return max(0, min(self.begins, self.needs) - 1)

    def meet(self, other: "NoticeGroup") -> None:
        """Another notice has a part in what this one is."""
        self.needs = min(self.needs, other.begins, other.needs)

    def touch(self, place: int, reached: tuple[int, int]) -> None:
        """A record at this place concerns it: its events count from there."""
        if place > self.place:
            self.place, self.number, self.reached = place, -1, reached

    def is_late_for(self, window: OpenWindow, end: int) -> bool:
        """Whether others had passed the end of a window by the clock, so that its summary was told, before this."""
        return not window.place and self.reached[0] > end

    def add(self, name: Name, since: int, said: Saying) -> None:
        """Somebody more is concerned."""
        self.members[name] = shared(NoticeMember(since, said))
        self.former.pop(name, None)
        self.most = max(self.most, len(self.members))
        self.since = min(self.since, since)
