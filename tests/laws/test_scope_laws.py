"""Laws of the scope of reports, for every built-in kind that takes them: whose condition it is, it changes.

Belongs here: any report on any base, with and without `about`. Does not: what is mended in the scope
(`test_report_laws`), single reports (`test_scopes`).
"""

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.decide import decide
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.tree import Tree
from phaseline.machines.compiler.conditions import accumulated_conditions, as_told, own_condition
from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.reachability import in_order
from phaseline.machines.compiler.reports import ABOUT
from phaseline.machines.language.table import ABSENT, DELETED, OK, REPORTED
from phaseline.schemas.records import Cause, FacetState, Record, State, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.effort import examples
from tests.support.placed import placed

JUDGED = [kind for kind in BUILT_IN_KINDS.values() if kind.judge is not None and kind.judge.needs_phase]
every_kind = pytest.mark.parametrize("kind", JUDGED, ids=lambda kind: kind.name)


class Told(NamedTuple):
    """A report on a base, and what it led to."""

    before: FacetState
    after: FacetState
    record: Transition | None
    data: dict[str, Any]


def any_report(kind: Kind, choose: st.DataObject) -> Told:
    """Any report of a live state, on any live base that was told; a reporter that has read everything sends it."""
    bases = sorted(
        base for base in kind.bases[0] if base.phase not in (ABSENT, DELETED) and base == as_told(base)
    )  # fmt: skip
    base, truth = choose.draw(st.sampled_from(bases)), choose.draw(st.sampled_from(bases))
    data: dict[str, Any] = {"phase": truth.phase, "seen": 8}
    if choose.draw(st.booleans()):
        data["conditions"] = list(truth.conditions)
    offered = [one for field in kind.fields[REPORTED] if field.name == ABOUT for one in field.options]
    is_scoped = choose.draw(st.booleans())
    if offered and is_scoped:
        data[ABOUT] = choose.draw(st.lists(st.sampled_from(offered), unique=True))
    return told(kind, placed(kind, base), data)


def told(kind: Kind, tree: Tree, data: dict[str, Any]) -> Told:
    entity_id = "/".join("abcdefgh"[: kind.arity])
    before = tree.entities[kind.name][entity_id].facets[0]
    records = decide(tree, Arrival(kind.name, REPORTED, entity_id, data, Cause(9, "e", "/t", "event"), None, 9)).records
    own = next((one for one in records if is_about(kind, entity_id, one)), None)
    record = own if isinstance(own, Transition) else None
    return Told(before, before if record is None else record.entity.facets[0], record, data)


def is_about(kind: Kind, entity_id: str, record: Record) -> bool:
    return isinstance(record, Transition) and (record.entity.kind, record.entity.id) == (kind.name, entity_id)


def is_outside(kind: Kind, condition: str, data: dict[str, Any]) -> bool:
    """The rule of docs/reports.md, in other words than the engine's."""
    facet = kind.table.facets[0]
    if data.get(ABOUT) is not None:
        return condition not in data[ABOUT]
    return condition in facet.sticky or (condition in facet.own_reporter and "conditions" not in data)


def lasting(kind: Kind, base: State, phase: str) -> set[str]:
    """The conditions of a base that do not belong to its phase alone."""
    facet = kind.table.facets[0]
    own = {OK, own_condition(facet, base.phase)} if base.phase != facet.accumulates_in else {OK}
    add_up = accumulated_conditions(facet) if base.phase == facet.accumulates_in else frozenset[str]()
    stays = {*facet.sticky, *add_up} if base.phase != phase else {*base.conditions}
    return stays.intersection(base.conditions) - own


def can_stand(kind: Kind, base: State, condition: str) -> bool:
    """Whether a condition can stand beside those of a base."""
    return in_order(State(base.phase, (*(one for one in base.conditions if one != OK), condition))) in kind.bases[0]


@every_kind
@given(st.data())
@examples(60)
def test_a_report_changes_no_condition_outside_its_scope(kind: Kind, choose: st.DataObject) -> None:
    before, after, record, data = any_report(kind, choose)
    named = data.get("conditions", ())
    outside = {one for one in lasting(kind, before.base, data["phase"]) if is_outside(kind, one, data)} - {*named}
    kept = outside.intersection(after.base.conditions)
    for one in outside - kept:
        assert not can_stand(kind, after.base, one), (one, before, after)
    own = own_condition(kind.table.facets[0], after.base.phase)
    for one in {*after.base.conditions}.difference(before.base.conditions, named, [own]):
        pytest.fail(f"nobody named {one}: {before}, {data}, {after}")
    if record is not None:
        assert {*record.noted.stayed} == kept, (before, after, record.noted)


@every_kind
@given(st.data())
@examples(60)
def test_the_same_report_again_is_no_news(kind: Kind, choose: st.DataObject) -> None:
    _, _, record, data = any_report(kind, choose)
    if record is not None:
        tree = placed(kind, record.entity.facets[0].base)
        tree.put(record.entity)
        assert told(kind, tree, data).record is None, (record, data)


@every_kind
@given(st.data())
@examples(60)
def test_what_causes_interrupted_is_what_was_reported(kind: Kind, choose: st.DataObject) -> None:
    _, after, record, data = any_report(kind, choose)
    facet, machine = kind.table.facets[0], kind.machines[0]
    if record is not None and after.base.phase == facet.accumulates_in != data["phase"]:
        assert accumulated_conditions(facet).intersection(record.noted.stayed)
        assert after.interrupted == (data["phase"] if data["phase"] in machine.returns else None)
