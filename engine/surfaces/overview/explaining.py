"""What explains that an entity is bad: another one that is not well, by rules that look at no more than last records.

An entity is explained by the nearest one above it that is bad or excused, if one of these holds:

- a view that looks above shows the entity in its bad state, and its base is not bad: it is not so by itself;
- a view that looks below shows the one above in its bad state: that one tells of what is below it;
- the event that made the last records of both made the entity bad.

Otherwise it is explained by the entity that its last record names, if a cascade or a view of that one made it bad, and
if that one is not well either. What nothing explains heads a trouble. Troubles of a tree that one event began are one.

What a view that looks below shows bad tells of its parts, and gathers them; it is the cause of none of them. Whoever
asks for causes leaves it out, unless a view of the part looks at just that; its own cause is the part with which it
became so.
Belongs here: these rules. Does not: what is counted and shown (`overview`).
"""

from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import NamedTuple

from phaseline.machines.compiler.classes.entity_classes import Name, Unwell
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.relations import with_all_above
from phaseline.machines.language.predicates import Above, AttributeIs
from phaseline.machines.language.table import Facet, StateClass
from phaseline.schemas.records import State

NOWHERE: frozenset[str] = frozenset()


class UnwellSign(NamedTuple):
    """What of an entity's last record tells what explains it, and what it explains. Many entities have the same one.

    sequence: the position of the event that made the record. has_begun: whether this record brought its class.
    looks_at: the kinds above at which the views look that alone show it bad. tells: whether only views that look below
    show it bad, so that it tells of others. origin: what a cascade or view came from that brought its class. part: of
    what it tells, the one with which it became so.
    """

    state_class: StateClass
    sequence: int
    has_begun: bool
    looks_at: frozenset[str] = NOWHERE
    tells: bool = False
    origin: Name | None = None
    part: Name | None = None


def sign_of(kinds: Kinds, one: Unwell) -> UnwellSign:
    """The sign of an entity that is bad or excused."""
    cause, has_begun = one.record.cause, one.since_ns == one.record.time_ns
    if one.state_class != "bad":
        return UnwellSign(one.state_class, cause.sequence, has_begun)
    looks = _looks(kinds, one) if any(facet.state != facet.base for facet in one.record.entity.facets) else []
    kind, _, entity_id = (cause.origin or "").partition("/")
    origin = (kind, entity_id) if has_begun and cause.by in ("cascade", "view") and kind else None
    part = (kind, entity_id) if has_begun and cause.by == "tally" and kind else None
    looks_at = frozenset[str]().union(*looks) if all(looks) else NOWHERE
    return UnwellSign("bad", cause.sequence, has_begun, looks_at, bool(looks) and not any(looks), origin, part)


class Explaining:
    """Finds what explains the bad ones among entities.

    by_parts: whether what only tells of others stands for these. That gathers them; a cause of them it is not.
    """

    def __init__(self, kinds: Kinds, sign: Callable[[Name], UnwellSign | None], *, by_parts: bool = True) -> None:
        """sign: of an entity; None if it is neither bad nor excused."""
        self._kinds, self._sign, self._by_parts = kinds, sign, by_parts
        self._heads: dict[Name, Name] = {}

    def head_of(self, name: Name) -> Name:
        """What explains an entity in the end; itself, if nothing does."""
        way, seen = [name], {name}
        while (known := self._heads.get(way[-1])) is None:
            above = self._explained_by(way[-1])
            if above is None or above in seen:
                known = way[-1]
                break
            way.append(above)
            seen.add(above)
        self._heads |= dict.fromkeys(way, known)
        return known

    def _explained_by(self, name: Name) -> Name | None:
        one = self._sign(name)
        if one is None or one.state_class != "bad":
            return None
        for above in islice(with_all_above(self._kinds, *name), 1, None):
            found = self._sign(above)
            if found is None:
                continue
            if found.tells and self._by_parts:
                return above
            if found.tells and above[0] not in one.looks_at:
                continue
            if one.looks_at or (one.has_begun and found.sequence == one.sequence):
                return above
        origin = one.origin if self._by_parts else one.origin or one.part
        return origin if origin is not None and origin != name and self._sign(origin) else None


def _looks(kinds: Kinds, one: Unwell) -> list[frozenset[str]]:
    """Of each facet that only a view shows bad, the kinds above at which it looks; nothing if one is bad by itself."""
    entity = one.record.entity
    kind: Kind | None = kinds.get(entity.kind)
    if kind is None:
        return []
    pairs = zip(kind.table.facets, entity.facets[: kind.contact], strict=False)
    bad = [(table, found) for table, found in pairs if class_of(table, found.state) == "bad"]
    if any(found.state == found.base or class_of(table, found.base) == "bad" for table, found in bad):
        return []
    return [_looks_at(kind.name, table, found.state) for table, found in bad]


@cache
def _looks_at(kind: str, facet: Facet, shown: State) -> frozenset[str]:
    """The other kinds at which a view looks upwards that may have made this state shown."""
    return frozenset(
        predicate.kind
        for view in facet.views
        if view.to == shown.phase and (view.condition is None or view.condition in shown.conditions)
        for predicate in view.while_
        if isinstance(predicate, Above | AttributeIs) and predicate.kind != kind
    )
