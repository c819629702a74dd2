"""What explains that an entity is bad: another one that is not well, by rules that look at no more than last records.

An entity is explained by the nearest one above it that is bad or excused, if one of these holds:

- a view that looks above shows the entity in its bad state, and its base is not bad: it is not so by itself;
- a view that looks below shows the one above in its bad state: that one tells of what is below it;
- the event that made the last records of both made the entity bad.

Otherwise it is explained by the entity that its last record names, if a cascade or a view of that one made it bad, and
if that one is not well either. What nothing explains heads a trouble. Troubles of a tree that one event began are one.
Belongs here: these rules. Does not: what is counted and shown (`overview`).
"""

from collections.abc import Mapping
from functools import cache
from itertools import islice

from phaseline.machines.compiler.classes.entity_classes import Name, Unwell
from phaseline.machines.compiler.classes.state_classes import class_of
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.compiler.nesting import with_all_above
from phaseline.machines.language.predicates import Above, AttributeIs
from phaseline.machines.language.table import Facet
from phaseline.schemas.records import State


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
        is_viewed = self._is_viewed(one, looks_above=True)
        has_begun = one.since_ns == one.record.time_ns
        for name in islice(with_all_above(self._kinds, entity.kind, entity.id), 1, None):
            above = self._unwell.get(name)
            if above is not None:
                tells = above.state_class == "bad" and self._is_viewed(above, looks_above=False)
                if is_viewed or tells or (has_begun and above.record.cause.sequence == cause.sequence):
                    return name
        if has_begun and cause.by in ("cascade", "view") and cause.origin is not None:
            kind, _, entity_id = cause.origin.partition("/")
            if (kind, entity_id) in self._unwell and (kind, entity_id) != one.name:
                return kind, entity_id
        return None

    def _is_viewed(self, one: Unwell, *, looks_above: bool) -> bool:
        """Whether only views that look above, or only such that do not, show an entity in its bad state."""
        entity = one.record.entity
        kind: Kind | None = self._kinds.get(entity.kind)
        if kind is None:
            return False
        pairs = zip(kind.table.facets, entity.facets[: kind.contact], strict=False)
        bad = [(table, found) for table, found in pairs if class_of(table, found.state) == "bad"]
        return bool(bad) and all(
            found.state != found.base and class_of(table, found.base) != "bad"
            and _looks_above(kind.name, table, found.state) == looks_above
            for table, found in bad
        )  # fmt: skip


@cache
def _looks_above(kind: str, facet: Facet, shown: State) -> bool:
    """Whether a view that looks at what is above may have made this state shown."""
    return any(
        isinstance(predicate, Above | AttributeIs) and predicate.kind != kind
        for view in facet.views
        if view.to == shown.phase and (view.condition is None or view.condition in shown.conditions)
        for predicate in view.while_
    )
