"""Explanations of the entities of a history, and iteration over their parts.

Belongs here: making explanations, listing their parts, drawing them. Does not: what an explanation must contain.
"""

from collections import defaultdict
from collections.abc import Iterator

from phaseline.engine.log.explain import explainer
from phaseline.engine.log.explain.model import CauseChain, Explanation, FacetExplanation, PredicateExplanation
from phaseline.engine.surfaces.cli import layout
from phaseline.engine.surfaces.cli.render_why import ExplanationTree
from phaseline.schemas.records import Entity, Transition
from tests.support.strategies import History

Logs = dict[tuple[str, str], list[Transition]]


def logs(history: History) -> Logs:
    """Each entity's transitions in order."""
    found: Logs = defaultdict(list)
    for step in history.steps:
        for record in step.records:
            if isinstance(record, Transition):
                found[record.entity.kind, record.entity.id].append(record)
    return found


def entities(history: History) -> Iterator[Entity]:
    for found in history.tree.entities.values():
        yield from found.values()


def explained(history: History, entity: Entity, known: Logs | None = None) -> Explanation:
    found = logs(history) if known is None else known
    return explainer.explain_entity(history.tree, lambda *key: found.get(key, ()), entity.kind, entity.id)


def parts(found: Explanation) -> Iterator[FacetExplanation]:
    """All facets in an explanation, at any depth."""
    queue = list(found.facets)
    while queue:
        part = queue.pop()
        yield part
        queue += [entity for predicate in predicates(part) for entity in predicate.entities]
        queue += part.below


def predicates(part: FacetExplanation) -> tuple[PredicateExplanation, ...]:
    return part.view.predicates if part.view else ()


def cause_chains(part: FacetExplanation) -> Iterator[CauseChain]:
    for caused in part.causes:
        yield from (caused, caused.ended) if caused.ended else (caused,)
    yield from (predicate.cause for predicate in predicates(part) if predicate.cause)


def explanation(history: History, kind: str, entity_id: str) -> Explanation:
    entity = history.tree.get(kind, entity_id)
    assert entity is not None
    return explained(history, entity)


def triggers(caused: CauseChain) -> list[tuple[str, str]]:
    return [(record.trigger, f"{record.entity.kind}/{record.entity.id}") for record in caused.records]


def drawn(history: History, found: Explanation) -> list[str]:
    """The lines of an explanation, one minute after the first event."""
    return [line.plain for line in layout.drawn(ExplanationTree(history.kinds, 60 * 10**9).whole(found), None)]
