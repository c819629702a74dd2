"""Laws of hearing: it changes nothing but `contact`, is recorded rarely, and is repeated to the byte.

Belongs here: random histories of places that somebody waits for. Does not: single cases (`tests/pure/test_contact.py`).
"""

from typing import Any

from phaseline.engine.surfaces.testing import laws
from phaseline.machines.language.contact import HEARD_AT, SILENCE_AFTER
from phaseline.schemas.records import Entity, Mark, Rejection, Transition, own_facets
from tests.support.edge_worlds import KINDS
from tests.support.strategies import History, histories, hold, law_by_law

AFTER = 8.0
"""The seconds of `silence_after`; in these histories the server stores one event a second."""


def watched(history: History) -> History:
    """The same events, while somebody waits for every place."""
    again = History(history.kinds)
    again.tree.silence_after = AFTER
    for step in history.steps:
        again.take(step.sent)
    return again


def nothing_but_the_contact_changes(history: History) -> None:
    again = watched(history)
    for step, other in zip(history.steps, again.steps, strict=True):
        assert [r.reason for r in step.records if isinstance(r, Rejection)] == [
            r.reason for r in other.records if isinstance(r, Rejection)
        ]
    for kind, found in history.tree.entities.items():
        assert found.keys() == again.tree.entities[kind].keys()
        for entity_id, entity in found.items():
            heard = again.tree.entities[kind][entity_id]
            assert own_facets(entity) == own_facets(heard)
            assert entity.sequences == heard.sequences
            assert _without_hearing(entity) == _without_hearing(heard)
    laws.same("tallies", again.tree.tallies, history.tree.tallies)


def _without_hearing(entity: Entity) -> dict[str, Any]:
    return {name: value for name, value in entity.attributes.items() if name != HEARD_AT}


def a_history_with_hearings_obeys_all_laws(history: History) -> None:
    again = watched(history)
    laws.replay_equals_live(again)
    laws.versions_have_no_gaps_and_records_follow_each_other(again)
    laws.each_facet_has_one_record_per_event_with_its_cause(again)
    laws.an_event_with_a_sequence_does_nothing_the_second_time(again)
    assert laws.bodies(watched(history)) == laws.bodies(again)


def hearings_are_recorded_four_times_per_silence_at_most(history: History) -> None:
    last: dict[str, int] = {}
    for step in watched(history).steps:
        for record in step.records:
            if isinstance(record, Transition | Mark) and record.entity.kind == "cluster":
                heard = record.entity.attributes.get(HEARD_AT)
                if heard is None:
                    last.pop(record.entity.id, None)
                elif heard != last.get(record.entity.id):
                    after = record.entity.attributes.get(SILENCE_AFTER, AFTER)
                    assert heard - last.get(record.entity.id, -(10**12)) >= after / 4 * 10**9
                    last[record.entity.id] = heard


@law_by_law(
    nothing_but_the_contact_changes,
    a_history_with_hearings_obeys_all_laws,
    hearings_are_recorded_four_times_per_silence_at_most,
    effort="dear",
)
def test_law(law: object, effort: str) -> None:
    hold(law, histories(KINDS), effort)  # type: ignore[arg-type]  # one of the functions above
