"""Why an entity is as it is, over random histories: all of it ends in outside events, nothing is made up, nothing left out.

Belongs here: laws of explanations, and what single ones say. Does not: reading what is needed, the command (`test_why_command`).
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import pytest

from phaseline.engine import why
from phaseline.engine.explanation import Caused, Explained, Explanation, Reason
from phaseline.engine.intake import Arrival
from phaseline.machines.arithmetic import causes
from phaseline.machines.kinds import Kinds
from phaseline.machines.predicates import Above, AttributeIs, Every, Predicate, Some
from phaseline.machines.table import ABSENT, DELETED
from phaseline.schemas.records import Entity, Transition
from tests import orchard, situations
from tests.worlds import History, histories, hold

FAMILIES = {"edge hosting": situations.KINDS, "orchard": orchard.KINDS}
effort = pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])
family = pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))

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
    return why.why(history.tree, lambda *key: found.get(key, ()), entity.kind, entity.id)


def parts(found: Explanation) -> Iterator[Explained]:
    """All facets that it explains, at any depth."""
    queue = list(found.facets)
    while queue:
        part = queue.pop()
        yield part
        queue += [entity for reason in reasons(part) for entity in reason.entities]


def reasons(part: Explained) -> tuple[Reason, ...]:
    return part.view.reasons if part.view else ()


def told(part: Explained) -> Iterator[Caused]:
    yield from part.causes
    yield from (reason.caused for reason in reasons(part) if reason.caused)


# ---- laws


def everything_ends_in_outside_events(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        for part in parts(explained(history, entity, known)):
            assert part.told in ("here", "above")
            for caused in told(part):
                ends_in_an_event(history, caused)


def ends_in_an_event(history: History, caused: Caused) -> None:
    assert caused.gone is None
    *links, last = caused.records
    step = history.steps[last.cause.sequence - 1]
    assert isinstance(step.read, Arrival)
    assert (last.cause.by, last.trigger) == ("event", step.read.trigger)
    assert (last.entity.kind, last.entity.id) == (step.read.kind, step.read.id)
    assert all(any(record is made for made in step.records) for record in caused.records)
    assert all(record.cause.by != "event" for record in links)
    for record, origin in pairwise(caused.records):
        assert record.cause.origin == f"{origin.entity.kind}/{origin.entity.id}"


def a_view_is_named_where_the_base_does_not_show(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        found = explained(history, entity, known)
        assert [part.facet for part in found.facets] == list(entity.names)
        for part in parts(found):
            assert (part.view is not None) == (part.state != part.base and not part.base_only and part.told == "here")
            if part.view is not None:
                the_view_holds(history, part)


def the_view_holds(history: History, part: Explained) -> None:
    """It is one of the table's, shows that phase, and who makes it so is counted right."""
    facet = next(f for f in history.kinds[part.kind].table.facets if f.name == part.facet)
    texts = [reason.text for reason in reasons(part)]
    (view, *_) = [v for v in facet.views if v.to == part.state.phase and [p.text() for p in v.while_] == texts]
    for predicate, reason in zip(view.while_, reasons(part), strict=True):
        makes_it_so(history, part, predicate, reason)


def makes_it_so(history: History, part: Explained, predicate: Predicate, reason: Reason) -> None:
    if isinstance(predicate, Above):
        (above,) = reason.entities
        assert above.kind == predicate.kind
        assert part.id.startswith(above.id)
        assert (above.base if predicate.base else above.state).phase in predicate.phases
    elif isinstance(predicate, AttributeIs):
        assert reason.caused is not None
        assert reason.caused.records[0].entity.attributes[predicate.name] == predicate.value
    else:
        assert isinstance(predicate, Some | Every)
        below = [e for e in history.tree.entities[predicate.kind].values() if e.id.startswith(f"{part.id}/")]
        phases = [entity.facets[predicate.facet].state.phase for entity in below]
        assert reason.count == sum(phase in predicate.phases for phase in phases)
        assert reason.among == sum(phase not in (ABSENT, DELETED) for phase in phases)
        assert len(reason.entities) == min(3, reason.count)
        assert {found.state.phase for found in reason.entities} <= set(predicate.phases)


def every_standing_cause_is_explained_by_the_record_that_added_it(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        for part in explained(history, entity, known).facets:
            if part.told == "here":
                index = entity.names.index(part.facet)
                assert (
                    dict(by_words(part)).items() >= stood_since(history, known[entity.kind, entity.id], index).items()
                )
                moved = last_moved(known[entity.kind, entity.id], index)
                assert moved is None or any(caused.records[0] is moved for caused in part.causes)


def by_words(part: Explained) -> Iterator[tuple[str, Transition]]:
    for caused in part.causes:
        for word in caused.words if caused.role == "condition" else ():
            yield word, caused.records[0]


def stood_since(history: History, records: list[Transition], index: int) -> dict[str, Transition]:
    """By condition that holds or stands, the record that brought it: read forwards."""
    facet = history.kinds[records[0].entity.kind].table.facets[index]
    since: dict[str, Transition] = {}
    phase = ABSENT
    for record in records:
        base = record.entity.facets[index].base
        lasting = [*facet.standing, *(causes(facet) if base.phase == facet.collects else ())]
        kept = {c: r for c, r in since.items() if c in facet.standing or phase == base.phase}
        since = {c: kept.get(c, record) for c in base.conditions if c in lasting}
        phase = base.phase
    return since


def last_moved(records: list[Transition], index: int) -> Transition | None:
    """The record that moved the base last; None where it was never moved."""
    bases = [record.entity.facets[index].base for record in records]
    last = [n for n, base in enumerate(bases) if base != (bases[n - 1] if n else (ABSENT, ()))]
    return records[last[-1]] if last else None


def nothing_is_told_twice(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        here = [
            (p.kind, p.id, p.facet, p.base_only) for p in parts(explained(history, entity, known)) if p.told == "here"
        ]
        assert len(here) == len(set(here))


def what_is_gone_is_said_to_be_gone(history: History) -> None:
    """With a part of the log lost, whatever is still told is what the whole log tells."""
    known = logs(history)
    kept = {key: records[len(records) // 2 :] for key, records in known.items()}
    holed = {key: [r for n, r in enumerate(records) if n % 3 != 1] for key, records in known.items()}
    for entity in entities(history):
        whole = explained(history, entity, known).facets
        for left in ({}, kept, holed):
            found = explained(history, entity, left).facets
            for part, before in zip(found, whole, strict=True):
                assert (part.state, part.view is None) == (before.state, before.view is None)
                assert all(caused.gone or gist(caused) in [*map(gist, told(before))] for caused in told(part))
                assert part.base.phase == ABSENT or part.told != "here" or part.causes


def gist(caused: Caused) -> tuple[object, ...]:
    """What it says, whichever record of an event with several at one entity led there."""
    first, last = caused.records[0], caused.records[-1]
    return caused.role, caused.words, first, last.cause, last.trigger, last.entity.kind, last.entity.id


LAWS = (
    everything_ends_in_outside_events,
    a_view_is_named_where_the_base_does_not_show,
    every_standing_cause_is_explained_by_the_record_that_added_it,
    nothing_is_told_twice,
    what_is_gone_is_said_to_be_gone,
)


@effort
@family
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: object, kinds: Kinds, effort: str) -> None:
    hold(law, histories(kinds), effort)  # type: ignore[arg-type]  # a law
