"""The index of a part of an archive: what it is asked for, and that it never hides anything (archive/part_index.py)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.replay.archive.open_archive import _selects
from phaseline.engine.replay.archive.part_index import PartIndex, may_hold, name_in, names_of

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


def test_marks_are_in_no_index() -> None:
    index = PartIndex()
    index.take("transition.mark.-.-.node.c1.p.n1")
    assert index.encode() == b""
    assert not may_hold(b"", ["c1"])


@given(st.lists(SUBJECTS, max_size=8), SUBJECTS, st.randoms())
def test_no_record_is_hidden(subjects: list[str], asked: str, chance: object) -> None:
    """For a filter with wildcards anywhere: if one of the records fits, the index says so."""
    index = PartIndex()
    for subject in subjects:
        index.take(subject)
    words = asked.split(".")
    filter_ = ".".join([words[0], *(chance.choice([word, "*"]) for word in words[1:])])  # type: ignore[attr-defined]
    name, fits = name_in(filter_), _selects([filter_])
    if any(map(fits, subjects)):
        assert name is None or may_hold(index.encode(), [name])
    elif name is not None:
        named = {name for subject in subjects for name in names_of(subject)}
        assert may_hold(index.encode(), [name]) == (name in named)


def test_its_bytes_are_the_same_on_every_machine() -> None:
    index = PartIndex()
    for subject in ("transition.node.phase.Running.c1.p.n1", "rejection.node.guard.c1"):
        index.take(subject)
    assert index.encode().hex() == "025a390495e0cf4ab06de79e"
