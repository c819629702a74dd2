"""Which entities a person selects by class: bad, or bad for ten minutes at least, whatever states they had in it.

Belongs here: reading the words, whether an entity is selected. Does not: the class of an entity, and since when it is
in it (`compiler.classes`), selecting by states (`schemas.state_choice`).
"""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import NamedTuple

from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.state_classes import CLASSES
from phaseline.schemas.errors import InvalidInput, NameUnknown
from phaseline.schemas.records import SECOND, Entity, Transition


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
