"""Questions over random histories: what workers say and what a reader finds by itself is the same, whoever is asked.

Belongs here: laws of selecting, of the index, of pages and counts. Does not: the service on a server
(`tests/nats/test_questions.py`).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.core.tree import Tree, evolve
from phaseline.engine.log.installation import Installation
from phaseline.engine.log.questions import answering
from phaseline.engine.log.questions.answering import IndexedPartition, Questions
from phaseline.engine.log.questions.question import OwnerAnswer, Question, decode, encode, meaning_of
from phaseline.engine.log.questions.selection import ClassChoice, Selection
from phaseline.engine.log.questions.selector import Selector
from phaseline.engine.log.questions.tree_index import TreeIndex
from phaseline.engine.surfaces.overview.overview import Overview, OverviewMaker, as_map, overview
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import CLASSES
from phaseline.schemas import wire_codec
from phaseline.schemas.records import SECOND, Record, Transition
from phaseline.schemas.state_choice import StateChoice
from phaseline.schemas.templates.reading import read_entities
from tests.support import edge_worlds
from tests.support.built_in_kinds import family as kinds_of
from tests.support.strategies import History, histories, hold

T = TypeVar("T")
FAMILIES = {"edge hosting": edge_worlds.KINDS, "gitops": kinds_of("gitops")}
family = pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))
Last = dict[tuple[str, str], Transition]


class Memory:
    """A partition as its owner holds it; its tree grows by records."""

    number, worker, epoch = 0, "w", 3

    def __init__(self, kinds: Kinds) -> None:
        self.tree: Tree = Tree(kinds, NoScripts())
        self.last: Last = {}

    def take(self, record: Record) -> None:
        evolve(self.tree, record)
        if isinstance(record, Transition):
            self.last[record.entity.kind, record.entity.id] = record

    async def look(self, ask: Callable[[Tree], T]) -> tuple[T, int]:
        return ask(self.tree), len(self.last)


def asked(kinds: Kinds, room: int = 1 << 20) -> tuple[Memory, Questions, IndexedPartition]:
    wire = SimpleNamespace(max_payload=room)
    installation = cast("Installation", SimpleNamespace(kinds=kinds, wire=wire))
    memory = Memory(kinds)
    return memory, Questions(installation, Counter()), IndexedPartition(memory, installation)


def records(history: History) -> Iterator[Record]:
    return (record for step in history.steps for record in step.records)


async def told(questions: Questions, indexed: IndexedPartition, question: Question) -> list[OwnerAnswer]:
    """The pages of the answer, as a reader gets them."""
    pages, after, epoch = list[OwnerAnswer](), None, 0
    while not pages or after is not None:
        body = encode(
            Question(question.wanted, question.now_ns, question.meaning, after, epoch, counts=question.counts)
        )
        page = decode(encode(await questions.answer(indexed, body)), OwnerAnswer)
        pages.append(page)
        after, epoch = page.after, page.epoch
    return pages


def names(found: list[OwnerAnswer]) -> list[tuple[str, str]]:
    return [(one.kind, one.id) for page in found for one in page.names]


SELECTORS = ("", "labels.a=b", "autoscaling_mode=Recycle", "!context", "version=1", "project", "heard_at")
NOW = 10_000 * SECOND


@st.composite
def selections(draw: st.DrawFn, kinds: Kinds) -> Selection:
    """Selections of what there may be."""
    states = [
        (label.phase, label.condition) for kind in kinds.values() for f in kind.table.facets for label in f.labels
    ]
    phase, condition = draw(st.sampled_from(states))
    text = draw(st.sampled_from(SELECTORS))
    return Selection(
        kind=draw(st.none() | st.sampled_from(list(kinds))),
        below=draw(st.sampled_from((None, None, "c1", "a1", "c1/n1", "c2"))),
        choice=draw(st.sampled_from((
            StateChoice(), StateChoice(), StateChoice(phase), StateChoice(None, frozenset({condition or "Ok"})),
            StateChoice(phase, frozenset({condition} if condition else ()), exact=True),
        ))),
        of_class=ClassChoice(
            frozenset(draw(st.sets(st.sampled_from(CLASSES), max_size=2))),
            draw(st.sampled_from((0, 0, 9_960 * SECOND, 9_990 * SECOND))),
        ),
        selector=Selector.read(text) if text else Selector(),
        deleted=draw(st.booleans()), left_behind=draw(st.sampled_from((False, False, True))),
        troubled=draw(st.sampled_from((False, False, True))),
    )  # fmt: skip


def workers_select_what_a_reader_would(kinds: Kinds, history: History, wanted: list[Selection], room: int) -> None:
    """At each place at which it is asked, whatever was asked before, in pages of any size."""
    memory, questions, indexed = asked(kinds, room)

    async def play() -> None:
        for at, record in enumerate(records(history)):
            memory.take(record)
            if at % 7 == 3:
                one = wanted[at % len(wanted)]
                said = names(await told(questions, indexed, Question(one, NOW, meaning_of(kinds, one.kind))))
                assert len(said) == len(set(said))
                fitting = {key for key, last in memory.last.items() if one.selects(kinds, last.entity, NOW)}
                assert {key for key in said if one.selects(kinds, memory.last[key].entity, NOW)} == fitting
                whole = {key for key in said if one.selects(kinds, memory.tree.entities[key[0]][key[1]], NOW)}
                assert whole == set(said)

    asyncio.run(play())


def overviews_agree(kinds: Kinds, history: History) -> None:
    memory, questions, indexed = asked(kinds)

    async def play() -> None:
        for at, record in enumerate(records(history)):
            memory.take(record)
            if at % 11 == 5:
                entity_id = next(reversed(memory.last))[1]
                for tree in (None, entity_id.partition("/")[0], "nowhere"):
                    wanted = Selection(below=tree, troubled=True)
                    pages = await told(questions, indexed, Question(wanted, NOW, meaning_of(kinds), counts=True))
                    assert as_map(by_workers(kinds, pages, memory.last)) == as_map(
                        by_reading(kinds, wanted, memory.last)
                    )

    asyncio.run(play())


def by_workers(kinds: Kinds, pages: list[OwnerAnswer], last: Last) -> Overview:
    maker, known = OverviewMaker(kinds, NOW), set[tuple[str, str]]()
    assert pages[0].counts is not None
    maker.add(pages[0].counts)
    for name in names(pages):
        maker.notice(last[name])
    while lacking := maker.lacking() - known:
        known |= lacking
        for name in sorted(lacking & last.keys()):
            maker.consider(last[name])
    return maker.made()


def by_reading(kinds: Kinds, wanted: Selection, last: Last) -> Overview:
    within = [one for one in last.values() if wanted.is_within(one.entity)]
    return overview(kinds, within, NOW, beside=[one for one in last.values() if not wanted.is_within(one.entity)])


def quick_looks_hide_nothing(kinds: Kinds, history: History, wanted: list[Selection]) -> None:
    """Whether records are stored as msgpack or as JSON, with what reads entities alone as well."""
    moved = [record for record in records(history) if isinstance(record, Transition)]
    wires = [wire_codec.to_wire(record, 0, 1, "phaseline/t") for record in moved]
    for as_json in (False, True):
        for record, body in zip(moved, wire_codec.bodies(moved, wires, as_json=as_json), strict=True):
            [after] = read_entities([body])
            assert after.entity is not None
            for one in wanted:
                assert one.selects(kinds, after.entity, NOW) == one.selects(kinds, record.entity, NOW)
                assert one.quick_look()(body) or not one.selects(kinds, record.entity, NOW)


@family
def test_a_quick_look_hides_nothing_that_is_selected(kinds: Kinds) -> None:
    drawn = st.tuples(histories(kinds), st.lists(selections(kinds), min_size=1, max_size=6))
    hold(lambda one: quick_looks_hide_nothing(kinds, *one), drawn, "dear")


@family
def test_workers_select_what_a_reader_would(kinds: Kinds) -> None:
    rooms = st.sampled_from((1 << 20, answering.ROOM + 1, answering.ROOM + 400))
    drawn = st.tuples(histories(kinds), st.lists(selections(kinds), min_size=1, max_size=6), rooms)
    hold(lambda one: workers_select_what_a_reader_would(kinds, *one), drawn, "dear")


@family
def test_overviews_agree(kinds: Kinds) -> None:
    hold(lambda history: overviews_agree(kinds, history), histories(kinds), "dear")


@family
def test_an_index_that_is_made_in_steps_is_the_same(kinds: Kinds) -> None:
    """The tree changes between any two steps."""

    def same(drawn: tuple[History, Selection]) -> None:
        history, wanted = drawn
        memory, index = Memory(kinds), TreeIndex(kinds)
        left = records(history)
        preparing: Iterator[None] = iter(())
        for record in left:
            memory.take(record)
            if next(preparing, memory) is memory:
                preparing = index.prepare(memory.tree)
        for _ in preparing:
            pass
        index.catch_up(memory.tree)
        new = TreeIndex(kinds)
        new.catch_up(memory.tree)
        assert (len(index), index.classes(), index.lately(NOW // 2)) == (len(new), new.classes(), new.lately(NOW // 2))
        assert index.trees(100) == new.trees(100)
        for kind in index.kinds_from(wanted, None):
            assert index.candidates(kind, wanted, NOW, 0) == new.candidates(kind, wanted, NOW, 0)

    hold(same, st.tuples(histories(kinds), selections(kinds)), "dear")


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5))
def test_an_answer_counts_if_it_is_as_new_as_the_log_was(epoch: int, position: int, last: int, decided: int) -> None:
    from phaseline.engine.log.checkpoint import Checkpoint
    from phaseline.engine.log.questions.asking import counts_as

    counts: Any = counts_as(epoch, position, Checkpoint(epoch=last, position=decided))
    assert counts is ((epoch, position) >= (last, decided))
