"""docs/spec/edge-hosting.md and the tables of edge hosting say the same, row by row, in both directions."""

import re
from collections import Counter

import pytest

from phaseline.machines.compiler import labels
from phaseline.machines.compiler.conditions import returns
from phaseline.machines.language.table import Pending
from phaseline.schemas.records import State
from tests.support import spec_edge_hosting as spec
from tests.support import spec_edge_moves as ours
from tests.support import spec_edge_page as page
from tests.support.built_in_kinds import BUILT_IN_KINDS, KINDS_OF_PRODUCT

KINDS = tuple(page.TITLES)
CLEANUP = ("resources", "failed_resources")
"""Attributes of all kinds, of which the head of the page speaks."""


def test_no_kind_of_edge_hosting_is_left_out() -> None:
    assert set(KINDS) == set(spec.ID) == set(KINDS_OF_PRODUCT["edge-hosting"])


@pytest.mark.parametrize("kind", KINDS)
def test_the_moves(kind: str) -> None:
    written, compiled = page.moves(kind), {*ours.moves(BUILT_IN_KINDS[kind])}
    assert [move for move, count in Counter(written).items() if count > 1] == [], "the page says it twice"
    assert sorted(compiled - set(written)) == [], "the page does not have it"
    assert sorted(set(written) - compiled) == [], "the table does not have it"


@pytest.mark.parametrize("kind", KINDS)
def test_the_views(kind: str) -> None:
    assert page.views(kind) == [*ours.views(BUILT_IN_KINDS[kind])]


@pytest.mark.parametrize("kind", KINDS)
def test_the_labels(kind: str) -> None:
    assert page.labels(kind) == [*ours.labels(BUILT_IN_KINDS[kind])]
    facet = BUILT_IN_KINDS[kind].table.facets[0]
    for phase, condition, zh, en, *takes in page.labels(kind):
        state = State(phase, (condition,))
        assert [labels.label_of(facet, state, language) for language in ("zh", "en")] == [zh, en]
        assert labels.schedulable(facet, state) == {(): None, ("yes",): True, ("no",): False}[tuple(takes)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_cascades(kind: str) -> None:
    assert page.cascades(kind) == [*ours.cascades(BUILT_IN_KINDS[kind])]


@pytest.mark.parametrize("kind", KINDS)
def test_the_roles(kind: str) -> None:
    written = BUILT_IN_KINDS[kind].written
    assert page.words(kind) == (
        set(written.intents) | ({"configure"} if written.place else set()),
        set(written.derived),
    )
    derived = {
        row["trigger"].strip("*") for row in page.tables(page.sections()[kind], "trigger") if "*" in row["trigger"]
    }
    assert derived == set(written.derived)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_head_of_the_page_says(kind: str) -> None:
    [row] = [one for one in page.tables(page.sections()[""], "kind") if one["kind"] == f"`{kind}`"]
    compiled = BUILT_IN_KINDS[kind]
    [facet] = compiled.table.facets[: compiled.own]
    parts = {"node_pool": "pool"}
    assert row == {
        "kind": f"`{kind}`",
        "id": "`" + "/".join(f"<{parts.get(part, part)}>" for part in compiled.table.id) + "`",
        "parent": f"`{compiled.parent}`" if compiled.parent else "none",
        "accumulating phase": facet.accumulates_in,
        "sticky conditions": ", ".join(facet.sticky) or "none",
    }
    assert facet.healthy == "Running"
    assert page.interrupted(kind) == {under: end for under, end in returns(facet).items() if end != facet.healthy}


def test_the_order_of_a_nodes_labels() -> None:
    found = re.search(r"first of these: ([^.]*)\.", page.sections()["node"])
    assert found is not None
    order, facet = found[1].replace("\n", " ").split(", "), BUILT_IN_KINDS["node"].table.facets[0]
    assert tuple(order) == facet.order
    names = {row[1]: row[3] for row in page.labels("node") if row[0] == "Failed"}
    assert names.keys() <= {*order}
    for base in BUILT_IN_KINDS["node"].bases[0]:
        if base.phase == "Failed":
            first = next(one for one in order if one in base.conditions)
            assert labels.label_of(facet, base, "en") == names[first]


def test_the_deadlines() -> None:
    head = page.sections()[""].replace("\n", " ")
    for kind in KINDS:
        for one in BUILT_IN_KINDS[kind].written.facets[0].pending:
            assert isinstance(one, Pending)
            [named] = re.findall(rf"{one.deadline:g} s for ([\w, ]+?)(?:, and|\.)", head)
            assert one.phase in re.split(r", | and ", named)


def test_the_attributes_of_a_node_pool() -> None:
    [found] = re.findall(r"^Attributes: (.*(?:\n.+)*)", page.sections()["node_pool"], flags=re.MULTILINE)
    attributes = BUILT_IN_KINDS["node_pool"].table.attributes
    assert re.findall(r"`(\w+)` \((\w+)", found) == [
        (field.name, {bool: "bool", str: "text", int: "number"}[field.type])
        for field in attributes
        if field.name not in ("deadline", "silence_after", "silence_below", "heard_at", "signals", *CLEANUP)
    ]


def test_a_notation_that_is_not_known_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = "Node\n\n| phase |\n|---|\n| Running |\n\n| trigger | from | base becomes |\n|---|---|---|\n| x | Running | {} |\n"
    for cell, fine in (("Running", True), ("Running, mostly", False), ("Running [A, B]", False)):
        monkeypatch.setattr(page, "sections", lambda cell=cell: {"node": odd.format(cell)})
        if fine:
            assert len(page.moves("node")) == 1
        else:
            with pytest.raises(page.UnknownNotation):
                page.moves("node")
