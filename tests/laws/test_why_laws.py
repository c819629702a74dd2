"""The laws of explanations over random histories: they end in outside events, invent nothing and leave nothing out.

Belongs here: laws of explanations of any kinds. Does not: single explanations (`test_why`).
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from msgspec.structs import replace

from phaseline.engine.core.intake import Arrival
from phaseline.engine.log.explain.model import CauseChain, FacetExplanation, PredicateExplanation
from phaseline.machines.compiler import conditions
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.reports import SNAPSHOT
from phaseline.machines.language.contact import HEARD
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Predicate
from phaseline.machines.language.signals import TOLD
from phaseline.machines.language.table import ABSENT, DELETED, REPORTED
from phaseline.schemas.records import SIGNALS, Record, Transition, facets_of
from tests.support import edge_worlds, sample_kinds
from tests.support.explanations import cause_chains, entities, explained, logs, parts, predicates
from tests.support.strategies import History, histories, hold, law_by_law, play

FAMILIES = {"edge hosting": edge_worlds.KINDS, "orchard": sample_kinds.KINDS}
family = pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))


def everything_ends_in_outside_events(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        for part in parts(explained(history, entity, known)):
            assert part.detail in ("here", "above")
            for caused in cause_chains(part):
                ends_in_an_event(history, caused)


def ends_in_an_event(history: History, caused: CauseChain) -> None:
    assert caused.missing is None
    *links, last = caused.records
    step = history.steps[last.cause.sequence - 1]
    assert isinstance(step.read, Arrival)
    if last.trigger == HEARD:  # by an observation that made no record of its own
        assert last.cause.origin == f"{step.read.kind}/{step.read.id}"
    elif step.read.trigger == SNAPSHOT:
        assert (last.cause.by, last.trigger) == ("cascade", REPORTED)
        assert last.cause.origin == f"{step.read.kind}/{step.read.id}"
    else:
        assert (last.cause.by, last.trigger) == ("event", step.read.trigger)
        assert (last.entity.kind, last.entity.id) == (step.read.kind, step.read.id)
    assert all(any(is_that(record, made) for made in step.records) for record in caused.records)
    assert all(record.cause.by != "event" for record in links)
    for record, origin in pairwise(caused.records):
        assert record.cause.origin is not None
        named = f"{origin.entity.kind}/{origin.entity.id}"
        if record.cause.origin != named:  # the named entity passed the cascade on and had no record
            assert f"{record.cause.origin}/".partition("/")[2].startswith(f"{origin.entity.id}/")
            assert all(record.cause.origin != f"{made.entity.kind}/{made.entity.id}" for made in step.records)  # type: ignore[union-attr]  # transitions


def is_that(record: Transition, made: Record) -> bool:
    """Whether a record is one that was made, maybe without words that are about something else."""
    if not isinstance(made, Transition):
        return False
    said = all(
        ours in (None, theirs) for ours, theirs in ((record.reason, made.reason), (record.message, made.message))
    )
    return said and record == replace(made, reason=record.reason, message=record.message)


def a_view_is_named_if_the_state_is_not_the_base(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        found = explained(history, entity, known)
        assert [part.facet for part in found.facets] == [name for name, _ in facets_of(entity)]
        for part in parts(found):
            assert (part.view is not None) == (part.state != part.base and not part.base_only and part.detail == "here")
            if part.view is not None:
                the_view_holds(history, part)


def the_view_holds(history: History, part: FacetExplanation) -> None:
    """The view is one of the table's and shows that phase; each predicate is explained by the right entities."""
    facet = next(f for f in history.kinds[part.kind].table.facets if f.name == part.facet)
    texts = [predicate.text for predicate in predicates(part)]
    (view, *_) = [v for v in facet.views if v.to == part.state.phase and [p.text() for p in v.while_] == texts]
    for predicate, found in zip(view.while_, predicates(part), strict=True):
        the_predicate_holds(history, part, predicate, found)


def the_predicate_holds(
    history: History, part: FacetExplanation, predicate: Predicate, found: PredicateExplanation
) -> None:
    if isinstance(predicate, Above):
        (above,) = found.entities
        assert (above.kind, above.base_only) == (predicate.kind, predicate.base)
        assert part.id.startswith(above.id)
        assert (above.base if predicate.base else above.state).phase in predicate.phases
    elif isinstance(predicate, AttributeIs):
        assert found.cause is not None
        assert found.cause.records[0].entity.attributes[predicate.name] == predicate.value
    else:
        assert isinstance(predicate, AnyBelow | AllBelow)
        below = [e for e in history.tree.entities[predicate.kind].values() if e.id.startswith(f"{part.id}/")]
        phases = [entity.facets[predicate.facet].state.phase for entity in below]
        assert found.count == sum(phase in predicate.phases for phase in phases)
        assert found.total == sum(phase not in (ABSENT, DELETED) for phase in phases)
        assert len(found.entities) == min(3, found.count)
        assert {one.state.phase for one in found.entities} <= set(predicate.phases)


def every_lasting_condition_is_explained_by_the_record_that_added_it(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        for part in explained(history, entity, known).facets:
            if part.facet == SIGNALS and part.base.phase == TOLD:
                assert {name for caused in part.causes for name in caused.names} == {*entity.attributes[SIGNALS]}
            elif part.detail == "here":
                index = entity.names.index(part.facet)
                assert dict(by_name(part)).items() >= stood_since(history, known[entity.kind, entity.id], index).items()
                moved = last_moved(known[entity.kind, entity.id], index)
                first = [caused.records[0] for caused in part.causes if caused.records]
                # A newer request for the phase is named in place of the move that entered it.
                newer = moved is not None and any(one.entity.version > moved.entity.version for one in first)
                assert moved is None or newer or any(one is moved for one in first)


def a_phase_is_explained_by_the_record_that_brought_it(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        for part in explained(history, entity, known).facets:
            brought = phase_brought(history, known[entity.kind, entity.id], entity.names.index(part.facet))
            for caused in part.causes:
                if caused.role == "phase" and caused.names == (part.base.phase,):
                    assert caused.records[0] is brought


def phase_brought(history: History, records: list[Transition], index: int) -> Transition | None:
    """The record that entered the phase, or of the newest request that was taken in it, if it waits for an answer."""
    waiting, phase, asked, brought = history.kinds[records[0].entity.kind].waiting[index], ABSENT, 0, None
    for record in records:
        now = record.entity.facets[index].base.phase
        if now != phase or (now in waiting and record.entity.asked != asked):
            brought = record
        phase, asked = now, record.entity.asked
    return brought


def by_name(part: FacetExplanation) -> Iterator[tuple[str, Transition]]:
    for caused in part.causes:
        for name in caused.names if caused.role == "condition" else ():
            yield name, caused.records[0]


def stood_since(history: History, records: list[Transition], index: int) -> dict[str, Transition]:
    """By accumulated or sticky condition, the record that brought it, found by reading the history forwards."""
    facet = history.kinds[records[0].entity.kind].table.facets[index]
    since: dict[str, Transition] = {}
    phase = ABSENT
    for record in records:
        base = record.entity.facets[index].base
        lasting = [
            *facet.sticky,
            *(conditions.accumulated_conditions(facet) if base.phase == facet.accumulates_in else ()),
        ]
        kept = {c: r for c, r in since.items() if c in facet.sticky or phase == base.phase}
        since = {c: kept.get(c, record) for c in base.conditions if c in lasting}
        phase = base.phase
    return since


def last_moved(records: list[Transition], index: int) -> Transition | None:
    """The record that moved the base last; None if the base never moved."""
    bases = [record.entity.facets[index].base for record in records]
    last = [n for n, base in enumerate(bases) if base != (bases[n - 1] if n else (ABSENT, ()))]
    return records[last[-1]] if last else None


def nothing_is_explained_twice(history: History) -> None:
    known = logs(history)
    for entity in entities(history):
        here = [
            (p.kind, p.id, p.facet, p.base_only) for p in parts(explained(history, entity, known)) if p.detail == "here"
        ]
        assert len(here) == len(set(here))


def missing_records_are_named_and_nothing_is_invented(history: History) -> None:
    """With a part of the log lost, every complete cause is also in the explanation by the whole log."""
    known = logs(history)
    kept = {key: records[len(records) // 2 :] for key, records in known.items()}
    holed = {key: [r for n, r in enumerate(records) if n % 3 != 1] for key, records in known.items()}
    for entity in entities(history):
        whole = explained(history, entity, known).facets
        for left in ({}, kept, holed):
            found = explained(history, entity, left).facets
            for part, before in zip(found, whole, strict=True):
                assert (part.state, part.view is None) == (before.state, before.view is None)
                assert all(caused.missing or is_found_in(caused, cause_chains(before)) for caused in cause_chains(part))
                assert part.base.phase == ABSENT or part.detail != "here" or part.causes


def later_records_do_not_matter(history: History) -> None:
    """Histories with records after the states lead to the same explanation."""
    earlier = play(history.kinds, [step.sent for step in history.steps[: len(history.steps) // 2]])
    known, further = logs(earlier), logs(history)
    for entity in entities(earlier):
        assert explained(earlier, entity, further) == explained(earlier, entity, known)


def is_found_in(caused: CauseChain, whole: Iterable[CauseChain]) -> bool:
    """Whether a chain of a log with holes is one of those of the whole log.

    An observation that is heard may make no record of its own, so nothing shows that its record is missing.
    """
    last = caused.records[-1]
    return any(
        gist(one) == gist(caused)
        or (last.trigger == HEARD and one.role == caused.role and last in one.records and one.names == caused.names)
        for one in whole
    )


def gist(caused: CauseChain) -> tuple[object, ...]:
    """The essence of a chain, whichever of several records of one event at one entity it contains."""
    first, last = caused.records[0], caused.records[-1]
    return caused.role, caused.names, first, last.cause, last.trigger, last.entity.kind, last.entity.id


LAWS = (
    everything_ends_in_outside_events,
    a_phase_is_explained_by_the_record_that_brought_it,
    a_view_is_named_if_the_state_is_not_the_base,
    every_lasting_condition_is_explained_by_the_record_that_added_it,
    nothing_is_explained_twice,
    missing_records_are_named_and_nothing_is_invented,
    later_records_do_not_matter,
)


@family
@law_by_law(*LAWS)
def test_law(law: object, kinds: Kinds, effort: str) -> None:
    hold(law, histories(kinds), effort)  # type: ignore[arg-type]  # a law
