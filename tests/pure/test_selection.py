"""`-l` and `--sort-by`: what they select and how they order, and what they refuse
(engine/surfaces/client/selection.py)."""

import re
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.engine.log.questions.selector import Selector
from phaseline.engine.surfaces.cli.options import ParsedText
from phaseline.engine.surfaces.client import maps
from phaseline.engine.surfaces.client.selection import FIELDS, in_order
from phaseline.schemas.errors import NameUnknown
from phaseline.schemas.records import Cause, Entity, FacetState, State, Transition
from phaseline.schemas.subjects import natural
from tests.support.built_in_kinds import BUILT_IN_KINDS as KINDS

POOL: dict[str, Any] = {
    "default": True, "autoscaling_mode": "Recycle", "size": 3, "zones": ["a", "b"],
    "labels": {"team": "shop", "tier.level": "1"}, "limits": {"cpu": {"most": 8}},
}  # fmt: skip


def transition(entity_id: str, since: int = 1, **attributes: Any) -> Transition:
    facet = FacetState(State("Running"), State("Running", ("Ok",)), since)
    entity = Entity("node_pool", entity_id, 2, ("phase",), (facet,), attributes, {})
    return Transition("phase", None, facet.state, "adopt", None, None, Cause(1, "e", "/x", "event"), entity, since)


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("default=true", True),
        ("default==true", True),
        ("default=false", False),
        ("default!=false", True),
        ("size=3", True),
        ("autoscaling_mode in (Recycle, Delete)", True),
        ("autoscaling_mode notin (Recycle,Delete)", False),
        ("autoscaling_mode", True),
        ("!autoscaling_mode", False),
        ("! nothing", True),
        ("nothing", False),
        ("nothing!=x", True),
        ("nothing notin (x)", True),
        ("nothing=", False),
        ("zones=b", True),
        ("zones in (c)", False),
        ("team=shop", True),
        ("tier.level=1", True),
        ("limits.cpu.most=8", True),
        ("limits.cpu.least", False),
        ("default=true,size=3 , !nothing", True),
        ("default=true,size=4", False),
        ("size in (1,2,3),zones", True),
    ],
)
def test_it_selects_as_kubectl_does(text: str, selected: bool) -> None:
    assert Selector.read(text).selects(transition("c1/p", **POOL).entity) is selected


@pytest.mark.parametrize(
    "text", ["", " ", "a=b=c", "a in b", "a in (b", "=b", "a,,b", "a b", "!a=b", "a=b,", "(a)", "a in (b)c"]
)
def test_what_is_no_selector(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"write a=b, a!=b"):
        ParsedText("selector", Selector.read).convert(text, None, None)


def test_unknown_attributes_are_refused() -> None:
    Selector.read("default=true,silence_after").check(KINDS, None)
    with pytest.raises(NameUnknown, match=r"there is no attribute 'defualt' \(did you mean default\?\): choose one of"):
        Selector.read("defualt=true").check(KINDS, "node_pool")
    Selector.read("team=shop").check(KINDS, "node_pool", [transition("c1/p", team="shop")])
    Selector.read("computed").check(KINDS, "application")
    with pytest.raises(NameUnknown):
        Selector.read("taem").check(KINDS, "application", [transition("c1/p", team="shop")])


def test_orders() -> None:
    found = [
        transition("c1/p10", 5, size=2, autoscaling_mode="b"),
        transition("c1/p9", 7, size=10),
        transition("c2/p1", 6, size="none", autoscaling_mode="a"),
        transition("c1/p1", 9),
    ]

    def ids(by: str) -> list[str]:
        return [one.entity.id for one in in_order(KINDS, found, by, "node_pool")]

    assert ids("id") == ["c1/p1", "c1/p9", "c1/p10", "c2/p1"]
    assert ids("since") == ids("{.since}") == ids(".SINCE") == ["c1/p10", "c2/p1", "c1/p9", "c1/p1"]
    assert ids("for") == [*reversed(ids("since"))]
    assert ids("autoscaling_mode") == ids(".attributes.autoscaling_mode") == ["c2/p1", "c1/p10", "c1/p9", "c1/p1"]
    assert ids("size") == ["c1/p10", "c1/p9", "c2/p1", "c1/p1"]
    for field in FIELDS:
        assert len(ids(field)) == 4
    with pytest.raises(NameUnknown, match=r"there is no field 'verison' \(did you mean version\?\)"):
        ids("verison")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_labels_are_sorted_as_they_are_shown(language: str) -> None:
    phases = [name for name in KINDS["node"].machines[0].phases if name]
    found = []
    for phase in phases:
        facet = FacetState(State(phase), State(phase), 1)
        entity = Entity("node", f"c1/p/{phase}", 2, ("phase",), (facet,), {}, {})
        found.append(
            Transition("phase", None, facet.state, "adopt", None, None, Cause(1, "e", "/x", "event"), entity, 1)
        )
    ordered = in_order(KINDS, found, "label", "node", language)
    labels = [maps.label(KINDS, "node", "phase", one.after, language) for one in ordered]
    assert labels == sorted(labels, key=lambda label: tuple(natural(label)))
    assert len(set(labels)) > 3


def parts(entity_id: str) -> list[tuple[tuple[int, str | int], ...]]:
    """What the natural order compares: part by part, numbers by value and before texts."""
    return [
        tuple((0, int(piece)) if piece.isdecimal() else (1, piece) for piece in re.split(r"(\d+)", part) if piece)
        for part in entity_id.split("/")
    ]


@given(st.lists(st.text("ab019٣-/", min_size=1).filter(lambda text: "" not in text.split("/")), min_size=2))
def test_the_natural_order_is_by_parts_and_numbers(ids: list[str]) -> None:
    assert sorted(ids, key=natural) == sorted(ids, key=parts)
