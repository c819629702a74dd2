"""Which entities and records a rule selects, when somebody left what it is about, and why it is not about somebody.

Belongs here: `Choice` against an entity or a record. Does not: what becomes one notice (`grouping`), times (`fold`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from phaseline.engine.products.notices.fold.rules import Choice, Rule
from phaseline.machines.compiler.classes.entity_classes import class_of_entity, class_of_facets, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.kinds.kubernetes.globs import matches
from phaseline.machines.language.contact import has_begun, silent_since
from phaseline.machines.language.endings import is_left_behind
from phaseline.machines.language.fields import free_attributes
from phaseline.machines.language.predicates import or_list
from phaseline.machines.language.table import DELETED, STALLED
from phaseline.schemas.records import SECOND, SIGNALS, Entity, Rejection, Transition, own_facets

LABELS = "labels"
"""The attribute in which some kinds keep a map of labels."""
GONE = "gone"
HEARD_AGAIN, UNWATCHED, NO_LONGER = "heard again", "no longer watched", "no longer concerned"
"""What is said where none of these is so: of silence, and of what is bad or under way, but not what a rule is about."""


def in_trees(trees: tuple[str, ...], entity_id: str) -> bool:
    """Whether an id, or one above it, fits one of these globs; all ids do if there are none."""
    return not trees or any(matches(glob, above) for above in with_above(entity_id) for glob in trees)


def with_above(entity_id: str) -> Iterator[str]:
    """An id, and those above it."""
    while entity_id:
        yield entity_id
        entity_id = entity_id.rpartition("/")[0]


def is_about(choice: Choice, entity: Entity) -> bool:
    """Whether an entity is of the kinds, trees and labels of a choice."""
    return (
        (not choice.kinds or entity.kind in choice.kinds)
        and in_trees(choice.trees, entity.id)
        and all(any(matches(glob, one) for one in values_of(entity.attributes, name)) for name, glob in choice.labels)
    )


def values_of(attributes: Mapping[str, Any], name: str) -> list[str]:
    """What an entity has under a name: its kind's own attribute, a label, a free attribute."""
    places = (attributes, attributes.get(LABELS), free_attributes(attributes))
    return [str(place[name]) for place in places if isinstance(place, Mapping) and name in place]


def holds(kinds: Kinds, choice: Choice, entity: Entity) -> bool:
    """Whether an entity is in what a choice is about, and of its kinds, trees and labels."""
    return (
        is_about(choice, entity)
        and (not choice.classes or class_of_entity(kinds, entity) in choice.classes)
        and (not choice.states or any(one.selects_in(entity) for one in choice.states))
        and (not choice.conditions or _stands(choice.conditions, entity))
        and (not choice.silent or silent_since(entity) is not None)
        and (not choice.stalled or any(STALLED in facet.state.conditions for facet in own_facets(entity)))
        and (not choice.left_behind or is_left_behind(entity.facets[0].state.phase, entity.attributes))
    )


def _stands(conditions: tuple[str, ...], entity: Entity) -> bool:
    standing = {one for facet in entity.facets for one in facet.state.conditions}
    return not standing.union(entity.attributes.get(SIGNALS, ())).isdisjoint(conditions)


def selects(kinds: Kinds, rule: Rule, entity: Entity) -> bool:
    """Whether a rule about what lasts selects an entity as it is."""
    return holds(kinds, rule.when, entity) and not (rule.unless and holds(kinds, rule.unless, entity))


def has_left(kinds: Kinds, rule: Rule, entity: Entity) -> bool:
    """Whether an entity that a rule selected, and does not select any more, has left what it is about.

    On its way, or where nobody knows, it has not: a restart is no recovery.
    """
    if not is_about(rule.when, entity) or (rule.unless and holds(kinds, rule.unless, entity)):
        return True
    if rule.when.silent or rule.when.stalled or rule.when.left_behind:
        return True
    return class_of_entity(kinds, entity) not in ("busy", "unknown")


def left_as(kinds: Kinds, rule: Rule, entity: Entity) -> str:
    """How an entity left what a rule is about: its class where that is an end of it, else what is known instead."""
    found = class_of_entity(kinds, entity)
    if found == GONE:
        return found
    if rule.when.silent:
        return HEARD_AGAIN if has_begun(entity) else UNWATCHED
    return found if found in ("good", "excused") else NO_LONGER


def since(kinds: Kinds, rule: Rule, entity: Entity, time_ns: int) -> int:
    """Since when an entity is in what a rule selects, ns. time_ns: when it began to be selected."""
    if rule.when.silent:
        return silent_since(entity) or time_ns
    return min(class_since(kinds, entity), time_ns) if rule.when.looks_at_class_only else time_ns


def happened(kinds: Kinds, rule: Rule, record: Transition | Rejection) -> bool:
    """Whether a record is what a rule about happenings is about."""
    when = rule.when
    if isinstance(record, Rejection):
        wanted = record.reason in when.rejections or "*" in when.rejections
        return wanted and (not when.kinds or record.kind in when.kinds) and in_trees(when.trees, record.id)
    entity = record.entity
    if not is_about(when, entity) or (rule.unless and holds(kinds, rule.unless, entity)):
        return False
    if when.gone:
        is_new = record.after.phase == DELETED and (record.before is None or record.before.phase != DELETED)
        return is_new and record.facet == entity.names[0]
    return bool(when.ended) and _ended(kinds, when.ended, record)


def _ended(kinds: Kinds, classes: tuple[str, ...], record: Transition) -> bool:
    """Whether something under way ended with a record, in one of these classes."""
    kind, entity = kinds.get(record.entity.kind), record.entity
    if kind is None or record.before is None or record.before == record.after:
        return False
    index = entity.names.index(record.facet)
    if index >= kind.own:
        return False
    whole = kind.whole(entity)
    earlier = replace(whole.facets[index], state=record.before)
    before = (*whole.facets[:index], earlier, *whole.facets[index + 1 :])
    was = class_of_facets(kind, before, entity.attributes)
    return was == "busy" and class_of_entity(kinds, entity) in classes


# ---- in words


def why(kinds: Kinds, rule: Rule, record: Transition, now_ns: int) -> tuple[bool, str]:
    """Whether a rule is about an entity as its last record shows it, and why, in words. now_ns: the time."""
    entity = record.entity
    if unfit := next(_unfit(kinds, rule.when, record), None):
        return False, unfit
    if rule.when.is_of_happenings:
        return True, "it tells what happens to it, each time"
    if rule.unless is not None and holds(kinds, rule.unless, entity):
        return False, "what stands under unless is so"
    left = since(kinds, rule, entity, record.time_ns) + rule.lasting - now_ns
    if left > 0:
        return True, f"it has to last for {rule.lasting / SECOND:g} s: {left / SECOND:.0f} s more"
    return True, "all that it asks is so"


def _unfit(kinds: Kinds, choice: Choice, record: Transition) -> Iterator[str]:
    """What a choice asks that is not so."""
    entity = record.entity
    if choice.kinds and entity.kind not in choice.kinds:
        yield f"it is about {or_list(choice.kinds)}"
    if not in_trees(choice.trees, entity.id):
        yield f"it is about the trees {or_list(choice.trees)}"
    if not is_about(choice._replace(kinds=(), trees=()), entity):
        yield f"it is about the labels {or_list(tuple('='.join(one) for one in choice.labels))}"
    if choice.is_of_happenings:
        return
    found = class_of_entity(kinds, entity)
    if choice.classes and found not in choice.classes:
        yield f"it is about what is {or_list(choice.classes)}, and this is {found}"
    states = ", ".join(str(facet.state) for facet in own_facets(entity))
    if choice.states and not any(one.selects_in(entity) for one in choice.states):
        yield f"it is about other states, and this is {states}"
    if not holds(kinds, choice._replace(classes=(), states=()), entity):
        asked = [*choice.conditions, *(name for name in ("silent", "stalled", "left_behind") if getattr(choice, name))]
        yield f"it is about what is {or_list(tuple(asked)).replace('_', ' ')}, and this is not"
