"""The arithmetic of divisions: each tree has one partition in each of them, and each event one that decides it."""

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.log.checkpoint import Checkpoint, decode
from phaseline.engine.log.division.made_by import root_of
from phaseline.schemas.partitions.divisions import STRIDE, Deciders, Division, divisions_of
from phaseline.schemas.subjects import Subjects, partition_of, quote

COUNTS = st.integers(1, 256)
ROOTS = st.text("abc-.é7", min_size=1, max_size=12).map(quote)
SUBJECTS = Subjects("a.b")


@given(ROOTS, COUNTS, st.lists(COUNTS, max_size=4))
def test_numbers_belong_to_one_division(root: str, buckets: int, later: list[int]) -> None:
    divisions = divisions_of(buckets, later)
    numbers = [division.number_of(root) for division in divisions]
    assert numbers[0] == partition_of(root, buckets)
    assert all(number in one.numbers for number, one in zip(numbers, divisions, strict=True))
    assert sorted(numbers) == numbers
    assert [Division.of(number, one.count) for number, one in zip(numbers, divisions, strict=True)] == divisions


@given(st.lists(ROOTS, min_size=1, max_size=30), COUNTS, COUNTS)
def test_reach_and_sources_leave_no_tree_out(roots: list[str], buckets: int, count: int) -> None:
    first, now = divisions_of(buckets, [count])
    for root in roots:
        number = now.number_of(root)
        assert now.reach(number, buckets) in (None, partition_of(root, buckets))
        assert first.number_of(root) in set(now.sources(number, first))
    assert {source for number in now.numbers for source in now.sources(number, first)} == set(first.numbers)


@given(ROOTS, COUNTS, st.lists(COUNTS, min_size=1, max_size=3), st.data())
def test_each_event_has_one_decider(root: str, buckets: int, later: list[int], data: st.DataObject) -> None:
    divisions = divisions_of(buckets, later)
    ends = sorted(data.draw(st.lists(st.integers(0, 50), min_size=len(later), max_size=len(later))))
    closed = {one.number_of(root): end for one, end in zip(divisions, ends, strict=False)}
    deciders = Deciders(divisions, closed)
    found = [deciders.of(root, position) for position in range(60)]
    assert found == sorted(found)
    for one, begin, end in zip(divisions, [-1, *ends], [*ends, 59], strict=True):
        assert set(found[begin + 1 : end + 1]) <= {one.number_of(root)}
    open_ = Deciders(divisions, {})  # nothing is closed: the first division still decides
    assert {open_.of(root, position) for position in range(60)} == {divisions[0].number_of(root)}


def test_checkpoints_of_the_first_division_have_the_bytes_that_they_had() -> None:
    assert b"since" not in Checkpoint(1, "w", 7).encode_as("c")
    new = Checkpoint(1, "w", 7, of=3, since=9)
    assert decode(new.encode_as("c")).of == 3
    assert decode(Checkpoint(closed=True).encode_as("c")).closed


def test_roots_in_subjects_of_the_log() -> None:
    start = len(SUBJECTS.prefix) + 1
    of = {
        SUBJECTS.transition(3, "cluster", "phase", "Running", "c1"): "c1",
        SUBJECTS.transition(3, "node", "phase", "Running", "c.1/p/n"): "c%2E1",
        SUBJECTS.mark(3, "node", "c1/p/n"): "c1",
        SUBJECTS.mark(3, "cluster", "c1"): "c1",
        SUBJECTS.rejection(STRIDE, "node", "invalid", "c1/p/n"): None,
        SUBJECTS.checkpoint(3): None,
        SUBJECTS.tables(3): None,
        SUBJECTS.divisions: None,
        SUBJECTS.timer(3, "node", "phase", "c1/p/n"): None,
        SUBJECTS.plan(3, 0): None,
        SUBJECTS.loss(3, "events"): None,
    }
    assert {subject: root_of(subject[start:]) for subject in of} == of
