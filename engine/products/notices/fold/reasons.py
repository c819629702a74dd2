"""Why a rule is about an entity now, or why not: in words.

Belongs here: each part of a choice that an entity fails, what still has to pass. Does not: whether a rule selects it
(`matching`), the notices that there are.
"""

from collections.abc import Iterator

from phaseline.engine.products.notices.fold import matching
from phaseline.engine.products.notices.fold.rules import Choice, Rule
from phaseline.machines.compiler.classes.entity_classes import class_of_entity
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import or_list
from phaseline.schemas.records import SECOND, Transition, own_facets


def why(kinds: Kinds, rule: Rule, record: Transition, now_ns: int) -> tuple[bool, str]:
    """Whether a rule is about an entity as its last record shows it, and why, in words. now_ns: the time."""
    entity = record.entity
    if unfit := next(_unfit(kinds, rule.when, record), None):
        return False, unfit
    if rule.when.is_of_happenings:
        return True, "it tells what happens to it, each time"
    if rule.unless is not None and matching.holds(kinds, rule.unless, entity):
        return False, "what stands under unless is so"
    since = matching.since(kinds, rule, entity, record.time_ns)
    left = since + rule.lasting - now_ns
    if left > 0:
        return True, f"it has to last for {rule.lasting / SECOND:g} s: {left / SECOND:.0f} s more"
    return True, "all that it asks is so"


def _unfit(kinds: Kinds, choice: Choice, record: Transition) -> Iterator[str]:
    """What a choice asks that is not so."""
    entity = record.entity
    if choice.kinds and entity.kind not in choice.kinds:
        yield f"it is about {or_list(choice.kinds)}"
    if not matching.in_trees(choice.trees, entity.id):
        yield f"it is about the trees {or_list(choice.trees)}"
    if not matching.is_about(choice._replace(kinds=(), trees=()), entity):
        yield f"it is about the labels {or_list(tuple('='.join(one) for one in choice.labels))}"
    if choice.is_of_happenings:
        return
    found = class_of_entity(kinds, entity)
    if choice.classes and found not in choice.classes:
        yield f"it is about what is {or_list(choice.classes)}, and this is {found}"
    states = ", ".join(str(facet.state) for facet in own_facets(entity))
    if choice.states and not any(one.selects_in(entity) for one in choice.states):
        yield f"it is about other states, and this is {states}"
    if not matching.holds(kinds, choice._replace(classes=(), states=()), entity):
        asked = [*choice.conditions, *(name for name in ("silent", "stalled", "left_behind") if getattr(choice, name))]
        yield f"it is about what is {or_list(tuple(asked)).replace('_', ' ')}, and this is not"
