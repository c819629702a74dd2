"""Laws of silence over random histories with outages of the server: what is asserted, and that a replay asserts it too.

Belongs here: when something is Silent. Does not: that hearing changes nothing else (`test_contact_laws`), single cases
(`tests/pure/test_silence_below.py`).
"""

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core import intake
from phaseline.engine.core.decide import decide
from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.surfaces.testing.histories import SUBJECTS
from phaseline.machines.language.scripts import NoScripts
from phaseline.schemas.records import SECOND, Mark, Record, Rejection, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS
from tests.support.contacts import Contacts

AFTER = 100
THINGS = {
    "c1": "cluster", "c1/a": "node_pool", "c1/a/n1": "node", "c1/a/n2": "node", "c1/b": "node_pool", "c1/b/n3": "node",
}  # fmt: skip
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.sampled_from([*THINGS])),
        st.tuples(st.just("wait"), st.sampled_from((1, 20, 26, 60, 130))),
        st.tuples(st.just("outage"), st.sampled_from((5, 30, 90, 200, 1_000))),
    ),
    max_size=30,
)


class History(Contacts):
    """Everything that the server stored, what was heard when, and when the server was away."""

    def __init__(self) -> None:
        self.heard: dict[str, int] = {}
        self.away: dict[str, int] = {}
        self.last_outage = 0
        super().__init__()
        self.say("cluster", "adopt", "c1", phase="Running").say("cluster", "configure", "c1", silence_after=AFTER)
        self.say("cluster", "configure", "c1", silence_below={"node_pool": AFTER, "node": AFTER})
        for name, kind in THINGS.items():
            self.speak(kind, name)

    def speak(self, kind: str, name: str) -> None:
        self.beat(kind, name)
        self.heard.update({one: int(self.now) for one in THINGS if one == name or name.startswith(f"{one}/")})

    def take(self, step: tuple[str, str | int]) -> None:
        what, of = step
        if isinstance(of, str):
            self.speak(THINGS[of], of)
        elif what == "wait":
            self.pass_time(of)
        else:
            self.outage(of)
            self.last_outage = int(self.now)

    def decided(self, records: list[Record]) -> None:
        """Check each record as it is made."""
        for record in records:
            if isinstance(record, Mark) and record.cause.by == "timer":
                self.away[record.entity.id] = record.time_ns // SECOND
            if isinstance(record, Transition) and str(record.after) == "Silent":
                name, now = record.entity.id, record.time_ns // SECOND
                assert now - self.heard[name] >= AFTER
                assert now - self.away.get(name, 0) >= AFTER


@given(STEPS)
def test_silence_is_asserted_of_nobody_else_and_of_everybody_who_is_silent(steps: list[tuple[str, str | int]]) -> None:
    found = History()
    for step in steps:
        found.take(step)
        for name, kind in THINGS.items():
            quiet = found.now - max(found.heard[name], found.last_outage)
            if quiet > 1.25 * AFTER:  # whatever its neighbours say
                assert found.contact(kind, name) == "Silent", (name, quiet)
            if found.now - found.heard[name] < AFTER:
                assert found.contact(kind, name) == "Fresh"


@given(STEPS)
def test_a_replay_makes_the_same_records(steps: list[tuple[str, str | int]]) -> None:
    found = History()
    for step in steps:
        found.take(step)
    tree = Tree(BUILT_IN_KINDS, NoScripts())
    for number, one in enumerate(found.stored_events):
        read = intake.read(tree.kinds, SUBJECTS, *one)
        records = [read] if isinstance(read, Rejection) else decide(tree, read).records
        assert records == found.made[number]
        for record in records:
            evolve(tree, record)
    assert tree.entities == found.tree.entities
