"""Scenarios: tests of a table in the form given / when / then, without a server.

A scenario never changes. Each method returns a new one, so that tests can share a beginning.
Belongs here: the methods of a scenario, and its clock. Does not: putting entities into states (`placement`), firing
timers (`testing.timers`), the text of failures (`failure_text`), the rules of a kind.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import methodcaller
from typing import Any, Self, Unpack

from phaseline.engine.core.tables_change import moving, stranded
from phaseline.engine.core.tables_change.moving import TablesChange
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.publish import compose
from phaseline.engine.publish.compose import EventDetails
from phaseline.engine.scripts.runner import shared_runner
from phaseline.engine.surfaces.testing import failure_text, placement, timers
from phaseline.engine.surfaces.testing.histories import SUBJECTS, KindsLike, Sent, answer, kinds_of, stored
from phaseline.engine.surfaces.testing.placement import StateLike, differs, facet_of, kind_of, wanted_state, wrong_test
from phaseline.machines.compiler.kinds import Kinds
from phaseline.schemas.envelope import Invalid, check_time
from phaseline.schemas.records import NONE, SECOND, Entity, Record, Rejection, Transition, nanoseconds, timestamp

START = "2026-01-01T00:00:00Z"
"""The time of the first event of a scenario, unless `at` sets another. Each further event is one second later."""
SOURCE = "/test"
MAX_WAIT = 1_000_000_000
"""The longest time by which `later` moves the clock, in seconds."""
__tracebackhide__ = methodcaller("errisinstance", AssertionError)
"""Tells pytest to show the failing line of the test instead of a line of this module."""


def given(kinds: KindsLike = None) -> "Given":
    """The beginning of a scenario, with no entity known.

    kinds: a `Table`, several tables, or `Kinds`; left out, all installed kinds. Tables stand alone. If one of them
    hangs under a built-in kind, or replaces one, the built-in kinds are added. Raises `WrongTable` if the tables have
    errors.
    """
    compiled = kinds_of(kinds)
    start = nanoseconds(START)
    return Given(compiled, Tree(compiled, shared_runner()), start, start, 1, frozenset())


@dataclass(frozen=True, repr=False)
class Given:
    """The situation before the event that a test is about."""

    kinds: Kinds
    """The kinds of the scenario."""
    tree: Tree
    """All entities so far. Do not change it."""
    now: int
    """The time of the last event, or the time to which `later` or `at` moved the clock, ns."""
    clock: int
    """The time at which the next event is stored, ns: a second after the last one, unless the clock was moved."""
    position: int
    """The position of the next event."""
    spent: frozenset[timers.ArmedTimer]
    """Timers that fired without effect, though their entities still name them."""

    def __repr__(self) -> str:
        return f"<{failure_text.tree(self.tree)}>"

    # ---- time

    def at(self, moment: str | datetime) -> "Then":
        """The clock moves to `moment`, and every timer that is due by then fires, as in `later`.

        moment: a `datetime` or text in RFC 3339, with an offset. The next event is stored then. Raises
        `AssertionError` if `moment` has another form, or is before the last event.
        """
        text = moment if isinstance(moment, str) else moment.isoformat()
        try:
            check_time(text)
        except Invalid:
            raise wrong_test(f"a moment must be RFC 3339 with an offset, such as {START}; found {text!r}") from None
        end = nanoseconds(text)
        if self.position > 1 and end < self.now:
            raise wrong_test(f"the clock cannot go back to {text}: it is {timestamp(self.now)}")
        return self._move(end, f"at {text}")

    def later(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> "Then":
        """So much time passes after the last event, and every timer that is due by then fires.

        They fire in the order of their due times, each at its own time, with all that follows from it. Timers that
        start meanwhile fire too. The next event is stored at the end of this time. Raises `AssertionError` if the
        timers do not come to an end.
        """
        passed = days * 86_400 + hours * 3_600 + minutes * 60 + seconds
        if not 0 <= passed <= MAX_WAIT:
            raise wrong_test(f"the clock moves by 0 to {MAX_WAIT} seconds, found {passed:g}")
        return self._move(self.now + round(passed * SECOND), f"{passed:g} s later")

    def _fired(self, end: int) -> tuple[Tree, timers.TimersFired]:
        """A copy of the tree after all timers that are due until `end` (ns), and what came of them."""
        tree = placement.copy_of(self.tree)
        return tree, timers.fire_due(tree, self.position, self.now, end, self.spent)

    def _move(self, end: int, what: str) -> "Then":
        """The situation at `end` (ns), after all timers that were due. `what`: the time that passed, in words."""
        tree, fired = self._fired(end)
        following = None if fired.next is None else (str(fired.next), (fired.next.due - end) / SECOND)
        description = failure_text.passing(what, len(fired.timers), following)
        return Then(self.kinds, tree, end, end, fired.position, fired.spent, tuple(fired.records), description)

    # ---- given

    def event(
        self,
        kind: str,
        trigger: str,
        entity_id: str,
        data: Mapping[str, Any] | None = None,
        **details: Unpack[EventDetails],
    ) -> "Given":
        """An event that happened before. The arguments are those of `when`.

        Raises `AssertionError` if the event is rejected, and `EventRefused` if a client could not publish it.
        """
        after = self.when(kind, trigger, entity_id, data, **details)
        if after.rejection is not None:
            raise after.failure(f"the given event {after.description} to be accepted")
        return Given(after.kinds, after.tree, after.now, after.clock, after.position, after.spent)

    def state(
        self, kind: str, entity_id: str, state: StateLike, *, conditions: Iterable[str] | None = None,
        facet: str | None = None, attributes: Mapping[str, Any] | None = None, base: StateLike | None = None,
    ) -> "Given":  # fmt: skip
        """An entity in a state, however it came there. Unknown ancestors are adopted with it.

        state: the state that it shows, such as `"Running"` or `"Failed [Balance]"`; without conditions, the phase's own
        condition. conditions: in order of arrival, instead of those in `state`. facet: the first if left out.
        attributes: values by name. base: the base, if a view shows another state. Raises `AssertionError` if a name is
        unknown, no row leads to the base, or the views show another state.
        """
        wanted = placement.Placement(kind, entity_id, facet, state, conditions, base, attributes or {})
        tree, fired = self._fired(self.clock)
        tree = placement.put(tree, wanted, fired.position, self.clock)
        return Given(self.kinds, tree, self.clock, self.clock + SECOND, fired.position + 1, fired.spent)

    def entity(self, kind: str, entity_id: str) -> Entity:
        """An entity as it is now; raises `AssertionError` if it is unknown."""
        entity = self.tree.get(kind_of(self.kinds, kind, entity_id).name, entity_id)
        if entity is None:
            raise AssertionError(f"{kind} {entity_id} is unknown\n\n{failure_text.tree(self.tree)}")
        return entity

    # ---- when

    def when(
        self,
        kind: str,
        trigger: str,
        entity_id: str,
        data: Mapping[str, Any] | None = None,
        **details: Unpack[EventDetails],
    ) -> "Then":
        """The event that the test is about. It is composed and read like any publisher's event.

        data: the fields of the event. details: `source` (default "/test"), `event_id`, `sequence`, and `time` (the
        publisher's clock; the scenario's if left out). A rejected event is no error here: see `Then.rejection`. Raises
        `EventRefused.unsendable` if a client could not publish the event.
        """
        tree, fired = self._fired(self.clock)
        envelope: EventDetails = {
            "source": SOURCE,
            "event_id": f"e{fired.position}",
            "time": timestamp(self.clock),
            **details,
        }
        message = compose.pack(SUBJECTS, compose.compose(kind, trigger, entity_id, data, envelope))
        records = answer(tree, Sent(stored(message.subject), message.body), fired.position, self.clock)
        numbered = f" #{envelope['sequence']}" if "sequence" in envelope else ""
        said = f"{kind} {trigger} {entity_id}{f' {failure_text.data(data)}' if data else ''}{numbered}"
        return Then(
            self.kinds, tree, self.clock, self.clock + SECOND, fired.position + 1, fired.spent, tuple(records),
            failure_text.after_timers(said, fired.timers),
        )  # fmt: skip

    def change_tables(self, kinds: KindsLike) -> "Then":
        """Workers with other tables take over: entities in states that these do not have go where their map says.

        kinds: as for `given`. Raises `AssertionError` if an entity would be stranded.
        """
        (before, fired), after = self._fired(self.clock), Tree(kinds_of(kinds), shared_runner())
        for name, entities in before.entities.items():
            for entity in entities.values() if name in after.kinds else ():
                after.put(entity)
        former = {name: version for name, version in self.kinds.versions.items() if name in after.kinds}
        changed = {name: version for name, version in former.items() if after.kinds.versions[name] != version}
        groups = [group for group in stranded.in_tree(after, changed) if group.fate == "stranded"]
        if groups:
            named = ", ".join(f"{group.kind} {group.state}" for group in groups)
            raise wrong_test(f"the tables change, and nothing says where these go: {named}")
        change = TablesChange(fired.position - 1, self.clock, after.kinds.digest, changed)
        records: list[Record] = []
        for piece in moving.pieces(after, change):
            made = moving.move(after, change, piece, SOURCE).records
            records += made
            for record in made:
                evolve(after, record)
        said = failure_text.after_timers("a change of tables", fired.timers)
        return Then(
            after.kinds, after, self.clock, self.clock + SECOND, fired.position, fired.spent, tuple(records), said
        )


@dataclass(frozen=True, repr=False)
class Then(Given):
    """The situation after the event that a test is about, or after the time that passed."""

    records: tuple[Record, ...]
    """All records that the event made, or that the timers made which fired in the time that passed."""
    description: str
    """The event or the time in words, for the text of failures."""

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions that the event made."""
        return tuple(record for record in self.records if isinstance(record, Transition))

    @property
    def rejection(self) -> Rejection | None:
        """The rejection of the event; None if it was accepted."""
        return next((record for record in self.records if isinstance(record, Rejection)), None)

    def then(
        self, kind: str, entity_id: str, state: StateLike, *, conditions: Iterable[str] | None = None,
        facet: str | None = None, attributes: Mapping[str, Any] | None = None, base: StateLike | None = None,
    ) -> Self:  # fmt: skip
        """Expect this state of an entity after the event. `"Absent"` means that the entity is unknown.

        state: a phase, or a phase with conditions such as `"Failed [Balance]"`. conditions: in order of arrival,
        instead of those in `state`; without both, any conditions pass. facet: the first if left out. attributes: only
        those named are compared. base: the base, if it matters. Raises `AssertionError` if anything differs or a name
        is unknown.
        """
        compiled = kind_of(self.kinds, kind, entity_id)
        index = facet_of(compiled, facet)
        entity = self.tree.get(kind, entity_id)
        facets, values = (compiled.unborn, NONE) if entity is None else (entity.facets, entity.attributes)
        subject = f"{kind} {entity_id}{f' {facet}' if facet else ''}"
        wanted = wanted_state(compiled, index, state, conditions)
        if differs(wanted, facets[index].state):
            raise self.failure(f"{subject} to be {wanted.text}", f"it is {facets[index].state}")
        under = None if base is None else wanted_state(compiled, index, base)
        if under is not None and differs(under, facets[index].base):
            raise self.failure(f"{subject} to have the base {under.text}", f"its base is {facets[index].base}")
        for name, value in (attributes or {}).items():
            if name not in values or values[name] != value:
                raise self.failure(
                    f"{subject} to have {name} {failure_text.data(value)}", f"it has {failure_text.data(values)}"
                )
        return self

    def then_rejected(self, reason: str | None = None, message: str | None = None) -> Self:
        """Expect a rejection, with this reason and a message that contains `message`, if they are given.

        Raises `AssertionError` otherwise.
        """
        rejection = self.rejection
        wanted = "".join([f" as {reason}" if reason else "", f" with the message {message!r}" if message else ""])
        if rejection is None or reason not in (None, rejection.reason) or (message or "") not in rejection.message:
            raise self.failure(f"{self.description} to be rejected{wanted}")
        return self

    def then_nothing(self) -> Self:
        """Expect no effect, as of a redundant observation or a repeat. Raises `AssertionError` otherwise."""
        if self.transitions or self.rejection is not None:
            raise self.failure(f"{self.description} to have no effect")
        return self

    def then_transitions(self, count: int) -> Self:
        """Expect this number of transitions, of any entities. Raises `AssertionError` otherwise."""
        if len(self.transitions) != count:
            raise self.failure(f"{self.description} to make {count} transition{'' if count == 1 else 's'}")
        return self

    def failure(self, expected: str, actual: str | None = None) -> AssertionError:
        """The error of a failed expectation, also for expectations of your own: `raise after.failure("...")`.

        expected: completes "expected ...". actual: the actual result; left out, the answer to the event.
        """
        return failure_text.failure(expected, actual or self._answer(), self.description, self.records, self.tree)

    def _answer(self) -> str:
        if self.rejection is not None:
            return f"it is rejected as {self.rejection.reason}"
        count = len(self.transitions)
        return f"it made {count} transition{'' if count == 1 else 's'}" if count else "it had no effect"
