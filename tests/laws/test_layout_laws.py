"""What terminals of any width are shown: no line is wider, no word and no id is broken (engine/cli/layout.py)."""

from collections.abc import Iterable
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.cells.one_cell import InCell
from phaseline.engine.cli import changes, layout, list_, render, styled
from phaseline.engine.cli.layout import ALWAYS, Branch, Column, Grid, Lines
from phaseline.engine.cli.list_ import Shown
from phaseline.engine.cli.styled import ELLIPSIS, TableLine, Text, width_of
from phaseline.engine.log.changes import Change
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


def assert_fits(lines: Iterable[Text], width: int) -> list[str]:
    found = [line.plain for line in lines]
    assert [line for line in found if width_of(line) > width] == []
    return found


def assert_words_are_whole(line: str, *said: str) -> None:
    """All words of a line are words of what it is made of. Chinese may be cut between characters."""
    whole = {word for text in said for word in text.split()} | {ELLIPSIS}
    for word in line.split():
        assert word in whole or not word.isascii(), (word, line)


@given(st.lists(transitions(), min_size=1, max_size=8), widths, st.booleans())
def test_a_list(found: list[Transition], width: int, stale: bool) -> None:
    shown = [Shown("", one, 5 if stale and number < 2 else None) for number, one in enumerate(found)]
    columns = list_.columns(shown, stale=stale)
    rows = [list_.row(render.Described(KINDS, "en"), one, 2 * 10**18, stale=stale) for one in shown]
    lines = assert_fits(Grid(columns, rows).lines(width), width)
    assert len(lines) == len(found) + 1
    whole = [*Grid(columns, rows).lines(None)]
    for line, uncut, record in zip(lines[1:], whole[1:], found, strict=True):
        if width_of(record.entity.id) <= width:
            assert record.entity.id in line.split()
            assert_words_are_whole(line, uncut.plain)


@given(st.lists(transitions(), min_size=1, max_size=8), widths)
def test_changes(found: list[Transition], width: int) -> None:
    rows = [
        Change(one.entity.kind, one.entity.id, None if one.before is None else {"phase": one.before},
               {"phase": one.after}, 3, 1, 5, 7)
        for one in found
    ]  # fmt: skip
    lines = assert_fits(changes.table(KINDS, [InCell("", one) for one in rows]).lines(width), width)
    for line, change in zip(lines[1:], rows, strict=True):
        assert change.id in line.split() or width_of(change.id) > width


@given(st.lists(st.tuples(texts, st.sampled_from(["", "red"]), st.integers(-4, 4)), min_size=1, max_size=6))
def test_a_line_of_a_table_is_painted_as_its_text(cells: list[tuple[str, str, int]]) -> None:
    codes = {"": ("", ""), "red": ("<", ">")}
    row, widths = (
        [Text(text, style) for text, style, _ in cells],
        [max(1, width_of(text) + more) for text, _, more in cells],
    )
    line = TableLine(cells=row, widths=widths)
    for _ in range(2):
        assert line.painted(codes) == line.joined.painted(codes).rstrip(" ")
    for cell, width in zip(row, widths, strict=True):
        assert width_of(cell.placed(width, dict.fromkeys(codes, ("", "")))) == width
    without = dict.fromkeys(codes, ("", ""))
    assert line.plain.rstrip() == line.painted(without).rstrip()


@given(st.lists(st.tuples(texts, words, texts, words), min_size=2, max_size=6), widths)
def test_cells_that_no_line_shows_may_be_empty(rows: list[tuple[str, str, str, str]], width: int) -> None:
    columns = [Column("A", 30, may_cut=True), Column("B", 20), Column("C", 90, may_cut=True), Column("D")]
    lines, others = Lines(columns, width), Lines(columns, width)
    first, *rest = ([*map(Text, row)] for row in rows)
    for one in (lines, others):
        assert not one.hidden
        one.add(first)
        one.settle()
    for row in rest:
        seen = [Text() if column.title in lines.hidden else cell for column, cell in zip(columns, row, strict=True)]
        assert [line.plain for line in others.add(seen)] == [line.plain for line in lines.add(row)]


def test_a_placed_text_is_kept_for_the_codes_that_it_was_made_with() -> None:
    """Two screens of a process may share a text."""
    text, bright, pale = Text("a", "red"), {"red": ("<", ">")}, {"red": ("(", ")")}
    assert text.placed(3, bright) == "<a>  "
    assert text.painted(pale) == "(a)"
    assert text.placed(3, pale) == "(a)  "
    assert text.placed(2, pale) == "(a) "


@given(transitions() | rejections(), widths)
def test_a_record_in_a_line(record: Transition | Rejection, width: int) -> None:
    line = render.line(KINDS, 4711, record, width)
    (cut,) = assert_fits([line.clipped(width)], width)
    if width_of(line.plain.split()[0]) < width - 5:
        assert_words_are_whole(cut, line.plain)


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
    levels = max(line.plain.count("│   ") + line.plain.count("    ") for line in layout.drawn(top, None))
    for wraps in (False, True):
        lines = [line.plain for line in layout.drawn(top, width, wraps=wraps)]
        if width > 4 * levels + 12:
            assert max(map(width_of, lines)) <= width
        for line in lines:
            shown = line.translate(str.maketrans("", "", "│├└─"))
            if width > 4 * levels + 12:
                assert_words_are_whole(shown, *said, "top node c1/pool-a/n7 Running [Ok]")


@given(texts, widths)
def test_wrapping_loses_no_word_that_fits(text: str, width: int) -> None:
    lines = assert_fits(Text(text, "bold").wrapped(width), width)
    if all(width_of(word) <= width for word in text.split()):
        assert "".join("".join(lines).split()) == "".join(text.split())
        if text.isascii():
            assert " ".join(" ".join(lines).split()) == " ".join(text.split())


@given(st.lists(st.tuples(words, words, words), max_size=6), widths)
def test_a_small_table_wraps(rows: list[tuple[str, str, str]], width: int) -> None:
    table = Grid.small("PATH", "GIT", "CLUSTER")
    for row in rows:
        table.add_row(*map(Text, row))
    lines = assert_fits(table.lines(width), width)
    if all(width_of(word) * 3 + 4 <= width for row in rows for cell in row for word in cell.split()) and width > 30:
        assert sorted(" ".join(lines).split()) == sorted(
            " ".join(["PATH GIT CLUSTER", *(" ".join(r) for r in rows)]).split()
        )


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 99), st.booleans()), min_size=1, max_size=8), widths)
def test_of_two_columns_the_one_of_less_worth_is_left_out(found: list[tuple[int, int, bool]], width: int) -> None:
    columns = [Column("", ALWAYS), *(Column("", worth, may_cut) for _, worth, may_cut in found)]
    needed = [5, *(need for need, _, _ in found)]
    chosen = layout.fitting(columns, needed, width)
    assert chosen[0] == 5
    shown = [at for at, one in enumerate(chosen) if one is not None]
    left_out = [at for at, one in enumerate(chosen) if one is None]
    assert all(columns[a].worth >= columns[b].worth for a in shown for b in left_out)
    total = sum(chosen[at] or 0 for at in shown) + len(styled.GAP) * (len(shown) - 1)
    assert total <= width or shown == [0]
    for at in shown:
        assert chosen[at] == needed[at] or (columns[at].may_cut and (chosen[at] or 0) >= min(needed[at], layout.LEAST))
    assert layout.fitting(columns, needed, None) == needed


@given(st.lists(st.tuples(st.sampled_from(["", "bold", "red"]), texts), max_size=5), st.integers(0, 80), widths)
def test_styles_stay_with_their_characters(parts: list[tuple[str, str]], end: int, width: int) -> None:
    text = Text.of((piece, style) for style, piece in parts)
    assert (text[:end].plain, text[end:].plain) == (text.plain[:end], text.plain[end:])
    letters = [(letter, style) for piece, style in text.parts for letter in piece]
    cut = [(letter, style) for piece, style in text.cut(width).parts for letter in piece]
    kept = (
        len(cut) if text.width <= width else len("".join(letter for letter, _ in cut).removesuffix(ELLIPSIS).rstrip())
    )
    assert cut[:kept] == letters[:kept]
    ends = [end for _, end in styled._breaks(text.plain)]
    assert all(one < other for one, other in pairwise(ends))
