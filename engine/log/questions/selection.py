"""Which entities somebody selects: by kind, tree, state, conditions, class, dwell, attributes. Pure.

Belongs here: `Selection`, the one function that decides whether an entity is selected, and `ClassChoice`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import NamedTuple

import msgspec

from phaseline.engine.log.questions.selector import EVERYTHING, Selector
from phaseline.engine.log.state_view import is_left_behind, matches
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.contact import SILENT
from phaseline.machines.language.table import CLASSES, STALLED
from phaseline.schemas.errors import InvalidInput, NameUnknown
from phaseline.schemas.records import SECOND, Entity, Transition, own_facets
from phaseline.schemas.state_choice import StateChoice

PLAIN = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
"""A word that stands in every encoding as it is."""


class ClassChoice(NamedTuple):
    """The entities in one of these classes (none: in any), for so many ns at least."""

    classes: frozenset[str] = frozenset()
    lasting_ns: int = 0

    @classmethod
    def read(cls, classes: str | Iterable[str] = (), lasting: float = 0) -> "ClassChoice":
        """The choice of these classes, for so many seconds. Raises `NameUnknown`, `InvalidInput`."""
        named = (classes,) if isinstance(classes, str) else tuple(classes)
        for name in named:
            if name not in CLASSES:
                raise NameUnknown.among("class", name, CLASSES)
        if not (isfinite(lasting) and lasting >= 0):
            raise InvalidInput.bad_parameter(name="lasting", problem=f"must be seconds from 0 on, found {lasting}")
        return cls(frozenset(named), int(lasting * SECOND))

    @property
    def selects_all(self) -> bool:
        """Whether it leaves nothing out."""
        return not self.classes and not self.lasting_ns

    def with_ended(self, *, deleted: bool) -> bool:
        """Whether entities whose life is over have to be read: what is left behind is bad."""
        return deleted or bool(self.classes)

    def selects(self, kinds: Kinds, entity: Entity, now: int) -> bool:
        """Whether an entity is selected at the time `now`, ns."""
        if self.classes and class_of_entity(kinds, entity) not in self.classes:
            return False
        return not self.lasting_ns or now - class_since(kinds, entity) >= self.lasting_ns

    def among(self, kinds: Kinds, found: Sequence[Transition], now: int) -> list[Transition]:
        """Those of these entities that are selected, in the same order."""
        return [one for one in found if self.selects(kinds, one.entity, now)]


class Selection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The entities of a kind, below an id, in a state; None selects all.

    deleted: deleted entities too. left_behind: only what is Deleted and was reported to be there still. troubled: only
    what calls for somebody (`is_troubled`), deleted or not.
    """

    kind: str | None = None
    below: str | None = None
    choice: StateChoice = StateChoice()
    of_class: ClassChoice = ClassChoice()
    selector: Selector = EVERYTHING
    deleted: bool = False
    left_behind: bool = False
    troubled: bool = False

    def selects(self, kinds: Kinds, entity: Entity, now_ns: int) -> bool:
        """Whether an entity is selected at a time."""
        return self.is_within(entity) and self.by_state(kinds, entity) and self.by_itself(kinds, entity, now_ns)

    def is_within(self, entity: Entity) -> bool:
        """Whether it is of the kind, and at or below the id."""
        if self.kind is not None and entity.kind != self.kind:
            return False
        return self.is_at_or_below(entity.id)

    def is_at_or_below(self, entity_id: str) -> bool:
        """Whether an id is the one below which entities are selected, or below it."""
        return self.below is None or entity_id == self.below or entity_id.startswith(f"{self.below}/")

    def by_state(self, kinds: Kinds, entity: Entity) -> bool:
        """Whether its states select it, and what else entities of one shape have in common (`tree_index.shape_of`)."""
        if self.troubled and not is_troubled(kinds, entity):
            return False
        if not matches(entity, self.choice.phase, deleted=self.with_deleted):
            return False
        if self.choice.looks_at_conditions and not self.choice.selects_in(entity):
            return False
        if self.left_behind and not is_left_behind(entity):
            return False
        return not self.of_class.classes or class_of_entity(kinds, entity) in self.of_class.classes

    def by_itself(self, kinds: Kinds, entity: Entity, now_ns: int) -> bool:
        """Whether what differs from entity to entity selects it: its attributes, and since when it is as it is."""
        if self.selector.requirements and not self.selector.selects(entity):
            return False
        return not self.of_class.lasting_ns or self.of_class.selects(kinds, entity, now_ns)

    def quick_look(self) -> Callable[[bytes], bool]:
        """A look at the bytes of an entity's record: False only if the entity is not selected by its states."""
        named = filter(None, (self.choice.phase, *self.choice.conditions))
        words = [word.encode() for word in named if PLAIN.fullmatch(word)]

        def may_be(body: bytes) -> bool:
            for word in words:  # noqa: SIM110  # a generator takes three times as long
                if word not in body:
                    return False
            return True

        return may_be

    @property
    def with_deleted(self) -> bool:
        """Whether entities whose life is over have to be looked at."""
        return self.of_class.with_ended(deleted=self.deleted or self.left_behind or self.troubled)

    @property
    def is_narrow(self) -> bool:
        """Whether more than kind, tree and life decides, so that it pays to ask who knows."""
        return (
            self.choice.phase is not None or self.choice.looks_at_conditions or not self.of_class.selects_all
            or bool(self.selector.requirements) or self.left_behind or self.troubled
        )  # fmt: skip


def is_troubled(kinds: Kinds, entity: Entity) -> bool:
    """Whether an entity calls for somebody: it is bad, silent, waits too long for an answer, or is left behind."""
    return (
        class_of_entity(kinds, entity) == "bad"
        or entity.facets[-1].state.phase == SILENT
        or is_left_behind(entity)
        or any(STALLED in facet.state.conditions for facet in own_facets(entity))
    )
