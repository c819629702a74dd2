"""What guards and views may look at: the states above, the tallies below, attributes.

See docs/spec/reading-the-tables.md, Base and state.
Belongs here: pure predicates that declare what they read, so that tables can be checked. Does not: any kind's rules.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from phaseline.machines.language.scripts import ScriptRunner
from phaseline.schemas.records import FacetState


class Standing(Protocol):
    """What predicates may see of one entity."""

    @property
    def facets(self) -> Sequence[FacetState]:
        """Its facets, in the order of its table."""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """Its attributes."""


class Scene(Protocol):
    """The tree around an entity, as far as predicates may see it."""

    def above(self, entity_id: str, kind: str) -> Standing | None:
        """The ancestor of that kind (or the entity itself, for its own kind); None while unknown."""

    def tally(self, entity_id: str, kind: str, below: str, facet: int, has: str | None = None) -> Mapping[str, int]:
        """How many descendants of kind `below` are in which phase; only those with the condition `has`, if named."""

    @property
    def scripts(self) -> ScriptRunner:
        """Runs what people bring with them."""


class Predicate(Protocol):
    """Something that holds or not for the entity `entity_id` in a scene."""

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Whether it holds now."""

    def text(self) -> str:
        """What it says, for tables and for the person whose request it refuses."""


def listed(words: tuple[str, ...]) -> str:
    """`A, B or C`."""
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


@dataclass(frozen=True, slots=True)
class Above:
    """An ancestor's facet is in one of these phases; its base, where `base` is set."""

    kind: str
    phases: tuple[str, ...]
    facet: int = 0
    base: bool = False

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """False while the ancestor is unknown."""
        found = scene.above(entity_id, self.kind)
        if found is None:
            return False
        facet = found.facets[self.facet]
        return (facet.base if self.base else facet.state).phase in self.phases

    def text(self) -> str:
        """`the cluster is Running or Updating`."""
        return f"the {self.kind}{chr(39) + 's base' if self.base else ''} is {listed(self.phases)}"


@dataclass(frozen=True, slots=True)
class AttributeIs:
    """An attribute of the entity itself or of an ancestor has this value, or one of these where it is a tuple.

    or_of: the ancestor whose attribute counts where it has none; a table sees to it that the entity hears of its changes.
    """

    kind: str
    name: str
    value: object
    or_of: str | None = None

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """False while the entity is unknown."""
        found = scene.above(entity_id, self.kind)
        if found is None:
            return False
        value = found.attributes.get(self.name)
        if value is None and self.or_of is not None and (above := scene.above(entity_id, self.or_of)) is not None:
            value = above.attributes.get(self.name)
        return value in self.value if isinstance(self.value, tuple) else value == self.value

    def text(self) -> str:
        """`the node_pool's autoscaling_mode is Recycle`."""
        value = (
            listed(tuple(str(one or "not set") for one in self.value)) if isinstance(self.value, tuple) else self.value
        )
        or_of = f" (or else the {self.or_of}'s)" if self.or_of is not None else ""
        return f"the {self.kind}'s {self.name}{or_of} is {value if value is not None else 'not set'}"


@dataclass(frozen=True, slots=True)
class Child:
    """The child whose id ends in what an attribute of the entity says is in one of these phases. For guards only.

    none: whether it holds also where the attribute names none.
    """

    of: str
    kind: str
    named: str
    phases: tuple[str, ...]
    none: bool = False

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """By the child's first facet; False while that child is unknown."""
        entity = scene.above(entity_id, self.of)
        name = None if entity is None else entity.attributes.get(self.named)
        if name is None:
            return self.none
        child = scene.above(f"{entity_id}/{name}", self.kind)
        return child is not None and child.facets[0].state.phase in self.phases

    def text(self) -> str:
        """`it has no context, or the app_context that its context names is Terminated`."""
        none = f"it has no {self.named}, or " if self.none else ""
        return f"{none}the {self.kind} that its {self.named} names is {listed(self.phases)}"


@dataclass(frozen=True, slots=True)
class AnyBelow:
    """At least one descendant (of those with the condition `has`, if named) is in one of these phases."""

    of: str
    kind: str
    phases: tuple[str, ...]
    facet: int = 0
    has: str | None = None

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """By the tally, without looking at the descendants."""
        tally = scene.tally(entity_id, self.of, self.kind, self.facet, self.has)
        return any(tally.get(phase) for phase in self.phases)

    def text(self) -> str:
        """`a node_pool is Creating, Deleting or Scaling`."""
        return f"a {self.kind}{_with(self.has)} is {listed(self.phases)}"


@dataclass(frozen=True, slots=True)
class AllBelow:
    """Every descendant (of those with the condition `has`, if named) that is not Deleted is in one of these phases.

    Also when there is none.
    """

    of: str
    kind: str
    phases: tuple[str, ...]
    facet: int = 0
    has: str | None = None

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """By the tally, without looking at the descendants."""
        tally = scene.tally(entity_id, self.of, self.kind, self.facet, self.has)
        return all(phase in self.phases or phase == "Deleted" or not count for phase, count in tally.items())

    def text(self) -> str:
        """`every rsync_resource is Applied`."""
        return f"every {self.kind}{_with(self.has)} is {listed(self.phases)}"


def _with(condition: str | None) -> str:
    return "" if condition is None else f" with {condition}"
