"""Entities put where a test wants them, and the states that tests name.

Belongs here: from words to states, from states to a tree in which they stand. Does not: given / when / then (`scenario`).
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
from phaseline.engine.testing import failure_text
from phaseline.machines.compiler.conditions import own_condition
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.table import ABSENT, DELETED
from phaseline.schemas.envelope import Invalid
from phaseline.schemas.records import Cause, State, state
from phaseline.schemas.subjects import ancestor_id

Named = str | State
"""A state as tests write it: `"Running"`, `"Failed [Balance, NotReady]"`, or a `State`."""
_WRITTEN = re.compile(r"(?P<phase>[^\s\[\]]+)(?:\s*\[(?P<conditions>[^\[\]]*)\])?\Z")
WHY = Origin("adopt", "event")
__tracebackhide__ = methodcaller("errisinstance", AssertionError)
"""For pytest: what fails is a line of the test, not one of ours."""


class Meant(NamedTuple):
    """A state that a test names. `conditions` None: whichever they are."""

    phase: str
    conditions: tuple[str, ...] | None

    @property
    def text(self) -> str:
        """As a state is written."""
        return self.phase if self.conditions is None else str(State(self.phase, self.conditions))


class Placed(NamedTuple):
    """An entity to be put somewhere; fields as `Given.state` takes them."""

    kind: str
    id: str
    facet: str | None
    state: Named
    conditions: Iterable[str] | None
    base: Named | None
    attributes: Mapping[str, Any]


def wrong(problem: str) -> AssertionError:
    """What is raised where a test says something that cannot be."""
    return AssertionError(f"the test is wrong: {problem}")


def kind_of(kinds: Kinds, kind: str, entity_id: str) -> Kind:
    """The kind of that name; raises `AssertionError` where there is none, or the id does not fit it."""
    try:
        found = intake.find_kind(kinds, kind)
        intake.check_arity(found, entity_id)
    except (RejectedEvent, Invalid) as error:
        raise wrong(str(error)) from None
    return found


def facet_of(kind: Kind, name: str | None) -> int:
    """The place of a facet, the first where none is named."""
    if name is not None and name not in kind.names:
        raise wrong(f"{kind.name} has no facet {name!r}; it has {', '.join(kind.names)}")
    return 0 if name is None else kind.names.index(name)


def meant(kind: Kind, index: int, named: Named, conditions: Iterable[str] | None = None) -> Meant:
    """What a test names; raises `AssertionError` where there is no such phase or condition."""
    phase, written = _read(named)
    said = written if conditions is None else tuple(conditions)
    machine = kind.machines[index]
    _check(kind, index, "state", phase, machine.phases)
    for condition in said or ():
        _check(
            kind,
            index,
            "condition",
            condition,
            sorted({label.condition for label in machine.facet.labels if label.condition}),
        )
    return Meant(phase, said)


def _read(named: Named) -> tuple[str, tuple[str, ...] | None]:
    if isinstance(named, State):
        return named.phase, named.conditions or None
    written = _WRITTEN.match(named)
    if written is None:
        raise wrong(f"{named!r} is no state: write 'Failed' or 'Failed [Balance]'")
    inside: str | None = written["conditions"]
    return written["phase"], None if inside is None else tuple(inside.replace(",", " ").split())


def _check(kind: Kind, index: int, what: str, word: str, words: Iterable[str]) -> None:
    if word not in words:
        who = f"{kind.name} {kind.names[index]}" if len(kind.names) > 1 else kind.name
        raise wrong(f"{who} has no {what} {word!r}; it has {', '.join(words)}")


def differs(wanted: Meant, found: State) -> bool:
    """Whether a state is another than the one named."""
    return wanted.phase != found.phase or wanted.conditions not in (None, found.conditions)


def copied(tree: Tree) -> Tree:
    """The same tree, to be changed by itself."""
    found = Tree(tree.kinds, tree.scripts)
    for by_id in tree.entities.values():
        for entity in by_id.values():
            found.put(entity)
    return found


def place(tree: Tree, wanted: Placed, number: int, time: int) -> Tree:
    """The tree with one entity more, or with one elsewhere, and every view and tally as it follows from that.

    number, time: place (of the event that might have done it) and moment, ns. Raises `AssertionError` where it cannot be so.
    """
    kind = kind_of(tree.kinds, wanted.kind, wanted.id)
    index = facet_of(kind, wanted.facet)
    who = f"{wanted.kind} {wanted.id}"
    shown = meant(kind, index, wanted.state, wanted.conditions)
    base = _base(kind, index, shown if wanted.base is None else meant(kind, index, wanted.base))
    after = copied(tree)
    draft = Changeset(after, WHY.trigger, number, time)
    _adopt_above(draft, kind, wanted.id)
    touched = draft.touch(kind.name, wanted.id)
    touched.attributes = {**(touched.attributes or kind.attributes), **_attributes(kind, wanted.attributes)}
    draft.move(kind.name, wanted.id, index, base, WHY)
    draft.settle()
    for record in transitions(draft, Cause(number, f"e{number}", "/test", "event"), None, None).records:
        evolve(after, record)
    found = after.entities[kind.name][wanted.id].facets[index]
    if found.base == base and not differs(shown, found.state):
        return after
    problem = f"{who} cannot be {shown.text} there, it shows {found.state} (base {found.base})"
    hint = f"name that state, with base={str(base)!r}, or change what is around it"
    raise wrong(f"{problem}: {hint}\n\n{failure_text.tree(after)}")


def _base(kind: Kind, index: int, wanted: Meant) -> State:
    """The base that is meant, one that can arise; the phase's own condition where none is named."""
    facet, conditions = kind.machines[index].facet, wanted.conditions
    if conditions is None:
        own = own_condition(facet, wanted.phase)
        conditions = () if own is None else (own,)
    if State(wanted.phase, tuple(sorted(conditions))) in kind.bases[index]:
        return state(wanted.phase, conditions)
    there = sorted(str(base) for base in kind.bases[index] if base.phase == wanted.phase)
    can = f"it can be {' or '.join(there[:8])}" if there else "only a view shows it: name the base under it with base="
    found = State(wanted.phase, conditions)
    raise wrong(f"no row of {kind.name} leads to {found} as a base; {can}")


def _adopt_above(draft: Changeset, kind: Kind, entity_id: str) -> None:
    """Make known what is above, as an observation would."""
    if kind.parent is None:
        return
    above = draft.kinds[kind.parent]
    above_id = ancestor_id(entity_id, kind.parent_arity)
    found = draft.above(entity_id, above.name)
    if found is not None and found.facets[0].base.phase == DELETED:
        raise wrong(f"{above.name} {above_id} is Deleted: nothing can be placed under it")
    if found is None or found.facets[0].base.phase == ABSENT:
        _adopt_above(draft, above, above_id)
        draft.touch(above.name, above_id).attributes = above.attributes
        for index, base in enumerate(above.adopted):
            draft.move(above.name, above_id, index, base, WHY)


def _attributes(kind: Kind, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    known = [field.name for field in kind.table.attributes]
    for name in wanted:
        if name not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise wrong(f"{kind.name} has no attribute {name!r}; {has}")
    return wanted
