"""A table's version: the same in every process, another for another behaviour, untouched by texts."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from phaseline.machines import fingerprint
from phaseline.machines.checks import WrongTable
from phaseline.machines.component import COMPONENT
from phaseline.machines.kinds import Kinds
from phaseline.machines.node import NODE
from phaseline.machines.predicates import Above
from phaseline.machines.table import Table

KINDS = Kinds()


def with_facet(table: Table, **changes: Any) -> Table:
    return replace(table, facets=(replace(table.facets[0], **changes), *table.facets[1:]))


def test_each_kind_has_its_own() -> None:
    assert len(set(KINDS.versions.values())) == len(KINDS)
    assert all(len(version) == fingerprint.LENGTH for version in KINDS.versions.values())
    assert fingerprint.digest_of({**KINDS.versions, "other": "0"}) != KINDS.digest


ROWS = NODE.facets[0].rows
CHANGED: dict[str, Table] = {
    "a row gone": with_facet(NODE, rows=ROWS[:-1]),
    "rows in another order": with_facet(NODE, rows=(ROWS[1], ROWS[0], *ROWS[2:])),
    "another target": with_facet(NODE, rows=(replace(ROWS[0], to="Running"), *ROWS[1:])),
    "a guard gone": with_facet(NODE, rows=(replace(ROWS[0], when=()), *ROWS[1:])),
    "another guard": with_facet(NODE, rows=(replace(ROWS[0], when=(Above("cluster", ("Running",)),)), *ROWS[1:])),
    "a standing condition less": with_facet(NODE, standing=("Balance",)),
    "another order of conditions": with_facet(NODE, order=NODE.facets[0].order[::-1]),
    "a label less": with_facet(NODE, labels=NODE.facets[0].labels[:-1]),
    "an intent less": replace(NODE, intents=NODE.intents[1:]),
    "no parent": replace(NODE, parent=None),
    "another facet's name": with_facet(NODE, name="state"),
    "a view gone": with_facet(COMPONENT, views=()),
    "a field gone": replace(COMPONENT, fields={}),
}


@pytest.mark.parametrize("what", CHANGED)
def test_another_behaviour_is_another_version(what: str) -> None:
    table = CHANGED[what]
    assert fingerprint.version_of(table) != KINDS[table.kind].version


def test_texts_do_not_count() -> None:
    labels = tuple(replace(label, zh="新", en="New") for label in NODE.facets[0].labels)
    assert fingerprint.version_of(replace(with_facet(NODE, labels=labels), doc="Other words.")) == KINDS["node"].version


def test_what_is_left_at_its_default_does_not_count() -> None:
    @dataclass(frozen=True)
    class Small:
        name: str

    @dataclass(frozen=True)
    class Grown:
        name: str
        later: tuple[str, ...] = ()

    Grown.__name__ = "Small"
    assert fingerprint.canonical(Grown("x")) == fingerprint.canonical(Small("x"))
    assert fingerprint.canonical(Grown("x", ("y",))) != fingerprint.canonical(Small("x"))


def at_the_top(_: Any) -> bool:
    return True


def test_functions_are_known_by_name_and_lambdas_by_none() -> None:
    assert fingerprint.canonical(at_the_top) == f"{__name__}.at_the_top"
    with pytest.raises(TypeError, match="has no lasting name"):
        fingerprint.canonical(lambda _: True)

    class Odd:
        def holds(self, *_: Any) -> bool:
            return True

        def text(self) -> str:
            return "it is odd"

    with pytest.raises(WrongTable, match="Odd in a table has no lasting name: make it a dataclass"):
        fingerprint.version_of(with_facet(NODE, rows=(replace(ROWS[0], when=(Odd(),)), *ROWS[1:])))
