"""Given this, when that, then what: a test of a table in three words, without a server.

Belongs here: the words, and the clock. Does not: placing entities (`placing`), texts of failures (`telling`), any rule.
A scenario never changes: each word makes a new one, so that tests may share a beginning.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import methodcaller
from typing import Any, Self, Unpack

from phaseline.engine.core import intake
from phaseline.engine.core.decide import decide
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.publish import compose
from phaseline.engine.publish.compose import EventDetails
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.testing import failure_text, placement
from phaseline.engine.testing.histories import SUBJECTS, Offered, kinds_of, stored
from phaseline.engine.testing.placement import Named, differs, facet_of, kind_of, meant, wrong
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.envelope import Invalid, check_time
from phaseline.schemas.records import NONE, SECOND, Entity, Record, Rejection, Transition, nanoseconds, timestamp

START = "2026-01-01T00:00:00Z"
"""When the first event of a scenario is stored, unless `at` says otherwise; the next ones follow a second apart."""
SOURCE = "/test"
__tracebackhide__ = methodcaller("errisinstance", AssertionError)
"""For pytest: what fails is a line of the test, not one of ours."""


def given(kinds: Offered = None) -> "Given":
    """The beginning of a scenario: nothing is known yet.

    kinds: a `Table`, several, or `Kinds`; all that are installed where left out. Tables stand alone, or among the built-in
    ones where one of them hangs under such or takes its place. Raises `WrongTable`.
    """
    found = kinds_of(kinds)
    return Given(found, Tree(found, shared_runner()), nanoseconds(START), 1)


@dataclass(frozen=True, repr=False)
class Given:
    """What is so before the event that a test is about. `clock`: when the next event is stored, ns; `number`: its place."""

    kinds: Kinds
    tree: Tree
    clock: int
    number: int

    def __repr__(self) -> str:
        return f"<{failure_text.tree(self.tree)}>"

    # ---- time

    def at(self, moment: str | datetime) -> Self:
        """The next event is stored at this moment: a `datetime` or RFC 3339, with an offset."""
        text = moment if isinstance(moment, str) else moment.isoformat()
        try:
            check_time(text)
        except Invalid:
            raise wrong(f"a moment is RFC 3339 with an offset, like {START}; found {text!r}") from None
        return replace(self, clock=nanoseconds(text))

    def later(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> Self:
        """The next event is stored so much later."""
        passed = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return replace(self, clock=self.clock + passed // timedelta(microseconds=1) * 1000)

    # ---- given

    def event(
        self,
        kind: str,
        trigger: str,
        entity_id: str,
        data: Mapping[str, Any] | None = None,
        **details: Unpack[EventDetails],
    ) -> "Given":
        """An event that happened before; raises `AssertionError` where it is rejected. `details` as for `when`."""
        after = self.when(kind, trigger, entity_id, data, **details)
        if after.rejection is not None:
            raise after.failure(f"{after.told}, which is given, to be taken")
        return Given(after.kinds, after.tree, after.clock, after.number)

    def state(
        self, kind: str, entity_id: str, state: Named, *, conditions: Iterable[str] | None = None,
        facet: str | None = None, attributes: Mapping[str, Any] | None = None, base: Named | None = None,
    ) -> "Given":  # fmt: skip
        """An entity that stands somewhere, whatever led there; what is above it, and unknown, is adopted with it.

        state: what it shows, `"Running"`, or with conditions `"Failed [Balance]"`; those of the phase itself where left out.
        base: what is under the state, where a view shows another. facet: the first where left out. Raises
        `AssertionError` where no row leads to the base, or views show something else there.
        """
        wanted = placement.Placed(kind, entity_id, facet, state, conditions, base, attributes or {})
        tree = placement.place(self.tree, wanted, self.number, self.clock)
        return Given(self.kinds, tree, self.clock + SECOND, self.number + 1)

    def entity(self, kind: str, entity_id: str) -> Entity:
        """An entity as it stands; raises `AssertionError` where it is unknown."""
        found = self.tree.get(kind_of(self.kinds, kind, entity_id).name, entity_id)
        if found is None:
            raise AssertionError(f"{kind} {entity_id} is unknown\n\n{failure_text.tree(self.tree)}")
        return found

    # ---- when

    def when(
        self,
        kind: str,
        trigger: str,
        entity_id: str,
        data: Mapping[str, Any] | None = None,
        **details: Unpack[EventDetails],
    ) -> "Then":
        """The event that the test is about, as any publisher might send it.

        details: `source` ("/test"), `event_id`, `sequence`, `time` (the publisher's clock; the scenario's where left out).
        """
        said: EventDetails = {"source": SOURCE, "event_id": f"e{self.number}", "time": timestamp(self.clock), **details}
        message = compose.pack(SUBJECTS, compose.compose(kind, trigger, entity_id, data, said))
        read = intake.read(self.kinds, SUBJECTS, stored(message.subject), message.body, self.number, self.clock)
        records = [read] if isinstance(read, Rejection) else decide(self.tree, read).records
        tree = placement.copied(self.tree)
        for record in records:
            evolve(tree, record)
        numbered = f" #{said['sequence']}" if "sequence" in said else ""
        told = f"{kind} {trigger} {entity_id}{f' {failure_text.data(data)}' if data else ''}{numbered}"
        return Then(self.kinds, tree, self.clock + SECOND, self.number + 1, tuple(records), told)


@dataclass(frozen=True, repr=False)
class Then(Given):
    """What came of an event. `records`: all that it made; `told`: the event, in words."""

    records: tuple[Record, ...]
    told: str

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """What it moved."""
        return tuple(record for record in self.records if isinstance(record, Transition))

    @property
    def rejection(self) -> Rejection | None:
        """Why it was refused, if it was."""
        return next((record for record in self.records if isinstance(record, Rejection)), None)

    def then(
        self, kind: str, entity_id: str, state: Named, *, conditions: Iterable[str] | None = None,
        facet: str | None = None, attributes: Mapping[str, Any] | None = None, base: Named | None = None,
    ) -> Self:  # fmt: skip
        """After it, this is the entity's state; `"Absent"` is what is unknown. What is not named is not looked at.

        conditions, in order of arrival, may stand in the state too: `"Failed [Balance]"`. facet: the first where left out.
        """
        found = kind_of(self.kinds, kind, entity_id)
        index = facet_of(found, facet)
        entity = self.tree.get(kind, entity_id)
        facets, held = (found.unborn, NONE) if entity is None else (entity.facets, entity.attributes)
        who = f"{kind} {entity_id}{f' {facet}' if facet else ''}"
        wanted = meant(found, index, state, conditions)
        if differs(wanted, facets[index].state):
            raise self.failure(f"{who} to be {wanted.text}", f"it is {facets[index].state}")
        under = None if base is None else meant(found, index, base)
        if under is not None and differs(under, facets[index].base):
            raise self.failure(f"{who} to have the base {under.text}", f"its base is {facets[index].base}")
        for name, value in (attributes or {}).items():
            if name not in held or held[name] != value:
                raise self.failure(
                    f"{who} to have {name} {failure_text.data(value)}", f"it has {failure_text.data(held)}"
                )
        return self

    def then_rejected(self, reason: str | None = None, message: str | None = None) -> Self:
        """It was refused, with this reason, and a message that holds these words."""
        found = self.rejection
        wanted = "".join([f" as {reason}" if reason else "", f", saying {message!r}" if message else ""])
        if found is None or reason not in (None, found.reason) or (message or "") not in found.message:
            raise self.failure(f"{self.told} to be rejected{wanted}")
        return self

    def then_nothing(self) -> Self:
        """It was taken and had no effect: it was so already, or the event is a repeat."""
        if self.transitions or self.rejection is not None:
            raise self.failure(f"{self.told} to have no effect")
        return self

    def then_transitions(self, count: int) -> Self:
        """It moved so many facets, of whatever entities."""
        if len(self.transitions) != count:
            raise self.failure(f"{self.told} to make {count} transition{'' if count == 1 else 's'}")
        return self

    def failure(self, expected: str, found: str | None = None) -> AssertionError:
        """What a failed expectation raises; also for expectations of your own. found: what came of the event where left out."""
        return failure_text.failure(expected, found or self._came(), self.told, self.records, self.tree)

    def _came(self) -> str:
        if self.rejection is not None:
            return f"it is rejected as {self.rejection.reason}"
        count = len(self.transitions)
        return f"it made {count} transition{'' if count == 1 else 's'}" if count else "it had no effect"
