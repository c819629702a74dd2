"""The index of a part of an archive: what it is asked for, and that it never hides anything (archive/part_index.py)."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.replay.archive.open_archive import _selects
from phaseline.engine.replay.archive.part_index import BlockCollector, BlockIndex, Cut, name_in, names_of
from phaseline.engine.replay.log_format import RecordItem

TOKENS = st.lists(st.sampled_from(["c1", "c2", "p", "n1", "n2"]), min_size=1, max_size=3).map(".".join)
TRANSITIONS = st.builds("transition.{}.phase.Running.{}".format, st.sampled_from(["node", "pool"]), TOKENS)
REJECTIONS = st.builds("rejection.{}.guard.{}".format, st.sampled_from(["node", "pool"]), TOKENS)
SUBJECTS = st.one_of(TRANSITIONS, REJECTIONS)


@pytest.mark.parametrize(
    ("filter_", "name"),
    [
        ("transition.node.*.*.c1.p.n1", "transition.node.c1.p.n1"),
        ("transition.*.*.*.c1.p.n1", "c1"),
        ("transition.node.phase.Failed.c1.>", "c1"),
        ("transition.*.*.*.c1", "c1"),
        ("rejection.node.*.c1.p.n1", "rejection.node.c1.p.n1"),
        ("rejection.*.*.c1.>", "c1"),
        ("transition.node.*.*.>", None),
        ("transition.node.*.*.*.p.n1", None),
        ("transition.>", None),
        ("rejection.>", None),
        ("*.*.>", None),
        (">", None),
    ],
)
def test_the_name_that_a_filter_asks_for(filter_: str, name: str | None) -> None:
    assert name_in(filter_) == name


def encoded(*subjects: str) -> bytes:
    """The index of a part whose only block has records on these subjects."""
    collector = BlockCollector()
    for subject in subjects:
        collector.take(RecordItem(subject, b""))
    collector.cut()
    return collector.encode([Cut(0, 0), Cut(0, 0)], io.BufferedReader(io.BytesIO()))


def indexed(*subjects: str) -> BlockIndex:
    return BlockIndex(encoded(*subjects))


def test_marks_are_in_no_index() -> None:
    index = indexed("transition.mark.-.-.node.c1.p.n1")
    assert not index.holding(["c1", "transition.node.c1.p.n1"])


@given(st.lists(SUBJECTS, max_size=8), SUBJECTS, st.randoms())
def test_no_record_is_hidden(subjects: list[str], asked: str, chance: object) -> None:
    """For a filter with wildcards anywhere: if one of the records fits, the index says so."""
    index = indexed(*subjects)
    words = asked.split(".")
    filter_ = ".".join([words[0], *(chance.choice([word, "*"]) for word in words[1:])])  # type: ignore[attr-defined]
    name, fits = name_in(filter_), _selects([filter_])
    if any(map(fits, subjects)):
        assert name is None or bool(index.holding([name]))
    elif name is not None:
        named = {name for subject in subjects for name in names_of(subject)}
        assert bool(index.holding([name])) == (name in named)


def test_its_bytes_are_the_same_on_every_machine() -> None:
    found = encoded("transition.node.phase.Running.c1.p.n1", "rejection.node.guard.c1")
    assert found.hex().endswith("c41800000000025a39040000000095e0cf4a00000000b06de79e")
