"""Rules at work on a log that goes on: where a program that starts begins to read, and what it need not say again.

Whoever starts makes the notices that are under way anew, from the log: from where the first of them began, without
saying anything, up to the place up to which all was said before. Then it goes on as if it had never ended. Where other
rules were at work before, what they told stays told; what the rules of now do not make ends.
Belongs here: `FollowedTo`, `LiveNotice`, `FollowedLog`. Does not: reading logs, storing events
(`engine.products.notices`), what makes a notice (`fold`).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import NamedTuple

from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.engine.products.notices.fold.grouping import ALIKE
from phaseline.engine.products.notices.fold.groups import PER_PLACE, TOLD, Key, NoticeEvent, Phase
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.products.notices.fold.windows import root_of
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.records import Rejection, Transition, timestamp

RULE_CHANGED, PUT_BACK, LOST_TRACK = "rule changed", "log put back", "lost track"
"""As what a notice ends that the rules, or the log, do not make any more."""


class FollowedTo(NamedTuple):
    """Up to where all is said: all that the records up to a place make, and all that fell due before a time, ns.

    first: the place after which the log makes what was not over then, also what nothing was said of yet.
    """

    place: int
    at: int
    first: int


class LiveNotice(NamedTuple):
    """A notice that is under way, as its record says. begins: the place from which on the log makes it.

    sequence: of its last event. opened_ns: when it was told. to: who has heard that it began. due_ns: when its last
    event fell due.
    """

    phase: Phase
    begins: int
    sequence: int
    opened_ns: int
    to: tuple[str, ...]
    due_ns: int = 0


def looks_back(rules: Rules) -> int:
    """For how long before a moment a log has to be read to know all that decides what is made from then on, ns.

    That is also so where a notice under way begins: what others did shortly before decided that it is one.
    """
    spans = [one.flapping.within for one in rules.rules if one.flapping is not None]
    spans += [one.clear_after for one in rules.rules]
    spans += [ALIKE for one in rules.rules if one.group == "reason"]
    spans += [one.longest for one in rules.windows if one.opened_by]
    return max(spans, default=0)


class FollowedLog:
    """Rules at work on a log, from a checkpoint on.

    checkpoint: where other rules were at work, behind all that they said, because it cannot be made anew. live: the
    notices that are under way. former: whether other rules, or another log, made them: empty, or as what those end that
    are not made any more.
    """

    def __init__(
        self, kinds: Kinds, rules: Rules, checkpoint: FollowedTo, live: Mapping[Key, LiveNotice], former: str = "",
        home: Callable[[str], Hashable] = root_of, later: Collection[Key] = (),
    ) -> None:  # fmt: skip
        """Nothing is read yet. later: the notices that are over, of which something was said after the checkpoint."""
        self._fold, self._checkpoint, self._live, self._former = Fold(kinds, rules, home), checkpoint, live, former
        self._later = later
        self._heard = {key: one.to for key, one in live.items()}
        self.is_silent = True
        """Whether what is read was said before."""

    @property
    def first(self) -> int:
        """The place before that from which on the notices under way are made."""
        return min((self._checkpoint.first, *(max(0, one.begins - 1) for one in self._live.values())))

    def checkpoint(self, place: int, at: int) -> FollowedTo:
        """The checkpoint once all is stored that this place and this time make."""
        return FollowedTo(place, at, min((place, *(one.first for one in self._fold.groups.values()))))

    @property
    def next_due(self) -> int | None:
        """When something may fall due next, ns."""
        return self._fold.next_due

    def know(self, place: int, records: Iterable[Transition]) -> None:
        """The last records of all entities at the place after which the log is read."""
        self._fold.know(place, records, lambda key: key in self._live and self._live[key].begins <= place)

    def take(self, place: int, record: Transition | Rejection) -> list[NoticeEvent]:
        """What the next record makes."""
        found: list[NoticeEvent] = []
        if self.is_silent:
            if place <= self._checkpoint.place:
                self._fold.take(place, record)
                return found
            found = self.speak()
        return [*found, *self._addressed(self._fold.take(place, record))]

    def advance(self, time_ns: int) -> list[NoticeEvent]:
        """What falls due before a time, before which no further record can come."""
        found = self.speak() if self.is_silent else []
        return [*found, *self._addressed(self._fold.advance(time_ns))]

    def speak(self) -> list[NoticeEvent]:
        """All records up to the checkpoint were taken: from now on it says what it makes."""
        self.is_silent = False
        self._fold.advance(self._checkpoint.at)
        groups, found = self._fold.groups, list[NoticeEvent]()
        for key, group in [*groups.items()]:
            is_known = key in self._live or (key in self._later and not self._former)
            if group.is_announced and not is_known:  # the record knows better: it ended, or there was none
                self._fold.disown(key, self._checkpoint.at)
        for key, one in self._live.items():
            if key in groups:
                if self._former:
                    self._fold.correct(key, one.phase, one.opened_ns, one.sequence, self._checkpoint.at)
            elif self._former or (one.begins <= self._checkpoint.place and one.due_ns < self._checkpoint.at):
                found.append(self._ending(key, one))  # what fell due since then, such as a summary, is made anew
        return found

    def _ending(self, key: Key, one: LiveNotice) -> NoticeEvent:
        """The end of a notice that is not made any more."""
        place, number = divmod(one.sequence + 1, PER_PLACE)
        told, time = one.phase in TOLD, max(self._checkpoint.at, 1)
        data = {"ended": timestamp(time), "ended_as": self._former or LOST_TRACK}
        to = self._heard.pop(key)
        trigger, word = ("closed", "end") if told else ("lapsed", "")
        return NoticeEvent(*key, trigger, place, number, time, data, word, to)  # type: ignore[arg-type]  # a word

    def _addressed(self, events: Iterable[NoticeEvent]) -> list[NoticeEvent]:
        """The events, each to those that heard the begin."""
        return [self._to_those_that_heard(one) for one in events]

    def _to_those_that_heard(self, one: NoticeEvent) -> NoticeEvent:
        key = (one.rule, one.group)
        if one.word == "begin":
            self._heard[key] = one.to
        to = self._heard.get(key, ())
        if one.trigger in ("closed", "lapsed", "happened"):
            self._heard.pop(key, None)
        return one._replace(to=to)
