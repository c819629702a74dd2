"""Kinds whose tables were checked before are compiled when somebody asks for more than readers of states need.

Belongs here: when tables are checked and compiled. Does not: what a check finds (`test_wrong_tables`).
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from phaseline.engine.core.process import Processor
from phaseline.engine.core.tree import Tree
from phaseline.engine.log.questions.question import meaning_of
from phaseline.engine.log.watch import RecordFilter, chosen
from phaseline.engine.surfaces.cli.names import state_spelt
from phaseline.machines.built_in import BUILT_IN, PRODUCTS, SOUND
from phaseline.machines.compiler import checks, reachability
from phaseline.machines.compiler import kinds as compiler
from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds, table_of
from phaseline.machines.compiler.machine import FacetMachine
from phaseline.machines.kinds.edge_hosting.cluster import CLUSTER
from phaseline.machines.kinds.fleet.git_repo import GIT_REPO
from phaseline.machines.language import product
from phaseline.machines.language.product import LateTable, Product
from phaseline.machines.language.scripts import NoScripts
from phaseline.machines.language.table import DELETED, LIVE, Facet, Label, Row, Table
from phaseline.schemas.records import State
from phaseline.schemas.state_choice import StateChoice
from phaseline.schemas.subjects import Subjects
from tests.support.built_in_kinds import BUILT_IN_KINDS


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the facets that are compiled from now on."""
    names: list[str] = []

    def build(facet: Facet) -> FacetMachine:
        names.append(facet.name)
        return FacetMachine(facet)

    monkeypatch.setattr(compiler, "FacetMachine", build)
    return names


def lamp(parent: str | None = None, begins: str = "Absent") -> Table:
    facet = Facet(
        name="phase",
        labels=(Label("On", "Ok", "On"),),
        rows=(Row((begins,), "lit", "On"), Row((LIVE,), "broke", DELETED)),
    )
    return Table(
        kind="lamp", id=("cluster", "lamp") if parent else ("lamp",), parent=parent, intents=("lit",), facets=(facet,)
    )


def test_the_built_in_tables_work() -> None:
    """Elsewhere they count as checked."""
    assert Kinds(BUILT_IN).digest == SOUND, "run `python3 dev.py generate`: it sets SOUND"


def test_only_kinds_that_are_needed_are_compiled(built: list[str]) -> None:
    kinds = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS)
    assert [(kind.name, kind.arity, kind.parent, kind.parent_arity, kind.written) for kind in kinds.values()] == [
        (kind.name, kind.arity, kind.parent, kind.parent_arity, kind.written) for kind in BUILT_IN_KINDS.values()
    ]
    assert (kinds.hidden, kinds.path("cluster", "node")) == (BUILT_IN_KINDS.hidden, ("node_pool", "node"))
    assert built == []
    assert kinds["node_pool"].machines
    assert built == [*kinds["node_pool"].names]


def test_a_named_table_says_what_it_is_before_it_is_loaded() -> None:
    for late in BUILT_IN:
        assert isinstance(late, LateTable)
        table = table_of(late)
        assert (table.kind, table.id, table.parent) == (late.kind, late.id, late.parent)


def test_reading_a_kind_loads_the_tables_of_its_tree_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load(name: str) -> object:
        loaded.append(name.partition(":")[2])
        return product.load(name)

    monkeypatch.setattr(compiler, "load", load)
    kinds = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS)
    assert (kinds["resource"].arity, kinds["node"].parent_arity, kinds.children("cluster")) == (
        5, 2, ("node_pool", "component"),
    )  # fmt: skip
    assert kinds["node"].misfit("c1/n1") == "the id 'c1/n1' does not fit node, whose ids are <cluster>/<pool>/<node>"
    assert not kinds["node"].misfit("c1/p/n1")
    assert kinds.path("cluster", "node") == ("node_pool", "node")
    assert loaded == []
    assert kinds["node"].table.kind == "node"
    assert sorted(loaded) == ["CLUSTER", "COMPONENT", "NODE", "NODE_POOL"]


def test_a_kind_whose_table_is_loaded_late_is_the_same() -> None:
    """What an engine adds to a table depends on no other tree."""
    kinds, all_at_once = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS), Kinds(BUILT_IN, products=PRODUCTS)
    for name, at_once in all_at_once.items():
        kind = kinds[name]
        assert kind.written is at_once.written
        for each in compiler.FOR_READING:
            assert repr(getattr(kind, each)) == repr(getattr(at_once, each)), f"{name}.{each}"
        kind.compile()
        for each in ("below", "births", "deadlines_above", "fired_by", "implied", "inherited", "reports", "viewers"):
            assert getattr(kind, each) == getattr(at_once, each), f"{name}.{each}"
    assert (kinds.hidden, kinds.digest) == (all_at_once.hidden, all_at_once.digest)


def test_beside_a_new_table_all_are_loaded() -> None:
    """It is checked against the others."""
    kinds = Kinds((*BUILT_IN, lamp("cluster")), checked=BUILT_IN, products=PRODUCTS)
    assert kinds["cluster"].below == ("node_pool", "node", "component", "lamp")


def test_a_ban_that_cannot_be_loaded_lets_nothing_in() -> None:
    kinds = Kinds(BUILT_IN, checked=BUILT_IN, products=(Product("odd", bans=("phaseline.nowhere:BAN",)),))
    for ask in (kinds.check, lambda: kinds.bans, lambda: Processor(Tree(kinds, NoScripts()), Subjects("pl"), 0)):
        with pytest.raises(ModuleNotFoundError):
            ask()


def test_reading_states_compiles_nothing(built: list[str]) -> None:
    kinds = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS)
    Tree(kinds, NoScripts())
    before = {kind.name: {name: getattr(kind, name) for name in compiler.FOR_READING} for kind in kinds.values()}
    kinds.check()
    assert built == []
    for kind in kinds.values():  # what was handed out stays: labels are kept by their facets
        assert all(getattr(kind, name) is value for name, value in before[kind.name].items())
        assert kind.table.facets == tuple(machine.facet for machine in kind.machines)


def test_a_compiled_kind_has_no_attribute_that_python_looks_for_in_vain() -> None:
    """With `__getattr__`, every access to an attribute takes the slow way, whether it calls that or not."""
    kinds = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS)
    late = kinds["node"]
    with pytest.raises(AttributeError, match="a Kind has no 'odd'"):
        late.odd  # type: ignore[attr-defined]  # noqa: B018
    assert late.machines
    assert late is kinds["node"]
    assert type(late) is compiler.Kind
    assert not hasattr(compiler.Kind, "__getattr__")


@pytest.mark.parametrize(
    "wanted",
    [
        RecordFilter(),
        RecordFilter(kind="node", below="c1", choice=StateChoice.read(None, ())),
        RecordFilter(kind="node", state="Failed"),
        RecordFilter(state="Failed"),
        RecordFilter(kind="node", facet="phase", choice=StateChoice.read(None, ("Balance",))),
    ],
)
def test_a_reader_compiles_no_kind_whose_names_it_checks(built: list[str], wanted: RecordFilter) -> None:
    """To compile all kinds takes a third of the time in which a command starts."""
    kinds = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS)
    wanted.check(kinds)
    chosen(kinds, wanted.kind, wanted.state, ())
    state_spelt("failed", kinds, wanted.kind)
    assert built == []


def test_what_the_states_of_a_kind_mean_is_said_by_the_tables_of_its_tree() -> None:
    """To read those of all trees takes a third of the time of a list that a worker answers."""
    cluster = replace(BUILT_IN_KINDS["cluster"].written, silence_after=77)
    tables = [cluster if kind.name == "cluster" else kind.written for kind in BUILT_IN_KINDS.values()]
    changed = Kinds(tables)
    for kind, is_same in (("cluster", False), ("node", False), ("git_repo", True), ("resource", True), (None, False)):
        assert (meaning_of(changed, kind) == meaning_of(BUILT_IN_KINDS, kind)) is is_same, kind
    assert meaning_of(BUILT_IN_KINDS, "node") != meaning_of(BUILT_IN_KINDS, "resource")
    assert meaning_of(BUILT_IN_KINDS, "no_kind") == meaning_of(BUILT_IN_KINDS)


def test_bases_are_followed_only_for_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that decides events needs the bases of few kinds."""
    followed, reachable = list[FacetMachine](), reachability.reachable

    def follow(machine: FacetMachine, intents: tuple[str, ...]) -> frozenset[State]:
        followed.append(machine)
        return reachable(machine, intents)

    monkeypatch.setattr(reachability, "reachable", follow)
    kinds = Kinds(BUILT_IN, checked=BUILT_IN, sound=SOUND, products=PRODUCTS)
    kinds["node"].compile()
    assert followed == []
    assert all(len(bases) > 1 for bases in kinds["node"].bases)
    assert followed == list(kinds["node"].machines)


def test_a_kind_compiled_late_is_the_same(built: list[str]) -> None:
    at_once = Kinds(BUILT_IN, products=PRODUCTS)
    built.clear()
    kinds = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS)
    assert (kinds.versions, kinds.digest) == (at_once.versions, at_once.digest)
    assert [kind.bases for kind in kinds.values()] == [kind.bases for kind in at_once.values()]
    count = len(built)
    assert count == sum(len(kind.names) for kind in kinds.values())
    for kind in kinds.values():
        kind.compile()
    assert len(built) == count


def test_new_tables_are_checked_and_compiled_at_once(built: list[str]) -> None:
    assert Kinds((*BUILT_IN, lamp("cluster")), checked=BUILT_IN, products=PRODUCTS)["cluster"].below[-1] == "lamp"
    assert built == ["phase", "contact", "phase", "signals", "contact"]  # of the lamp, then of the cluster
    with pytest.raises(WrongTable, match="it starts from Of, which is unknown"):
        Kinds((*BUILT_IN, lamp(begins="Of")), checked=BUILT_IN, products=PRODUCTS)
    with pytest.raises(WrongTable, match="parent cluster is unknown"):
        Kinds((GIT_REPO, lamp("cluster")), checked=BUILT_IN, products=PRODUCTS)
    with pytest.raises(WrongTable, match="two tables have this kind"):
        Kinds((CLUSTER, CLUSTER, lamp()), checked=BUILT_IN, products=PRODUCTS)


def test_a_process_that_decides_checks_all_tables() -> None:
    wrong = lamp(begins="Of")
    kinds = Kinds((wrong,), checked=(wrong,), products=PRODUCTS)
    with pytest.raises(WrongTable, match="it starts from Of, which is unknown"):
        kinds.check()
    kinds = Kinds((*BUILT_IN, lamp()), checked=BUILT_IN, products=PRODUCTS)
    kinds.check()
    kinds.check()


def test_tables_that_are_known_to_be_sound_are_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Kinds((*BUILT_IN, lamp()), checked=BUILT_IN, sound=SOUND, products=PRODUCTS)
    changed = Kinds((*BUILT_IN, lamp()), checked=BUILT_IN, sound=SOUND[::-1], products=PRODUCTS)

    def never(_: Table) -> None:
        raise AssertionError("a table is checked")

    monkeypatch.setattr(checks, "check_table", never)
    known.check()
    assert known.versions == BUILT_IN_KINDS.versions | {"lamp": known["lamp"].version}
    with pytest.raises(AssertionError, match="a table is checked"):
        changed.check()


def test_two_threads_may_need_a_kind_at_once(built: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker may decide in a thread while its event loop reads states."""
    kinds, both = Kinds(BUILT_IN, checked=BUILT_IN, products=PRODUCTS), threading.Barrier(2, timeout=60)

    def together(facet: Facet) -> FacetMachine:
        built.append(facet.name)
        both.wait()
        return FacetMachine(facet)

    def created(_: int) -> list[State]:
        cluster = kinds["cluster"]
        steps = cluster.select("create", cluster.unborn, Tree(kinds, NoScripts()), "c", {}).steps
        return [step.result(cluster.unborn[index].base, {}) for index, step in steps]

    monkeypatch.setattr(compiler, "FacetMachine", together)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(created, range(2))) == [[State("Creating", ("Progressing",))]] * 2
    assert sorted(built) == ["contact", "contact", "phase", "phase", "signals", "signals"]


def test_a_version_is_known_before_the_kind_is_compiled(built: list[str]) -> None:
    assert Kinds(BUILT_IN, checked=BUILT_IN).digest == SOUND
    assert built == []
