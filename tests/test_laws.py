"""The laws of the core over random histories: legal and illegal, repeated, orphaned, senseless.

Belongs here: which laws are looked into, for which kinds. Does not: the laws (`laws`), the histories (`worlds`).
"""

from collections.abc import Callable

import pytest

from phaseline.machines.kinds import Kinds
from tests import laws, orchard, situations
from tests.worlds import History, histories, hold

FAMILIES = {"edge hosting": situations.KINDS, "orchard": orchard.KINDS}
LAWS = (
    laws.replay_equals_live,
    laws.the_same_events_make_the_same_bytes,
    laws.versions_have_no_gaps_and_records_follow_each_other,
    laws.an_event_ends_with_each_facet_told_once_and_why,
    laws.an_accepted_event_with_a_sequence_does_nothing_the_second_time,
    laws.deciding_changes_nothing,
    laws.nothing_lives_below_what_is_unknown_or_gone,
    laws.trees_do_not_heed_each_other,
    laws.states_and_tallies_follow_from_the_bases,
)
effort = pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])
family = pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))


@effort
@family
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: Callable[[History], None], kinds: Kinds, effort: str) -> None:
    hold(law, histories(kinds), effort)
