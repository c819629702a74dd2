"""The lamp: a small right table, of which tests of checks make wrong ones.

Belongs here: the table, and the error that a changed one gets. Does not: the changes.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import AttributeIs, Scene
from phaseline.machines.language.table import ABSENT, DELETED, LIVE, OK, SAME, At, Facet, Field, Label, Row, Table

LABELS = (Label("On", OK, "On"), Label("Off", OK, "Off"), Label("Broken", "Heat", "Broken"), Label("Broken", "Rust", "Broken"))  # fmt: skip
ROWS = (
    Row((ABSENT, DELETED), "create", "On"),
    Row(("On",), "switched_off", "Off"),
    Row(("Off",), "switched_on", "On"),
    Row((LIVE,), "heat", "Broken", condition="Heat"),
    Row((LIVE,), "rust", "Broken", condition="Rust"),
    Row((At("Broken", has="Heat"),), "cooled", SAME, clears=("Heat",)),
    Row((LIVE,), "deleted", DELETED),
)
FACET = Facet("phase", labels=LABELS, rows=ROWS, accumulates_in="Broken", healthy="On")
HOT = AttributeIs("lamp", "hot", value=True)


def lamp(facet: Facet = FACET, **changes: Any) -> Table:
    """A right table, changed."""
    right = Table(
        kind="lamp",
        id=("room", "lamp"),
        facets=(facet,),
        intents=("create",),
        attributes=(Field("hot", bool, "whether it is"),),
        fields={"heat": (Field("degrees", str, "how hot"),)},
    )
    return replace(right, **changes)


def refusal(table: Table) -> str:
    with pytest.raises(WrongTable) as caught:
        Kinds((table,))
    assert caught.value.kind == table.kind
    assert str(caught.value).startswith(f"the table of {table.kind} cannot work:\n  - ")
    return "\n".join(caught.value.problems)


def stuck(*rows: Row) -> Table:
    """A lamp that is never thrown away."""
    first = Row((ABSENT,), "create", "On")
    return lamp(replace(FACET, rows=(first, *rows), labels=LABELS[:2], accumulates_in=None), fields={})


@dataclass(frozen=True)
class Dark:
    """A predicate that says nothing about itself."""

    def holds(self, scene: Scene, entity_id: str) -> bool:
        return scene.above(entity_id, "lamp") is None

    def text(self) -> str:
        return "it is dark"
