"""Globs: what they match, and that no glob takes long."""

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.products.gitops.assess import assess
from phaseline.machines.kinds.gitops.sync_windows import App, read
from phaseline.machines.kinds.kubernetes.globs import matches, problem
from phaseline.machines.kinds.kubernetes.overrides import Overrides
from phaseline.schemas.errors import InvalidInput
from tests.support.raising import raises


@pytest.mark.parametrize(
    ("glob", "word", "fits"),
    [
        ("{a,b}c", "bc", True), ("{a,{b,c}d}e", "cde", True), ("a{,b}", "a", True), ("a{,b}", "ab", True),
        ("{a", "{a", True), ("a}", "a}", True), ("a,b", "a,b", True), ("{a{b}", "{ab", True), ("{a}", "a", True),
        ("[a-c]x", "bx", True), ("[!a-c]x", "bx", False), ("[^a-c]x", "dx", True), ("[", "[", True),
        ("[]a]", "]", True), ("[a-", "[a-", True), ("\\*", "*", True), ("\\*", "x", False), ("\\", "\\", True),
        ("", "", True), ("", "a", False), ("*", "", True), ("?", "", False), ("*.apps.*", "x.apps.example", True),
        ("A*", "a", False), ("[ab]", "[ab]", False),
    ],
)  # fmt: skip
def test_what_a_glob_matches(glob: str, word: str, fits: bool) -> None:
    assert matches(glob, word) is fits


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_stars_match_as_everywhere(glob: str, word: str) -> None:
    assert matches(glob, word) is fnmatchcase(word, glob)


@given(st.text("ab*?{},[]\\!^-", max_size=30), st.text("ab{},[]\\", max_size=10))
def test_any_text_is_a_glob(glob: str, word: str) -> None:
    assert matches(glob, word) in (True, False)


SLOW = [
    "{a,b}" * 200, "{" * 500, "{" * 10 + "a" + "}" * 10, "*a" * 500 + "b", "{a,{a,{a,{a,{a,{a,{a,*}}}}}}}*" * 30,
    "[" * 1_000, "{1..999999999}", "*{a*,*a,*a*}" * 80, "[a-z]" * 200, "{*,*}" * 200,
]  # fmt: skip


@pytest.mark.parametrize("glob", SLOW)
def test_no_glob_takes_long(glob: str) -> None:
    start = time.process_time()
    for word in ("a" * 253, "b" * 253, "ab" * 126):
        matches(glob, word)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("glob", "says"), [("a" * 1_025, "at most 1024 characters"), ("{" * 11 + "}" * 11, "10 levels")]
)
def test_a_glob_beyond_the_limits(glob: str, says: str) -> None:
    assert not matches(glob, "a")
    assert says in problem(glob)
    assert says in " ".join(Overrides().merge({"health": {f"apps/{glob}": "return {}"}}, "x").problems())
    with raises(InvalidInput.bad_manifest, match=says):
        assess({}, rules={"ignore_differences": [{"kind": glob, "jsonPointers": ["/a"]}]})


def test_a_window_with_such_a_glob_prevents_a_sync() -> None:
    """It may be one that denies."""
    window = read({"kind": "deny", "schedule": "0 8 * * *", "duration": "1h", "applications": ["a" * 2_000]})
    assert "at most 1024 characters" in " ".join(window.problems())
    assert not window.selects(App("a"))
