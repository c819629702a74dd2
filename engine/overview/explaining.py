"""What explains that an entity is bad: another one that is not well, by rules that look at no more than last records.

An entity is explained by the nearest one above it that is bad or excused, if one of these holds:

- a view shows the entity in its bad state: it is not so by itself;
- a view shows the one above in its bad state: that one tells of what is below it;
- one event made the last records of both.

Otherwise it is explained by the entity that its last record names, if a cascade or a view of that one made it, and if
that one is not well either. What nothing explains heads a trouble. Troubles that one event began are one.
Belongs here: these rules. Does not: what is counted and shown (`overview`).
"""

from collections.abc import Mapping
from itertools import islice

from phaseline.engine.overview.overview import Name, Unwell
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.nesting import with_all_above


class Explaining:
    """Finds what explains the bad ones among entities."""

    def __init__(self, kinds: Kinds, unwell: Mapping[Name, Unwell]) -> None:
        """unwell: all that are bad or excused, by name."""
        self._kinds, self._unwell = kinds, unwell
        self._heads: dict[Name, Name] = {}

    def head_of(self, name: Name) -> Name:
        """What explains an entity in the end; itself, if nothing does."""
        way, seen = [name], {name}
        while (known := self._heads.get(way[-1])) is None:
            above = self._explained_by(self._unwell[way[-1]])
            if above is None or above in seen:
                known = way[-1]
                break
            way.append(above)
            seen.add(above)
        self._heads |= dict.fromkeys(way, known)
        return known

    def _explained_by(self, one: Unwell) -> Name | None:
        entity, cause = one.record.entity, one.record.cause
        if one.state_class != "bad":
            return None
        is_viewed = self._is_viewed(one)
        for name in islice(with_all_above(self._kinds, entity.kind, entity.id), 1, None):
            above = self._unwell.get(name)
            if above is not None:
                tells = above.state_class == "bad" and self._is_viewed(above)
                if is_viewed or tells or above.record.cause.sequence == cause.sequence:
                    return name
        if cause.by in ("cascade", "view") and cause.origin is not None:
            kind, _, entity_id = cause.origin.partition("/")
            if (kind, entity_id) in self._unwell and (kind, entity_id) != one.name:
                return kind, entity_id
        return None

    def _is_viewed(self, one: Unwell) -> bool:
        """Whether a view shows an entity in its bad state."""
        entity = one.record.entity
        kind: Kind | None = self._kinds.get(entity.kind)
        if kind is None:
            return False
        pairs = zip(kind.table.facets, entity.facets[: kind.contact], strict=False)
        bad = [found for table, found in pairs if class_of(table, found.state) == "bad"]
        return bool(bad) and all(found.state != found.base for found in bad)
