"""Tests of rules of notices in the form given / when / then, without a server.

Belongs here: the methods of such a scenario. Does not: what a rule does (`notices.fold`), deciding events
(`scenario`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from typing import Any, Self, Unpack

from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.engine.products.notices.fold.groups import NoticeEvent
from phaseline.engine.products.notices.fold.rules import Rules
from phaseline.engine.publish.compose import EventDetails
from phaseline.engine.surfaces.testing.histories import KindsLike, kinds_of
from phaseline.engine.surfaces.testing.scenario import Given, Then, given
from phaseline.schemas.records import Mark, Rejection, Transition, timestamp

__tracebackhide__ = methodcaller("errisinstance", AssertionError)
"""Tells pytest to show the failing line of the test instead of a line of this module."""


def given_rules(rules: str | Path | Rules, kinds: KindsLike = None) -> "GivenRules":
    """The beginning of a test of rules, with no entity known.

    rules: a file, the text of one, or rules that were read. kinds: as for `given`. Raises `InvalidInput.bad_rules` with
    all mistakes.
    """
    # it needs PyYAML, which the kit does not
    from phaseline.engine.products.notices.fold import read_rules  # noqa: PLC0415

    compiled = kinds_of(kinds)
    if isinstance(rules, Path):
        rules = read_rules.read_file(rules, compiled)
    elif isinstance(rules, str):
        rules = read_rules.read(rules, compiled)
    return GivenRules(rules, given(kinds), ())


@dataclass(frozen=True, repr=False)
class GivenRules:
    """Rules, and what happened so far. It never changes: each method returns a new one."""

    rules: Rules
    """The rules."""
    scenario: Given
    """The entities, and the clock."""
    steps: tuple[tuple[int, tuple[Transition | Rejection, ...]], ...]
    """What happened, step by step: the time after it, ns, and its records."""

    def __repr__(self) -> str:
        return "\n".join(_line(one) for one in self.events) or "<no notice>"

    def event(
        self, kind: str, trigger: str, entity_id: str, data: Mapping[str, Any] | None = None,
        **details: Unpack[EventDetails],
    ) -> Self:  # fmt: skip
        """An event, as `when` of a scenario takes it. A rejection is no error: there may be rules about it."""
        earlier = self.scenario.at(timestamp(self.scenario.clock))  # what is due until then happens
        return self._after(earlier, earlier.when(kind, trigger, entity_id, data, **details))

    def later(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> Self:
        """So much time passes, and what is due happens."""
        return self._after(self.scenario.later(days=days, hours=hours, minutes=minutes, seconds=seconds))

    def at(self, moment: str) -> Self:
        """The clock moves to a moment in RFC 3339, and what is due happens."""
        return self._after(self.scenario.at(moment))

    def _after(self, *then: Then) -> Self:
        steps = ((one.now, tuple(each for each in one.records if not isinstance(each, Mark))) for one in then)
        return replace(self, scenario=then[-1], steps=(*self.steps, *steps))

    @cached_property
    def _found(self) -> tuple[list[NoticeEvent], list[NoticeEvent]]:
        """All events of notices, and those of the last step."""
        fold, place, before, last = Fold(self.scenario.kinds, self.rules), 0, list[NoticeEvent](), list[NoticeEvent]()
        for time, records in self.steps:
            before, last = [*before, *last], []
            for record in records:
                place += 1
                last += fold.take(place, record)
            last += fold.advance(time + 1)
        return [*before, *last], last

    @property
    def events(self) -> list[NoticeEvent]:
        """All events of notices so far, also those of which nobody is told."""
        return self._found[0]

    @property
    def told(self) -> list[NoticeEvent]:
        """What receivers were told, from the beginning."""
        return [one for one in self.events if one.word]

    def then_told(self, rule: str, word: str = "begin", count: int = 1, **data: Any) -> Self:
        """Expect that the last step told so many times this word (begin, reminder, flapping, end) of a rule.

        data: values that each message has: about, number, below, severity, ended_as, ... Raises `AssertionError`
        otherwise.
        """
        found = [one for one in self._found[1] if one.word == word and one.rule == rule]
        wrong = [one for one in found if any(one.data.get(name) != value for name, value in data.items())]
        if len(found) != count or wrong:
            wanted = f"{count} times {word} of {rule}" + (f" with {data}" if data else "")
            raise self.failure(wanted)
        return self

    def then_nothing_told(self) -> Self:
        """Expect that the last step told nobody anything. Raises `AssertionError` otherwise."""
        if any(one.word for one in self._found[1]):
            raise self.failure("nothing to be told")
        return self

    def failure(self, expected: str) -> AssertionError:
        """The error of a failed expectation. expected: completes "expected ..."."""
        last = "\n".join(f"  {_line(one)}" for one in self._found[1]) or "  nothing"
        return AssertionError(f"expected {expected}; the last step made:\n{last}\n\nall notices:\n{self!r}")


def _line(one: NoticeEvent) -> str:
    told = f"  tells {one.word} to {', '.join(one.to)}" if one.word else ""
    about = f"{one.data.get('about', '')} {one.data.get('state', '')}".strip()
    return f"{one.time}  {one.id} {one.trigger}: {about}, {one.data['number']} concerned{told}"
