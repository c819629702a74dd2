"""Tables printed as Markdown, Mermaid, plain maps and rows for a terminal, compared with golden pages.

Belongs here: sample tables with most of the table language. Does not: the built-in kinds (`docs/machines.md`).
After an intended change, `python -m tests.pure.test_printing` writes the pages again: read them before committing.
"""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.docs import markdown, mermaid, plain, printing
from phaseline.machines.language import table
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    FROM_DATA,
    LIVE,
    OK,
    SAME,
    At,
    Cascade,
    Facet,
    Field,
    Label,
    Live,
    OnTally,
    Row,
    Table,
    View,
)
from phaseline.schemas.records import State
from tests.support.built_in_kinds import BUILT_IN_KINDS

GOLDEN = Path(__file__).parents[1] / "golden"

# fmt: off
LIBRARY = Table(
    kind="library",
    id=("library",),
    intents=("open", "close"),
    derived=("emptied",),
    facets=(Facet(
        name="phase",
        adopted=State("Open", (OK,)),
        labels=(Label("Open", OK, "Open", {"zh": "开放", "de": "Offen"}), Label("Shut", OK, "Shut")),
        rows=(
            Row((ABSENT, DELETED),              "open",    "Open"),
            Row((ABSENT,),                      "adopt",   FROM_DATA),
            Row(("Open",),                      "close",   "Shut", given={"forever": False}),
            Row((At("Shut", base="Shut"),),       "open",    "Open"),
            Row(("Open",),                      "emptied", "Shut"),
            Row(("Shut",),                      "close",   DELETED, given={"forever": True}),
        ),
    ),),
    fields={"close": (Field("forever", bool, "whether it never opens again", default=False),)},
    cascades=(Cascade("withdraw", at=("book",), on=("close",), into=DELETED, unless=("forever", False)),),
    on_tally=(OnTally(AllBelow("library", "book", ("Lent",), facet=0), "emptied"),),
)
BOOK = Table(
    kind="book",
    id=("library", "book"),
    parent="library",
    doc="A book | with a pipe in its description.",
    intents=("buy", "repair", "relabel", "lend"),
    derived=("withdraw",),
    attributes=(
        Field("language", str, "what it is written in", ("zh", "en"), default="en"),
        Field("tags", str, "what it is about", many=True),
    ),
    fields={"found": (Field("by", str, "who found it"),)},
    facets=(
        Facet(
            name="place",
            sticky=("Reserved",),
            accumulates_in="Missing",
            healthy="Shelved",
            order=("Lost", "Stolen"),
            labels=(
                Label("Shelved", OK, "On the shelf", schedulable=True),
                Label("Shelved", "Reserved", "Reserved", schedulable=False),
                Label("Lent", OK, "Lent", {"zh": "借出"}),
                Label("Missing", "Lost", "Lost", {"zh": "遗失", "pt-BR": "Perdido"}),
                Label("Missing", "Stolen", "Stolen"),
                Label("Missing", "Shut", "Out of reach"),
            ),
            rows=(
                Row((ABSENT, DELETED),                         "buy",      "Shelved", when=(Above("library", ("Open",)),), assigns=True),
                Row((ABSENT,),                                 "adopt",    FROM_DATA, assigns=True),
                Row(("Shelved",),                              "lend",     "Lent", when=(Above("library", ("Open",), base=True), AttributeIs("book", "language", "en"))),
                Row(("Lent",),                                 "returned", "Shelved"),
                Row((Live(but=("Missing",)),),                 "reserved", SAME, sets="Reserved"),
                Row((Live(has="Reserved"),),                   "released", SAME, clears=("Reserved",)),
                Row(("Shelved", "Lent", "Missing"),            "lost",     "Missing", condition="Lost"),
                Row((At("Shelved", lacks=("Reserved",)),),     "stolen",   "Missing", condition="Stolen"),
                Row((At("Missing", has="Lost"),),              "found",    SAME, clears=("Lost", "Stolen"), given={"by": None}),
                Row((LIVE,),                                   "relabel",  SAME, assigns=True),
                Row((LIVE,),                                   "withdraw", DELETED),
            ),
            views=(View("Missing", (Above("library", ("Shut",)),), condition="Shut", unless=("Lent",), keeps=True),),
        ),
        Facet(
            name="condition",
            labels=(Label("Good", OK, "Good"), Label("Worn-out", OK, "Worn out")),
            rows=(
                Row((ABSENT, DELETED),  "buy",      "Good"),
                Row(("Good",),          "worn",     "Worn-out"),
                Row(("Worn-out",),      "repair",   "Good"),
                Row((LIVE,),            "withdraw", DELETED),
            ),
        ),
    ),
)
SHELF = Table(
    kind="shelf",
    id=("library", "shelf"),
    parent="library",
    intents=("build",),
    facets=(Facet(
        name="phase",
        adopted=State("Free", (OK,)),
        labels=(Label("Free", OK, "Free"), Label("Full", OK, "Full")),
        rows=(
            Row((ABSENT,),   "build",  "Free"),
            Row(("Free",),   "filled", "Full"),
            Row(("Full",),   "freed",  "Free"),
        ),
        views=(View("Full", (AnyBelow("shelf", "box", ("Set",)),), base=("Free",)),),
    ),),
)
BOX = Table(
    kind="box",
    id=("library", "shelf", "box"),
    parent="shelf",
    intents=(),
    facets=(Facet(
        name="phase",
        labels=(Label("Set", OK, "Set"),),
        rows=(
            Row((ABSENT, DELETED), "set",   "Set"),
            Row(("Set",),          "taken", DELETED),
        ),
    ),),
)
# fmt: on


def kinds() -> Kinds:
    return Kinds((LIBRARY, BOOK, SHELF, BOX))


def pages() -> dict[str, str]:
    """What each golden page must hold."""
    found = kinds()
    return {
        "printing.md": markdown.book(found, "python tests/pure/test_printing.py"),
        "printing.json": json.dumps([plain.kind(kind) for kind in found.values()], indent=1, ensure_ascii=False) + "\n",
        "printing.txt": "".join(terminal(kind) for kind in found.values()),
    }


def terminal(kind: Kind) -> str:
    """Sections as a terminal gets them, one cell a column."""
    lines = [printing.heading(kind), *printing.remarks(kind)]
    for section in printing.sections(kind):
        lines += [f"-- {section.facet} {section.title}: {' ; '.join(section.columns)}"]
        lines += [" ; ".join(row) for row in section.rows]
        lines += list(section.notes)
    return "\n".join(lines) + "\n\n"


@pytest.mark.parametrize("name", ["printing.md", "printing.json", "printing.txt"])
def test_prints_as_it_was_read(name: str) -> None:
    assert pages()[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_word_of_a_table_is_in_the_maps() -> None:
    """A field that is added to a class must be printed too."""
    whole = plain.kind(kinds()["book"])
    facet = whole["facets"][0]
    row, view, label, attribute = facet["rows"][0], facet["views"][0], facet["labels"][0], whole["attributes"][0]
    assert _fields(table.Table) - {"intents", "derived", "fields"} <= set(whole)  # those three are in its triggers
    assert (_fields(table.Facet) - {"name"}) | {"facet"} <= set(facet)
    assert _fields(table.Row) <= set(row)
    assert (_fields(table.View) - {"while_"}) | {"while"} <= set(view)
    assert (_fields(table.Label) - {"state_class"}) | {"class"} <= set(label)
    assert _fields(table.Field) <= set(attribute)


@pytest.mark.parametrize(
    ("kind", "key", "word"),
    [
        ("emco_resource", "cascades", table.Cascade),
        ("app_cluster", "fan_outs", table.FanOut),
        ("resource", "interprets", table.Interpret),
        ("library", "on_tally", table.OnTally),
    ],
)
def test_every_field_of_what_a_table_fires_or_reads_is_in_the_maps(kind: str, key: str, word: Any) -> None:
    found = {**BUILT_IN_KINDS, **kinds()}[kind]
    assert _fields(word) <= set(plain.kind(found)[key][0])


def test_every_field_of_a_timeout_is_in_the_maps() -> None:
    facet = plain.kind(BUILT_IN_KINDS["app_context"])["facets"][0]
    assert _fields(table.Timeout) <= set(facet["timeouts"][0])


def test_rules_are_named_in_the_maps_by_what_they_declare() -> None:
    found = plain.kind(BUILT_IN_KINDS["app_cluster"])
    assert found["fan_outs"][0]["rule"] == {"name": "emco.reported_presence", "number": 1}
    assert found["facets"][0]["rows"][0]["computes"] == {"name": "emco.note_report", "number": 4}


def _fields(word: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(word)}


@pytest.mark.parametrize("kind", [*BUILT_IN_KINDS.values(), *kinds().values()], ids=lambda kind: kind.name)
def test_maps_survive_json_and_rows_fill_their_columns(kind: Kind) -> None:
    found = plain.kind(kind)
    assert json.loads(json.dumps(found)) == found
    for section in printing.sections(kind):
        assert {len(row) for row in section.rows} == {len(section.columns)}


@pytest.mark.parametrize("kind", BUILT_IN_KINDS.values(), ids=list(BUILT_IN_KINDS))
def test_each_trigger_has_its_arrow(kind: Kind) -> None:
    arrows = [line.partition(": ")[2] for line in mermaid.diagram(kind).splitlines() if "-->" in line and ": " in line]
    drawn = {word.strip("()") for arrow in arrows for word in arrow.split(" | ")}
    assert drawn == set(kind.roles)


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, text in pages().items():
        (GOLDEN / name).write_text(text, encoding="utf-8")
