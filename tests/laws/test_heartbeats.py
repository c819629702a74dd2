"""A heartbeat that only moves a time is decided on a short way. It makes the same records as the long way."""

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core import hearing
from phaseline.engine.core.transitions import Decision
from phaseline.machines.built_in import PRODUCTS
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import AttributeIs
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, Cascade, Facet, Label, Row, Table, View
from phaseline.schemas.records import State
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.contacts import Contacts

IDS = {
    "emco_resource": "r", "app_context": "r/x", "app_cluster": "r/x/app/edge", "git_repo": "repo", "bundle": "repo/web",
    "bundle_deployment": "repo/web/east", "cluster": "c1", "node_pool": "c1/p", "application_set": "set",
    "application": "set/shop",
}  # fmt: skip
"""An entity of each kind that sends heartbeats, and of the kinds above them."""
LIVES: dict[str, tuple[str, ...]] = {
    "cluster": ("create", "created", "delete", "deleted"), "app_cluster": ("unreachable", "reachable"),
    "bundle_deployment": ("removed",), "application": ("removed", "sync"), "bundle": ("removed",),
}  # fmt: skip
DID = st.one_of(
    st.tuples(st.just("heartbeat"), st.sampled_from(("cluster", "app_cluster", "bundle_deployment", "application"))),
    st.tuples(st.just("heartbeat"), st.sampled_from(("cluster", "app_cluster", "bundle_deployment", "application"))),
    st.sampled_from([(trigger, kind) for kind, triggers in LIVES.items() for trigger in triggers]),
    st.tuples(st.just("silence"), st.sampled_from((0, 10, 100))),
)
STEPS = st.lists(st.tuples(st.sampled_from((0.0, 1.0, 2.5, 10.0, 25.0, 60.0, 130.0)), DID, st.booleans()), max_size=25)


def records_of(steps: list[tuple[float, tuple[str, object], bool]], default: float) -> list[object]:
    found = Contacts(default=default)
    for kind in ("emco_resource", "app_context"):
        found.say(kind, "create", IDS[kind])
    made: list[object] = []
    for number, (pause, (trigger, of), numbered) in enumerate(steps):
        made += found.wait(pause).records
        if trigger == "silence":
            made += found.say("cluster", "configure", "c1", silence_after=of).records
        else:
            made += found.say(str(of), trigger, IDS[str(of)], sequence=number if numbered else None).records
    return made


@given(STEPS, st.sampled_from((0.0, 40.0)))
def test_both_ways_make_the_same_records(steps: list[tuple[float, tuple[str, object], bool]], default: float) -> None:
    short = records_of(steps, default)
    with patch.object(hearing, "heard_again", lambda *_: None):
        assert records_of(steps, default) == short


def test_a_heartbeat_of_a_fresh_place_goes_the_short_way() -> None:
    taken: list[bool] = []
    real: Callable[..., Decision | None] = hearing.heard_again

    def watched(*arguments: object) -> Decision | None:
        decision = real(*arguments)
        taken.append(decision is not None)
        return decision

    with patch.object(hearing, "heard_again", watched):
        found = Contacts(default=100.0).beat("cluster", "c1")
        for _ in range(10):
            found.later(30).beat("cluster", "c1")
    assert taken == [True] * 10


PHASE = Facet(
    name="phase",
    adopted=State("Open"),
    healthy="Open",
    labels=(Label("Open", None, "Open"), Label("Shut", None, "Shut", state_class="excused")),
    rows=(
        Row((ABSENT, DELETED), "opened", "Open"), Row(("Open",), "shut", "Shut"), Row((LIVE,), "removed", DELETED),
    ),
)  # fmt: skip
SITE = Table(kind="site", id=("site",), place=True, intents=(), facets=(PHASE,))
ENDS = replace(PHASE, rows=(*PHASE.rows, Row((LIVE,), "owner_gone", DELETED)))
ROOM = replace(
    SITE, facets=(ENDS,), kind="room", id=("site", "room"), parent="site", place=False, derived=("owner_gone",)
)


@pytest.mark.parametrize("kind", ["cluster", "app_cluster", "bundle_deployment", "application"])
def test_built_in_places_have_the_short_way(kind: str) -> None:
    assert BUILT_IN_KINDS[kind].hears_alone
    assert BUILT_IN_KINDS["node"].hears_alone


def test_a_kind_in_which_more_follows_from_a_heartbeat_has_it_not() -> None:
    warns = replace(SITE, cascades=(Cascade("shut", at=("room",), on=("heartbeat",)),))
    warned = replace(ROOM, derived=("owner_gone", "shut"))
    looks = View("Shut", (AttributeIs("site", "heard_at", 7),))
    looking = replace(SITE, facets=(replace(PHASE, views=(looks,)),))
    for site, room, short in ((SITE, ROOM, True), (warns, warned, False), (looking, ROOM, False)):
        assert Kinds((site, room), products=PRODUCTS)["site"].hears_alone is short
