"""Cascades whose rule names the entities (`targets`), and what a fan-out gives to the triggers that it fires.

Belongs here: small histories of an invented post office. Does not: EMCO's use of it (`test_emco_updates`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from phaseline.machines.compiler.checks import WrongTable
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.predicates import Scene
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import (
    ABSENT,
    DELETED,
    LIVE,
    SAME,
    Cascade,
    Facet,
    FanOut,
    Field,
    Fired,
    Row,
    Table,
)
from phaseline.schemas.records import Transition
from tests.support.own_product import OWN
from tests.support.sample_kinds import label
from tests.support.strategies import History, event


@rule("post.twins", revision=1)
def twins(_scene: Scene, entity_id: str, data: Mapping[str, Any]) -> Sequence[str]:
    """Those that the data names; this one too, and one of another tree."""
    return [*data.get("to", ()), entity_id, "other/x"]


@rule("post.office", revision=1)
def office(_scene: Scene, entity_id: str, _: Mapping[str, Any]) -> Sequence[str]:
    """The office above."""
    return [entity_id.partition("/")[0]]


@rule("post.stamped", revision=1)
def stamped(_scene: Scene, _entity: str, data: Mapping[str, Any], below: str) -> str | Fired | None:
    """A stamp with words for the first one, one without for the others."""
    return Fired("stamp", {"message": f"by {data['hand']}"}) if below.endswith("/a") else "stamp"


def post(**given: Any) -> tuple[Table, Table]:
    cascades = given.get(
        "cascades",
        (
            Cascade("seen", at=("parcel",), on=("seen",), targets=twins),
            Cascade("busy", at=("office",), on=("seen",), targets=office),
        ),
    )
    return (
        Table(
            kind="office", id=("office",), intents=(), derived=("busy",), known_by="itself",
            fields={"inspected": (Field("hand", str, "whose"),)},
            facets=(Facet("phase", labels=(label("Idle"), label("Busy")), rows=(
                Row((ABSENT, DELETED), "opened", "Idle"), Row((LIVE,), "busy", "Busy"), Row((LIVE,), "inspected", SAME),
                Row((LIVE,), "shut", DELETED),
            )),),
            fan_outs=(FanOut(("stamp",), at="parcel", on=("inspected",), rule=stamped),),
        ),
        Table(
            kind="parcel", id=("office", "parcel"), parent="office", intents=(), derived=("stamp",),
            fields={"seen": (Field("to", str, "to whom it is passed on", many=True),)},
            attributes=(Field("by", int, "the event"),),
            facets=(Facet("phase", labels=(label("Sent"), label("Seen"), label("Stamped")), rows=(
                Row((ABSENT, DELETED), "sent", "Sent"), Row(("Sent", "Seen", "Stamped"), "seen", "Seen"),
                Row((LIVE,), "stamp", "Stamped"), Row((LIVE,), "lost", DELETED),
            )),),
            cascades=cascades,
        ),
    )  # fmt: skip


def history() -> History:
    found = History(Kinds(post(), products=OWN))
    for kind, trigger, name in (
        ("office", "opened", "o"),
        ("office", "opened", "other"),
        *(("parcel", "sent", f"o/{n}") for n in "abc"),
        ("parcel", "sent", "other/x"),
    ):
        assert found.take(event(kind, trigger, name)).accepted
    return found


def told(records: Sequence[Any]) -> list[tuple[str, str, str, str, str | None, str | None]]:
    return [
        (f"{r.entity.kind}/{r.entity.id}", r.after.phase, r.trigger, r.cause.by, r.cause.origin, r.message)
        for r in records
        if isinstance(r, Transition)
    ]


def test_it_goes_beside_and_above_with_the_data_of_the_event_and_not_on_from_there() -> None:
    found = history()
    records = found.take(event("parcel", "seen", "o/a", {"to": ["o/b", "o/nowhere"], "message": "at the door"})).records
    assert told(records) == [
        ("parcel/o/a", "Seen", "seen", "event", None, "at the door"),
        ("parcel/o/b", "Seen", "seen", "cascade", "parcel/o/a", "at the door"),
        ("office/o", "Busy", "busy", "cascade", "parcel/o/b", "at the door"),
    ]
    assert found.tree.entities["parcel"]["other/x"].facets[0].state.phase == "Sent"  # another tree
    assert found.tree.entities["parcel"]["o/c"].facets[0].state.phase == "Sent"


def test_a_fan_out_may_give_a_trigger_words() -> None:
    found = history()
    records = found.take(event("office", "inspected", "o", {"hand": "me", "message": "all of them"})).records
    assert told(records)[:2] == [
        ("parcel/o/a", "Stamped", "stamp", "cascade", "office/o", "by me"),
        ("parcel/o/b", "Stamped", "stamp", "cascade", "office/o", None),
    ]


@pytest.mark.parametrize(
    ("cascade", "says"),
    [
        (Cascade("seen", at=("ship",), on=("seen",), targets=twins), "it fires seen at ship, which is unknown: add that kind, or correct the name"),
        (Cascade("sunk", at=("office",), on=("seen",), targets=twins), "it fires sunk at office, which has no row for it: add a row there"),
        (Cascade("seen", at=("parcel",), on=("seen",), targets=twins, data={"x": "by"}), "targets= names the entities and passes on the event's data: remove only_child= and data="),
        (Cascade("seen", at=("parcel",), on=("stamp",), targets=lambda *_: ()), "is a lambda"),
    ],
)  # fmt: skip
def test_one_that_cannot_work_is_refused(cascade: Cascade, says: str) -> None:
    keep = Cascade("busy", at=("office",), on=("seen",), targets=office)
    with pytest.raises(WrongTable, match="parcel") as error:
        Kinds(post(cascades=(cascade, keep)), products=OWN)
    assert says in str(error.value)


def test_a_circle_over_two_kinds_is_refused() -> None:
    above, below = post()
    circle = Cascade("stamp", at=("parcel",), on=("busy",))
    with pytest.raises(WrongTable, match="circle"):
        Kinds(
            (
                replace(above, cascades=(circle,)),
                replace(below, cascades=(Cascade("busy", at=("office",), on=("stamp",), targets=office),)),
            ),
            products=OWN,
        )
