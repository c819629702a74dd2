"""What terminals of any width are shown: nothing is lost, no word and no id is broken
(engine/surfaces/cli/layout.py)."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from phaseline.engine.log.changes import Change
from phaseline.engine.log.explain.staleness import Stale
from phaseline.engine.surfaces.cli import changes, history, layout, list_, render, styled, timeline
from phaseline.engine.surfaces.cli.layout import ALWAYS, WIDE, Branch, Column, TableLines
from phaseline.engine.surfaces.cli.list_ import EntityRow, ListedEntity
from phaseline.engine.surfaces.cli.styled import GAP, Text, width_of
from phaseline.engine.surfaces.client.surroundings import Surroundings
from phaseline.schemas.records import Cause, Entity, FacetState, Rejection, State, Transition
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

widths = st.sampled_from([1, 7, 20, 40, 60, 80, 100, 120, 200]) | st.integers(1, 250)
names = st.text("abcdefghij-._0123456789节点", min_size=1, max_size=30)
ids = st.lists(names, min_size=1, max_size=4).map("/".join)
words = st.lists(st.text("abcdefXYZ0123456789[],:()-", min_size=1, max_size=18), max_size=9).map(" ".join)
chinese = st.text("故障已修复，请稍候 x", max_size=20)
texts = words | chinese
states = st.builds(
    State,
    st.sampled_from(["Running", "Failed", "Creating", "Absent", "Deleted"]),
    st.lists(st.sampled_from(["Ok", "Balance", "ResourceCleanupFailed", "Progressing"]), max_size=4).map(tuple),
)
kinds = st.sampled_from(["cluster", "node_pool", "node", "component", "a_kind_of_somebody_else"])


@st.composite
def transitions(draw: st.DrawFn) -> Transition:
    after = draw(states)
    facet = FacetState(draw(states), after, draw(st.integers(0, 10**18)))
    entity = Entity(draw(kinds), draw(ids), draw(st.integers(1, 10**6)), ("phase",), (facet,), {}, {})
    by = draw(st.sampled_from(["event", "cascade", "view", "timer"]))
    cause = Cause(7, "e-7", draw(st.sampled_from(["/agent", "/console/ops"])), by, draw(ids))  # type: ignore[arg-type]
    reason, message = draw(st.none() | names), draw(st.none() | texts)
    return Transition("phase", draw(st.none() | states), after, "created", reason, message, cause, entity, 10**18)


@st.composite
def rejections(draw: st.DrawFn) -> Rejection:
    cause = Cause(7, "e-7", "/agent", "event")
    return Rejection(draw(kinds), draw(ids), "stop", "guard", draw(texts), None, (), cause, 10**18)


NARROWEST = 24
"""In a narrower terminal a column may be wider than all of it."""


def letters(*said: str) -> str:
    """The characters of texts, without blanks and guides."""
    return "".join(re.sub(r"[\s│├└─]", "", text) for text in said)


def printed(table: TableLines[Any], rows: Iterable[Any], *, settle_after: int = 500) -> list[str]:
    lines: list[str] = []
    for number, row in enumerate(rows, 1):
        lines += table.add(row)
        lines += table.settle() if number == settle_after else ()
    return [*lines, *table.settle()]


def assert_fits(lines: Iterable[str], width: int, *words: str) -> None:
    """No line is wider than the terminal, but for one with a single word that is wider itself."""
    for line in lines if width >= NARROWEST else ():
        assert width_of(line) <= width or len(line.split()) == 1, (width, line)


def nth(at: int, row: Sequence[str]) -> Text:
    return Text(row[at])


def taken(at: int, row: Sequence[Text]) -> Text:
    return row[at]


COLUMNS = tuple(
    Column(title, partial(nth, at), worth, wraps)
    for at, (title, worth, wraps) in enumerate(
        (("NAME", ALWAYS, False), ("WORDS", ALWAYS, True), ("FEW", 40, False), ("MORE", 60, True), ("ID", 80, False))
    )
)
table_rows = st.lists(st.tuples(ids, texts, st.just("") | names, texts, ids), min_size=1, max_size=12)


@given(table_rows, widths, st.integers(1, 12))
def test_of_a_row_nothing_is_lost(rows: list[tuple[str, ...]], width: int, first: int) -> None:
    """However wide later rows are, and whichever columns are left out: a row shows a whole text or nothing of it."""
    table = TableLines(COLUMNS, width)
    lines: list[str] = []
    for number, row in enumerate(rows, 1):
        made = [*table.add(row)]
        lines += made
        assert not made or number > first or len(rows) >= layout.FIRST_ROWS
        made += table.settle() if number == first else ()
        lines += made if number == first else ()
    lines += table.settle()
    assert_fits(lines, width)
    kept = [column.title for column in table._columns]
    assert kept[:2] == ["NAME", "WORDS"]
    for row in rows:
        for column, cell in zip(COLUMNS, row, strict=True):
            if column.title in kept and not column.wraps:
                assert cell in " ".join(lines).split() or not cell
    shown = letters(*(row[at] for row in rows for at, one in enumerate(COLUMNS) if one.title in kept))
    heads = letters(*lines)
    assert sorted(re.sub("[A-Z]", "", heads)) == sorted(re.sub("[A-Z]", "", shown))


@given(table_rows, st.integers(1, 12))
def test_without_a_width_a_row_is_a_line(rows: list[tuple[str, ...]], first: int) -> None:
    lines = printed(TableLines(COLUMNS, None), rows, settle_after=first)
    made = [line for line in lines if not line.startswith("NAME")]
    assert len(made) == len(rows)
    for line, row in zip(made, rows, strict=True):
        assert line.split() == " ".join(row).split()


@given(table_rows, st.integers(10, 200))
def test_what_matters_least_goes_first(rows: list[tuple[str, ...]], width: int) -> None:
    table, narrower = TableLines(COLUMNS, width), TableLines(COLUMNS, width - 9)
    assert printed(table, rows)
    assert printed(narrower, rows)
    for one in (table, narrower):
        kept = {column.title for column in one._columns}
        least = min(column.worth for column in one._columns)
        assert all(column.title in kept for column in COLUMNS if column.worth > least)


@given(st.lists(st.tuples(names, st.just("") | names), min_size=1, max_size=9), st.integers(1, 9), widths)
def test_a_column_that_has_text_only_later_gets_its_title(rows: list[tuple[str, str]], first: int, width: int) -> None:
    columns = (Column("NAME", partial(nth, 0)), Column("LATER", partial(nth, 1), worth=30))
    lines = printed(TableLines(columns, width), rows, settle_after=first)
    several = [line for line in lines if "LATER" in line]
    if width > 80:
        assert bool(several) is any(later for _, later in rows)
        assert len(several) <= 1


def test_only_wide_shows_what_is_for_wide() -> None:
    columns = (Column("A", partial(nth, 0)), Column("B", partial(nth, 1), WIDE))
    assert printed(TableLines(columns, 80), [("x", "y")]) == ["A", "x"]
    assert printed(TableLines(columns, None, wide=True), [("x", "y")]) == ["A  B", "x  y"]


@given(st.lists(transitions(), min_size=1, max_size=8), widths, st.booleans())
def test_a_list(found: list[Transition], width: int, stale: bool) -> None:
    mark = Stale(("cluster", "c1"), 5, 4)
    marks = {(one.entity.kind, one.entity.id): mark for one in found[:2]}
    around = Surroundings(marks if stale else {})
    shown = [ListedEntity("", one, around) for one in found]
    described = render.Described(KINDS, "en")
    lines = printed(TableLines(list_.COLUMNS, width), [EntityRow.of(described, one, 2 * 10**18) for one in shown])
    assert_fits(lines, width)
    for record in found:
        assert record.entity.id in " ".join(lines).split()
        words = str(record.entity.facets[0].state).split()
        assert all(letters(word) in letters(*lines) for word in words) or len(found) > 1 or width < 60


@given(st.lists(transitions(), min_size=1, max_size=8), widths)
def test_changes(found: list[Transition], width: int) -> None:
    described = render.Described(KINDS, "en")
    rows = [
        Change(one.entity.kind, one.entity.id, None if one.before is None else {"phase": one.before},
               {"phase": one.after}, 3, 1, 5, 7)
        for one in found
    ]  # fmt: skip
    lines = printed(TableLines(changes.COLUMNS, width), [changes.ChangeRow(described, "", one) for one in rows])
    assert_fits(lines, width)
    for change in rows:
        assert change.id in " ".join(lines).split()


@given(st.lists(transitions(), min_size=1, max_size=8), widths)
def test_a_history_says_what_became_of_it_and_who_did_it(found: list[Transition], width: int) -> None:
    rows = [
        history.HistoryRow(KINDS, history.TransitionSpan(one, None, 2 * 10**18), one, "en", None, width)
        for one in found
    ]
    lines = printed(TableLines(history.COLUMNS, width), rows)
    assert_fits(lines, width)
    words = " ".join(lines).split()
    for one in found:
        who = one.cause.source if one.cause.by == "event" else one.cause.origin or ""
        assert one.after.phase in words
        assert any(who in word for word in words) or not who.isascii()


@given(st.lists(transitions(), min_size=1, max_size=8))
def test_a_narrow_history_says_the_reason_of_each_state(found: list[Transition]) -> None:
    told = []
    for one in found:
        entity = replace(one.entity, names=("phase", "sync"), facets=(*one.entity.facets, *one.entity.facets))
        told.append(replace(one, entity=entity, reason="KubeletStopped", message="no lease since then"))
    rows = [history.HistoryRow(KINDS, history.TransitionSpan(one, None), one, "en", None, 80) for one in told]
    lines = printed(TableLines(history.COLUMNS, 80), rows)
    assert " ".join(lines).count("KubeletStopped") == len(found)


@given(st.lists(transitions(), min_size=1, max_size=4))
def test_a_new_column_is_an_entry_of_a_tuple(found: list[Transition]) -> None:
    def cause(row: EntityRow) -> Text:
        return Text(row.shown.record.trigger)

    rows = [EntityRow.of(render.Described(KINDS, "en"), ListedEntity("", one), 2 * 10**18) for one in found]
    lines = printed(TableLines((*list_.COLUMNS, Column("TRIGGER", cause)), None), rows)
    assert lines[0].endswith("  TRIGGER")
    assert all(line.endswith("  created") for line in lines[1:])


def test_the_columns_of_a_table_have_different_titles() -> None:
    for columns in (list_.COLUMNS, changes.COLUMNS, history.COLUMNS, timeline.INTERVALS, render.RECORD):
        titles = [one.title for one in columns]
        assert len({*titles}) == len(titles)
        assert any(one.worth == ALWAYS for one in columns)


@given(st.lists(st.tuples(texts, st.sampled_from(["", "red"])), min_size=1, max_size=6), widths)
def test_a_line_of_a_table_is_painted_as_its_text(cells: list[tuple[str, str]], width: int) -> None:
    codes = {"": ("", ""), "red": ("<", ">"), "bold": ("", "")}
    row = [Text(text, style) for text, style in cells]
    columns = [Column(str(at), partial(taken, at), wraps=at % 2 == 0) for at in range(len(row))]
    painted = printed(TableLines(columns, width, partial(Text.painted, codes=codes)), [row])
    plain = [line.translate({60: None, 62: None}).rstrip(" ") for line in painted]  # a painted blank stays at the end
    assert plain == [line.rstrip(" ") for line in printed(TableLines(columns, width), [row])]


def test_a_text_is_painted_anew_for_other_codes() -> None:
    """Two screens of a process may share a text."""
    text, bright, pale = Text("a", "red"), {"red": ("<", ">")}, {"red": ("(", ")")}
    assert [text.painted(codes) for codes in (bright, pale, None, bright)] == ["<a>", "(a)", "a", "<a>"]


@given(st.text(max_size=12))
def test_nothing_that_steers_a_terminal_is_in_a_text(said: str) -> None:
    whole = Text.assemble(said, Text(said, "red"))
    assert (
        re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", whole.painted({"": ("", ""), "red": ("", "")}))
        is None
    )


def test_wide_and_combining_characters_have_their_width() -> None:
    assert [Text(text).width for text in ("abc", "集群", "e\u0301", "\u200b", "é")] == [3, 4, 1, 0, 1]
    columns = (Column("A", partial(nth, 0)), Column("B", partial(nth, 1)))
    assert printed(TableLines(columns, 80), [("集群", "x"), ("e\u0301", "y")]) == [
        "A     B",
        "集群  x",
        "e\u0301     y",
    ]


@given(transitions() | rejections(), widths)
def test_a_record_says_all_in_any_width(record: Transition | Rejection, width: int) -> None:
    row = render.RecordRow(KINDS, 4711, record, width)
    line = Text(GAP).join(filter(None, [column.cell(row) for column in render.RECORD]))
    lines = [one.plain for one in line.wrapped(width, indent=layout.INDENT)]
    assert_fits(lines, width)
    assert letters(*lines) == letters(line.plain)


@given(st.recursive(texts.map(lambda text: [text]), lambda below: st.lists(below, min_size=1, max_size=4)), widths)
def test_a_tree(found: list[object], width: int) -> None:
    top = Branch(Text("top"))
    said: list[str] = []

    def grow(branch: Branch, parts: list[object]) -> None:
        for part in parts:
            if isinstance(part, str):
                said.append(part)
                branch.add(Text(part))
            else:
                grow(branch.add(Text("node c1/pool-a/n7  Running [Ok]")), part)  # type: ignore[arg-type]

    grow(top, found)
    lines = [line.plain for line in layout.drawn(top, width)]
    assert letters(*lines).endswith(letters(*said[-1:]))
    assert sorted(letters(*lines)) == sorted(letters(*(line.plain for line in layout.drawn(top, None))))


@given(texts, widths)
def test_wrapping_loses_no_word(text: str, width: int) -> None:
    lines = [line.plain for line in Text(text, "bold").wrapped(width)]
    assert_fits(lines, width)
    assert letters(*lines) == letters(text)
    if text.isascii():
        assert " ".join(" ".join(lines).split()) == " ".join(text.split())


@given(st.lists(st.tuples(st.sampled_from(["", "bold", "red"]), texts), max_size=5), st.integers(0, 80), widths)
def test_styles_stay_with_their_characters(parts: list[tuple[str, str]], end: int, width: int) -> None:
    text = Text.of((piece, style) for style, piece in parts)
    assert (text[:end].plain, text[end:].plain) == (text.plain[:end], text.plain[end:])
    characters = [(letter, style) for piece, style in text.parts for letter in piece]
    shown = text.clipped(width)
    assert shown.width <= width or not width
    clipped = [(letter, style) for piece, style in shown.parts for letter in piece]
    kept = len(clipped) - (shown is not text)
    assert clipped[:kept] == characters[:kept]
    ends = [end for _, end in styled._breaks(text.plain)]
    assert all(one < other for one, other in pairwise(ends))
