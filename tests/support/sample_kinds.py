"""Invented kinds that use what the tables of edge hosting do not.

Two facets moved by one trigger, views that look up at bases and at another facet, `AllBelow`, tallies of grandchildren,
triggers that tallies fire, an id that skips parts, attributes. Belongs here: the tables. Does not: the tests
(`test_multi_facet`, `test_laws`).
"""

from phaseline.machines.compiler.kinds import Kinds
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
from tests.support.own_product import OWN


def label(phase: str, condition: str = OK) -> Label:
    return Label(phase, condition, phase)


# fmt: off
ORCHARD = Table(
    kind="orchard",
    id=("orchard",),
    intents=("plant", "fell", "irrigate"),
    derived=("all_picked", "rot_found"),
    facets=(
        Facet(
            name="season",
            adopted=State("Growing", (OK,)),
            labels=(label("Growing"), label("Harvest"), label("Resting"), label("Cleared")),
            rows=(
                Row((ABSENT, DELETED),           "plant",      "Growing"),
                Row((ABSENT,),                   "adopt",      FROM_DATA),
                Row(("Growing",),                "winter",     "Resting"),
                Row(("Resting",),                "spring",     "Growing"),
                Row(("Growing",),                "all_picked", "Resting"),
                Row(("Growing", "Harvest"),      "fell",       "Cleared"),
                Row((At("Resting", base="Resting"),), "fell",  "Cleared"),
                Row((LIVE,),                     "cleared",    DELETED),
            ),
            views=(
                View("Harvest", (AnyBelow("orchard", "fruit", ("Ripe",)), AllBelow("orchard", "fruit", ("Ripe", "Picked"))), base=("Growing",)),
                View("Resting", (Above("orchard", ("Dry",), facet=1),), base=("Growing",)),
            ),
        ),
        Facet(
            name="water",
            adopted=State("Open", (OK,)),
            labels=(label("Open"), label("Shut"), label("Dry"), label("Fouled")),
            rows=(
                Row((ABSENT, DELETED),           "plant",     "Open"),
                Row((ABSENT,),                   "adopt",     "Open"),
                Row(("Open",),                   "winter",    "Shut"),
                Row(("Shut",),                   "spring",    "Open"),
                Row(("Open", "Shut"),            "drought",   "Dry"),
                Row(("Dry", "Fouled"),           "irrigate",  "Open"),
                Row(("Open",),                   "rot_found", "Fouled"),
                Row((LIVE,),                     "cleared",   DELETED),
            ),
        ),
    ),
    cascades=(
        Cascade("prune",      at=("row",),                   on=("winter",)),
    ),
    on_tally=(
        OnTally(AllBelow("orchard", "fruit", ("Picked",)), "all_picked"),
        OnTally(AnyBelow("orchard", "fruit", ("Rotten",)),  "rot_found"),
    ),
)
ROW = Table(
    kind="row",
    id=("orchard", "row"),
    parent="orchard",
    intents=("plant", "label", "clear"),
    derived=("prune", "owner_gone", "rot_found"),
    attributes=(Field("variety", str, "what grows there"), Field("organic", bool, "whether nothing is sprayed", default=True)),
    facets=(Facet(
        name="phase",
        adopted=State("Planted", (OK,)),
        labels=(label("Planted"), label("Pruned"), label("Stump"), label("Idle"), label("Done"), label("Closed", "Rot")),
        rows=(
            Row((ABSENT, DELETED),   "plant",      "Planted", when=(Above("orchard", ("Growing", "Harvest")),), assigns=True),
            Row((ABSENT,),           "adopt",      FROM_DATA, assigns=True),
            Row((LIVE,),             "label",      SAME, assigns=True),
            Row(("Planted",),        "prune",      "Pruned"),
            Row(("Pruned",),         "prune",      "Stump"),
            Row(("Pruned", "Stump"), "sprouted",   "Planted"),
            Row(("Planted", "Pruned"), "rot_found", "Closed"),
            Row(("Closed",),         "cured",      "Planted"),
            Row((LIVE,),             "clear",      DELETED, when=(Above("orchard", ("Resting", "Cleared"), base=True),)),
            Row((LIVE,),             "owner_gone", DELETED),
        ),
        views=(
            View("Idle", (Above("orchard", ("Resting",), base=True),), unless=("Closed",)),
            View("Idle", (Above("orchard", ("Dry", "Fouled"), facet=1), Above("orchard", ("Growing",), base=True)), base=("Planted",)),
            View("Done", (AllBelow("row", "fruit", ("Picked",)), AttributeIs("row", "organic", value=True)), base=("Planted", "Pruned")),
        ),
    ),),
    cascades=(
        Cascade("recall",     at=("ladder",),         on=("rot_found",)),
    ),
    on_tally=(OnTally(AnyBelow("row", "fruit", ("Rotten",)), "rot_found"),),
)
FRUIT = Table(
    kind="fruit",
    id=("orchard", "row", "side", "fruit"),
    parent="row",
    intents=("spray", "pick", "tag", "untag"),
    derived=("owner_gone",),
    attributes=(Field("branch", str, "where it hangs"),),
    fields={"healed": (Field("condition", str, "the only cause that is over", ("Mites", "Mould")),)},
    facets=(
        Facet(
            name="phase",
            accumulates_in="Sick",
            healthy="Green",
            sticky=("Tagged", "Frost"),
            labels=(
                label("Green"), label("Green", "Tagged"), label("Ripe"), label("Picked"), label("Rotten"), label("Held"),
                label("Sick", "Mites"), label("Sick", "Mould"), label("Sick", "Frost"),
            ),
            rows=(
                Row((ABSENT, DELETED),                "set",      "Green", assigns=True),
                Row((ABSENT,),                        "adopt",    FROM_DATA, assigns=True),
                Row(("Green", "Sick"),                "ripened",  "Ripe"),
                Row(("Ripe",),                        "pick",     "Picked"),
                Row((Live(but=("Picked",)),),         "rotted",   "Rotten"),
                Row((Live(but=("Picked",)),),         "tag",      SAME, sets="Tagged"),
                Row((LIVE,),                          "untag",    SAME, clears=("Tagged",)),
                Row(("Green", "Ripe", "Sick"),        "mites",    "Sick", condition="Mites"),
                Row(("Green", "Ripe", "Sick"),        "mould",    "Sick", condition="Mould"),
                Row((Live(but=("Picked", "Rotten")),), "froze",   "Sick", condition="Frost"),
                Row((Live(has="Frost"),),             "thawed",   SAME, clears=("Frost",)),
                Row((At("Sick", has="Mites"),),       "spray",    SAME, clears=("Mites", "Mould"), when=(AttributeIs("row", "organic", value=False),)),
                Row((At("Sick", has="Mites"),),       "healed",   SAME, clears=("Mites",), given={"condition": "Mites"}),
                Row((At("Sick", has="Mould"),),       "healed",   SAME, clears=("Mould",), given={"condition": "Mould"}),
                Row(("Sick",),                        "healed",   SAME, clears=("Mites", "Mould"), given={"condition": None}),
                Row(("Picked", "Rotten"),             "eaten",    DELETED),
                Row((LIVE,),                          "owner_gone", DELETED),
            ),
            views=(
                View("Held", (Above("row", ("Closed",), base=True),), base=("Green", "Ripe")),
                View("Sick", (Above("row", ("Stump",), base=True),), condition="Frost", base=("Green", "Sick")),
            ),
        ),
        Facet(
            name="grade",
            labels=(label("First"), label("Second")),
            rows=(
                Row((ABSENT, "Second"),  "graded_up",   "First"),
                Row((ABSENT, "First"),   "graded_down", "Second"),
                Row((LIVE,),             "eaten",       DELETED),
                Row((LIVE,),             "owner_gone",  DELETED),
                Row((DELETED,),          "set",         "Second"),
            ),
        ),
    ),
)
LADDER = Table(
    kind="ladder",
    id=("orchard", "row", "ladder"),
    parent="row",
    intents=(),
    derived=("recall", "owner_gone"),
    facets=(Facet(
        name="phase",
        labels=(label("Up"), label("Away")),
        rows=(
            Row((ABSENT, DELETED, "Away"), "raised",     "Up"),
            Row(("Up",),                   "recall",     "Away"),
            Row((LIVE,),                   "owner_gone", DELETED),
        ),
    ),),
)
KINDS = Kinds((ORCHARD, ROW, FRUIT, LADDER), products=OWN)
