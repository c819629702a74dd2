"""Puts entities into states that a test names.

Belongs here: reading the states that tests name, and making a tree with an entity in such a state. Does not: given /
when / then (`scenario`).
"""

import re
from collections.abc import Iterable, Mapping
from operator import methodcaller
from typing import Any, NamedTuple

from phaseline.engine.core import intake
from phaseline.engine.core.changeset import Changeset, Origin
from phaseline.engine.core.intake import RejectedEvent
from phaseline.engine.core.transitions import transitions
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.surfaces.testing import failure_text
from phaseline.machines.compiler.conditions import own_condition
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.records import Cause, State, state
from phaseline.schemas.subjects import ancestor_id

StateLike = str | State
"""A state as tests write it: `"Running"`, `"Failed [Balance, NotReady]"`, or a `State`."""
_STATE = re.compile(r"(?P<phase>[^\s\[\]]+)(?:\s*\[(?P<conditions>[^\[\]]*)\])?\Z")
ORIGIN = Origin("adopt", "event")
__tracebackhide__ = methodcaller("errisinstance", AssertionError)
"""Tells pytest to show the failing line of the test instead of a line of this module."""


class WantedState(NamedTuple):
    """A state that a test names. `conditions`: None for any conditions."""

    phase: str
    conditions: tuple[str, ...] | None

    @property
    def text(self) -> str:
        """The state as it is written."""
        return self.phase if self.conditions is None else str(State(self.phase, self.conditions))


class Placement(NamedTuple):
    """An entity and the state into which to put it. The fields are the arguments of `Given.state`."""

    kind: str
    id: str
    facet: str | None
    state: StateLike
    conditions: Iterable[str] | None
    base: StateLike | None
    attributes: Mapping[str, Any]


def wrong_test(problem: str) -> AssertionError:
    """The error of a test that names something impossible."""
    return AssertionError(f"the test is wrong: {problem}")


def kind_of(kinds: Kinds, kind: str, entity_id: str) -> Kind:
    """The kind of that name; raises `AssertionError` if it is unknown, or the id does not fit it."""
    try:
        compiled = intake.find_kind(kinds, kind)
    except RejectedEvent as error:
        raise wrong_test(str(error)) from None
    if misfit := compiled.misfit(entity_id):
        raise wrong_test(misfit)
    return compiled


def facet_of(kind: Kind, name: str | None) -> int:
    """The index of a facet; 0 without a name. Raises `AssertionError` if there is no such facet."""
    if name is not None and name not in kind.names:
        raise wrong_test(f"{kind.name} has no facet {name!r}; it has {', '.join(kind.names)}")
    return 0 if name is None else kind.names.index(name)


def wanted_state(kind: Kind, index: int, named: StateLike, conditions: Iterable[str] | None = None) -> WantedState:
    """The state that a test names; raises `AssertionError` if the facet has no such phase or condition."""
    phase, written = _read(named)
    wanted = written if conditions is None else tuple(conditions)
    machine = kind.machines[index]
    _check(kind, index, "state", phase, machine.phases)
    for condition in wanted or ():
        _check(
            kind,
            index,
            "condition",
            condition,
            sorted({label.condition for label in machine.facet.labels if label.condition}),
        )
    return WantedState(phase, wanted)


def _read(named: StateLike) -> tuple[str, tuple[str, ...] | None]:
    if isinstance(named, State):
        return named.phase, named.conditions or None
    written = _STATE.match(named)
    if written is None:
        raise wrong_test(f"{named!r} is not a state: write 'Failed' or 'Failed [Balance]'")
    inside: str | None = written["conditions"]
    return written["phase"], None if inside is None else tuple(inside.replace(",", " ").split())


def _check(kind: Kind, index: int, what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        owner = f"{kind.name} {kind.names[index]}" if kind.is_named(kind.names[index]) else kind.name
        raise wrong_test(f"{owner} has no {what} {name!r}; it has {', '.join(known)}")


def differs(wanted: WantedState, actual: State) -> bool:
    """Whether a state is not the wanted one."""
    return wanted.phase != actual.phase or wanted.conditions not in (None, actual.conditions)


def copy_of(tree: Tree) -> Tree:
    """An independent copy of a tree."""
    copy = Tree(tree.kinds, tree.scripts)
    for by_id in tree.entities.values():
        for entity in by_id.values():
            copy.put(entity)
    return copy


def put(tree: Tree, wanted: Placement, position: int, time: int) -> Tree:
    """A copy of the tree with an entity in the wanted state, and with the views and tallies that follow from it.

    position, time (ns): of the event that could have led there. Raises `AssertionError` if the state is impossible.
    """
    kind = kind_of(tree.kinds, wanted.kind, wanted.id)
    index = facet_of(kind, wanted.facet)
    name = f"{wanted.kind} {wanted.id}"
    shown = wanted_state(kind, index, wanted.state, wanted.conditions)
    base = _base(kind, index, shown if wanted.base is None else wanted_state(kind, index, wanted.base))
    after = copy_of(tree)
    changeset = Changeset(after, ORIGIN.trigger, position, time)
    _adopt_above(changeset, kind, wanted.id)
    change = changeset.change(kind.name, wanted.id)
    change.attributes = {**(change.attributes or kind.attributes), **_attributes(kind, wanted.attributes)}
    changeset.move(kind.name, wanted.id, index, base, ORIGIN)
    changeset.settle()
    for record in transitions(changeset, Cause(position, f"e{position}", "/test", "event")).records:
        evolve(after, record)
    facet = after.entities[kind.name][wanted.id].facets[index]
    if facet.base == base and not differs(shown, facet.state):
        return after
    problem = f"{name} cannot be {shown.text} there, it shows {facet.state} (base {facet.base})"
    hint = f"name that state, with base={str(base)!r}, or change the entities around it"
    raise wrong_test(f"{problem}: {hint}\n\n{failure_text.tree(after)}")


def _base(kind: Kind, index: int, wanted: WantedState) -> State:
    """The wanted base, if rows lead to it; without conditions, the phase's own condition is added."""
    facet, conditions = kind.machines[index].facet, wanted.conditions
    if conditions is None:
        own = own_condition(facet, wanted.phase)
        conditions = () if own is None else (own,)
    if State(wanted.phase, tuple(sorted(conditions))) in kind.bases[index]:
        return state(wanted.phase, conditions)
    possible = sorted(str(base) for base in kind.bases[index] if base.phase == wanted.phase)
    can = (
        f"it can be {' or '.join(possible[:8])}"
        if possible
        else "only a view shows it: name the base under it with base="
    )
    base = State(wanted.phase, conditions)
    raise wrong_test(f"no row of {kind.name} leads to {base} as a base; {can}")


def _adopt_above(changeset: Changeset, kind: Kind, entity_id: str) -> None:
    """Adopt the missing ancestors, as an observation does."""
    if kind.parent is None:
        return
    above = changeset.kinds[kind.parent]
    above_id = ancestor_id(entity_id, kind.parent_arity)
    entity = changeset.above(entity_id, above.name)
    if entity is not None and entity.facets[0].base.phase == DELETED:
        raise wrong_test(f"{above.name} {above_id} is Deleted: nothing can be placed under it")
    if entity is None or entity.facets[0].base.phase == ABSENT:
        _adopt_above(changeset, above, above_id)
        changeset.change(above.name, above_id).attributes = above.attributes
        for index, base in enumerate(above.adopted[: above.contact]):
            changeset.move(above.name, above_id, index, base, ORIGIN)


def _attributes(kind: Kind, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    known = [field.name for field in kind.table.attributes]
    for name in wanted:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise wrong_test(f"{kind.name} has no attribute {name!r}; {has}")
    return wanted
