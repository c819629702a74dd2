"""Predicates: the questions that guards and views ask about the tree around an entity.

Belongs here: the interfaces `Scene` and `Predicate`, and the predicates of the table language. They declare what they
read, so that tables can be checked. Does not: predicates of one product (they are in its package).
How the engine uses them: docs/spec/reading-the-tables.md, Base and state.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.records import FacetState
from phaseline.schemas.value import Value

OUT = "out"
"""Under what a tally counts that takes together all that live and are not in some phases."""


class SceneEntity(Protocol):
    """One entity, as predicates and rules see it."""

    @property
    def facets(self) -> Sequence[FacetState]:
        """The facets, each with its base and state, in the order of the table."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes by name."""


class Scene(Protocol):
    """The tree around an entity, as predicates and rules see it."""

    def above(self, entity_id: str, kind: str) -> SceneEntity | None:
        """Return the ancestor of that kind, or the entity itself for its own kind; None while it is unknown."""

    def tally(
        self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None, lacks: str | None = None,
        inside: tuple[str, ...] | None = None,
    ) -> Mapping[str, int]:  # fmt: skip
        """Count the descendants of kind `below` by phase: with `has` those with it, with `lacks` those without it.

        inside: phases; with them, those that live and are in none of them are counted together, under `OUT`.

        entity_id, kind: the entity whose descendants are counted. facet: the index of the facet that is counted.
        """

    @property
    def scripts(self) -> ScriptRunner:
        """The runner of users' scripts."""


class Predicate(Protocol):
    """A pure question about an entity and the tree around it. Declare a class of your own with `rule`."""

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Return whether the answer is yes for the entity `entity_id`."""

    def text(self) -> str:
        """Return the predicate as a clause, for printed tables and for the messages of rejections."""


class Unmet(NamedTuple):
    """Why a predicate does not hold.

    found: what was found, as a clause: `the cluster is Stopped [Balance]`.
    wanted: what would do: `Running or Updating`.
    """

    found: str
    wanted: str


@runtime_checkable
class SaysWhyNot(Protocol):
    """A predicate that says what it found. Optional for predicates of your own: others are quoted by their text."""

    def unmet(self, scene: Scene, entity_id: str) -> Unmet:
        """Return why the predicate does not hold for the entity `entity_id`."""


def states_of(entity: SceneEntity | None, facet: int, *, base: bool = False) -> str:
    """The state of a facet, as a rejection names it: `Stopped [Balance]`, `unknown`."""
    if entity is None:
        return "unknown"
    found = entity.facets[facet]
    return str(found.base if base else found.state)


def or_list(words: tuple[str, ...]) -> str:
    """Join words for a sentence: `A, B or C`."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


class Above(Value, frozen=True):
    """True while a facet of an ancestor, or of the entity itself, is in one of some phases.

    kind: the kind of the ancestor, or the entity's own kind.
    phases: the phases of which one must be there.
    facet: the index of the facet.
    base: whether the base is looked at, in place of the state.
    or_has: conditions of which one does as well, whatever the phase is. For guards only.
    """

    kind: str
    phases: tuple[str, ...]
    facet: int = 0
    base: bool = False
    or_has: tuple[str, ...] = ()

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Look at the facet's phase; False while the ancestor is unknown."""
        entity = scene.above(entity_id, self.kind)
        if entity is None:
            return False
        facet = entity.facets[self.facet]
        found = facet.base if self.base else facet.state
        return found.phase in self.phases or any(condition in found.conditions for condition in self.or_has)

    def text(self) -> str:
        """`the cluster is Running or Updating`."""
        return f"{self._who} is {self._wanted}"

    def unmet(self, scene: Scene, entity_id: str) -> Unmet:
        """`the cluster is Stopped [Balance]`, `Running or Updating`."""
        found = states_of(scene.above(entity_id, self.kind), self.facet, base=self.base)
        return Unmet(f"{self._who} is {found}", self._wanted)

    @property
    def _wanted(self) -> str:
        return or_list((*self.phases, *self.or_has))

    @property
    def _who(self) -> str:
        return f"the {self.kind}{chr(39) + 's base' if self.base else ''}"


def living(scene: Scene, entity_id: str, kind: str) -> SceneEntity | None:
    """The ancestor of that kind, or the entity itself; None where it is unknown, or where its life is over."""
    found = scene.above(entity_id, kind)
    return None if found is None or found.facets[0].base.phase == "Deleted" else found


class AttributeIs(Value, frozen=True):
    """True while an attribute of the entity, or of an ancestor, has a value. False while that is unknown or Deleted.

    kind: the entity's own kind, or the kind of the ancestor.
    name: the name of the attribute.
    value: the value; a tuple stands for one of several values, None for an attribute that is not set.
    or_of: a kind above `kind`. If the attribute is not set, the attribute of the same name of that ancestor counts.
    """

    kind: str
    name: str
    value: object
    or_of: str | None = None

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Compare the attribute; False while nothing lives that has it."""
        if living(scene, entity_id, self.kind) is None:
            return False
        value = self._value(scene, entity_id)
        return value in self.value if isinstance(self.value, tuple) else value == self.value

    def _value(self, scene: Scene, entity_id: str) -> object:
        entity = living(scene, entity_id, self.kind)
        value = None if entity is None else entity.attributes.get(self.name)
        if value is None and self.or_of is not None and (above := living(scene, entity_id, self.or_of)) is not None:
            value = above.attributes.get(self.name)
        return value

    def text(self) -> str:
        """`the node_pool's autoscaling_mode is Recycle`."""
        return f"{self._what} is {self._wanted}"

    def unmet(self, scene: Scene, entity_id: str) -> Unmet:
        """`the node_pool's autoscaling_mode is not set`, `Recycle`."""
        if living(scene, entity_id, self.kind) is None:
            known = scene.above(entity_id, self.kind) is not None
            return Unmet(
                f"the {self.kind} is {'deleted' if known else 'unknown'}", f"its {self.name} to be {self._wanted}"
            )
        return Unmet(f"{self._what} is {_named(self._value(scene, entity_id))}", self._wanted)

    @property
    def _what(self) -> str:
        return f"the {self.kind}'s {self.name}{f' (or else the {self.or_of}{chr(39)}s)' if self.or_of else ''}"

    @property
    def _wanted(self) -> str:
        return or_list(tuple(_named(one) for one in (self.value if isinstance(self.value, tuple) else (self.value,))))


class Child(Value, frozen=True):
    """True while one child of the entity is in one of some phases. False while that child is unknown. For guards only.

    of: the entity's own kind.
    kind: the kind of the child.
    named: the attribute of the entity that holds the last part of the child's id.
    phases: the phases of which one must be there, in the child's first facet.
    none: the answer if that attribute is not set.
    or_has: conditions of which one does as well, whatever the phase is.
    """

    of: str
    kind: str
    named: str
    phases: tuple[str, ...]
    none: bool = False
    or_has: tuple[str, ...] = ()

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Look at the child's first facet; False while the child is unknown."""
        entity = scene.above(entity_id, self.of)
        name = None if entity is None else entity.attributes.get(self.named)
        if name is None:
            return self.none
        child = scene.above(f"{entity_id}/{name}", self.kind)
        if child is None:
            return False
        found = child.facets[0].state
        return found.phase in self.phases or any(condition in found.conditions for condition in self.or_has)

    def text(self) -> str:
        """`it has no context, or the app_context that its context names is Terminated`."""
        none = f"it has no {self.named}, or " if self.none else ""
        return f"{none}the {self.kind} that its {self.named} names is {or_list((*self.phases, *self.or_has))}"

    def unmet(self, scene: Scene, entity_id: str) -> Unmet:
        """`the app_context that its context names (c1) is Instantiating`, `Terminated or none`."""
        entity = scene.above(entity_id, self.of)
        name = None if entity is None else entity.attributes.get(self.named)
        wanted = or_list((*self.phases, *self.or_has, *(("none",) if self.none else ())))
        if name is None:
            return Unmet(f"it has no {self.named}", f"one that is {wanted}")
        found = states_of(scene.above(f"{entity_id}/{name}", self.kind), 0)
        return Unmet(f"the {self.kind} that its {self.named} names ({name}) is {found}", wanted)


class AnyBelow(Value, frozen=True):
    """True while at least one descendant is in one of some phases.

    of: the entity's own kind.
    kind: the kind of the descendants.
    phases: the phases of which one must be there.
    facet: the index of the descendants' facet.
    has: a condition; only descendants with this condition count.
    lacks: a condition; only descendants without it count.
    fewer_than: an attribute of the entity, a number; with it, the answer is no unless fewer of them live than it says.
    """

    of: str
    kind: str
    phases: tuple[str, ...]
    facet: int = 0
    has: str | None = None
    lacks: str | None = None
    fewer_than: str | None = None

    @property
    def apart(self) -> tuple[tuple[str, ...] | None, ...]:
        """The `inside` of the tallies that it looks at: by phase, and with `fewer_than` of all alive."""
        return (None,) if self.fewer_than is None else (None, ())

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Look at the tally only, not at the descendants."""
        if self.fewer_than is not None and not self._are_fewer(scene, entity_id):
            return False
        tally = scene.tally(entity_id, self.of, self.kind, self.facet, self.has, self.lacks)
        for phase in self.phases:  # noqa: SIM110  # asked at each change of a view: a generator takes twice as long
            if tally.get(phase):
                return True
        return False

    def _are_fewer(self, scene: Scene, entity_id: str) -> bool:
        entity = scene.above(entity_id, self.of)
        wanted = None if entity is None else entity.attributes.get(self.fewer_than or "")
        alive = scene.tally(entity_id, self.of, self.kind, self.facet, self.has, self.lacks, ()).get(OUT, 0)
        return isinstance(wanted, int) and alive < wanted

    def text(self) -> str:
        """`a node_pool is Creating, Deleting or Scaling`."""
        fewer = "" if self.fewer_than is None else f", and there are fewer than its {self.fewer_than}"
        return f"a {self.kind}{_with(self.has, self.lacks)} is {or_list(self.phases)}{fewer}"

    def unmet(self, scene: Scene, entity_id: str) -> Unmet:
        """`of its node_pools, 2 are Running`, `one that is Creating`."""
        tally = scene.tally(entity_id, self.of, self.kind, self.facet, self.has, self.lacks)
        return Unmet(_counted(self.kind, _with(self.has, self.lacks), tally), f"one that is {or_list(self.phases)}")


class AllBelow(Value, frozen=True):
    """True while every descendant that is not Deleted is in one of some phases, also while there is none.

    of: the entity's own kind.
    kind: the kind of the descendants.
    phases: the phases of which one must be there.
    facet: the index of the descendants' facet.
    has: a condition; only descendants with this condition count.
    lacks: a condition; only descendants without it count.
    some: whether there must be one, so that the answer is no while there is none.
    """

    of: str
    kind: str
    phases: tuple[str, ...]
    facet: int = 0
    has: str | None = None
    lacks: str | None = None
    some: bool = False

    @property
    def apart(self) -> tuple[tuple[str, ...] | None, ...]:
        """The `inside` of the tallies that it looks at: by phase, or with `some` those elsewhere and all alive."""
        return (self.phases, ()) if self.some else (None,)

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Look at the tally only, not at the descendants."""
        if self.some:
            others = scene.tally(entity_id, self.of, self.kind, self.facet, self.has, self.lacks, self.phases)
            if others.get(OUT):
                return False
            alive = scene.tally(entity_id, self.of, self.kind, self.facet, self.has, self.lacks, ())
            return bool(alive.get(OUT))
        tally = scene.tally(entity_id, self.of, self.kind, self.facet, self.has, self.lacks)
        return all(phase in self.phases or phase == "Deleted" or not count for phase, count in tally.items())

    def text(self) -> str:
        """`every rsync_resource is Applied`."""
        which = f"{self.kind}{_with(self.has, self.lacks)}"
        return f"{f'there is a {which}, and ' if self.some else ''}every {which} is {or_list(self.phases)}"

    def unmet(self, scene: Scene, entity_id: str) -> Unmet:
        """`of its rsync_resources, 1 is Failed`, `every one to be Applied`."""
        tally = scene.tally(
            entity_id, self.of, self.kind, self.facet, self.has, self.lacks, self.phases if self.some else None
        )
        others = {phase: count for phase, count in tally.items() if phase not in (*self.phases, "Deleted")}
        return Unmet(
            _counted(self.kind, _with(self.has, self.lacks), others), f"every one to be {or_list(self.phases)}"
        )


def counts(predicate: AnyBelow | AllBelow, conditions: Sequence[str]) -> bool:
    """Whether a predicate counts a descendant whose facet has these conditions."""
    return predicate.has in (None, *conditions) and predicate.lacks not in conditions


def _named(value: object) -> str:
    """An attribute's value as a rejection names it."""
    return "not set" if value is None else str(value)


def _counted(kind: str, which: str, tally: Mapping[str, int]) -> str:
    """`of its nodes, 2 are Running and 1 is Failed`. which: what the counted ones have or lack, as `_with` says it."""
    counts = [f"{count} {'is' if count == 1 else 'are'} {phase}" for phase, count in sorted(tally.items()) if count]
    return f"of its {kind}s{which}, {' and '.join(counts)}" if counts else f"it has no {kind}{which}"


def _with(has: str | None, lacks: str | None = None) -> str:
    return (f" with {has}" if has is not None else "") + (f" without {lacks}" if lacks is not None else "")
