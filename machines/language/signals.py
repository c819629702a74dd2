"""Signals: what reporters say of an entity in words that no table lists, such as MemoryPressure of a node.

A signal has a name and stands as long as it is True or Unknown. The facet says only whether one stands.
Belongs here: the facet `signals` with its words, what it adds to a table. Does not: names that consoles know
(`table.Signal`), reading what an event says of signals (`engine.core.beside.signals`).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from phaseline.machines.language.fields import Attributes, Field, RuleEvent
from phaseline.machines.language.predicates import Scene, Unmet
from phaseline.machines.language.rules import rule
from phaseline.machines.language.table import ABSENT, DELETED, OK, REPORTED, Facet, Label, Row, Signal, Table
from phaseline.schemas.records import CONTACT, SIGNALS, State
from phaseline.schemas.value import Value

TOLD = "Told"
"""The phase of an entity of which at least one signal stands; without any it is `OK`."""
CONDITION, UNTOLD = "condition", "signals_end"
"""The observation of one signal, and the derived trigger: the life of what they speak of is over."""
NAME, STATUS, REASON, SINCE = "name", "status", "reason", "since"
"""The parts of a signal."""
TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
MOST = 32
"""The most signals that stand at one entity."""
STANDS = "signal_stands"
"""The field that the engine adds to data which changes signals: whether one stands then."""
MEANT_ELSEWHERE: Mapping[str, str] = {"Ready": "report ready or not_ready, or the state with reported"}
"""Names that are no signals, each with what to send instead."""


@rule("phaseline.signals", revision=1)
def keep_signals(attributes: Attributes, event: RuleEvent) -> Attributes:
    """Keeps the signals that stand after the event; none leave no attribute."""
    rest = {name: value for name, value in attributes.items() if name != SIGNALS}
    standing = event.data.get(SIGNALS)
    return {**rest, SIGNALS: standing} if standing else rest


@rule("phaseline.signals_end", revision=1)
def forget_signals(attributes: Attributes, _: RuleEvent) -> Attributes:
    """Forgets the signals of a life that is over."""
    return {name: value for name, value in attributes.items() if name != SIGNALS}


@rule("phaseline.lives", revision=1)
class Lives(Value, frozen=True):
    """The entity itself is known, and not Deleted; or just not. For guards only.

    kind: its kind. yet: False if it must not live.
    """

    kind: str
    yet: bool = True

    def holds(self, scene: Scene, entity_id: str) -> bool:
        """Look at its first facet."""
        found = scene.above(entity_id, self.kind)
        return (found is not None and found.facets[0].base.phase not in (ABSENT, DELETED)) is self.yet

    def text(self) -> str:
        """`the node lives`."""
        return f"the {self.kind} {'lives' if self.yet else 'does not live yet'}"

    def unmet(self, scene: Scene, entity_id: str) -> Unmet:
        """`nothing is known of a living node`, and what is asked for."""
        del scene, entity_id
        if not self.yet:
            return Unmet("it is known already", f"the {self.kind} to be unknown")
        return Unmet("there is no life that it could speak of", f"the {self.kind} to live")


def facet_of(kind: str, names: tuple[Signal, ...] = ()) -> Facet:
    """The facet of a kind. It begins Ok, and says nothing as long as nobody told a signal."""
    lives, unborn = (Lives(kind),), (Lives(kind, yet=False),)
    return Facet(
        name=SIGNALS,
        begins=OK,
        adopted=State(OK),
        healthy=OK,
        signal_names=names,
        labels=(
            #     phase condition en           others
            Label(OK,   None,     "No signal", {"zh": "无信号"}),
            Label(TOLD, None,     "Signals",   {"zh": "有信号"}, state_class="excused"),
        ),
        rows=(
            #   from        trigger    to
            Row((OK, TOLD), CONDITION, TOLD, given={STANDS: True},  when=lives, computes=keep_signals),
            Row((OK, TOLD), CONDITION, OK,   given={STANDS: False}, when=lives, computes=keep_signals),
            Row((OK, TOLD), REPORTED,  TOLD, given={STANDS: True},  computes=keep_signals),
            Row((OK, TOLD), REPORTED,  OK,   given={STANDS: False}, computes=keep_signals),
            Row((OK, TOLD), "adopt",   TOLD, given={STANDS: True},  when=unborn, computes=keep_signals),
            Row((TOLD,),    UNTOLD,    OK,   computes=forget_signals),
        ),
    )  # fmt: skip


ATTRIBUTE = Field(SIGNALS, dict, f"the signals that stand: by name, status, reason and since; at most {MOST}")
FIELDS = (
    Field(NAME, str, "the name of the signal, such as MemoryPressure", required=True),
    Field(STATUS, str, "True and Unknown let it stand, False ends it", (TRUE, FALSE, UNKNOWN), required=True),
)


def problems(table: Table) -> Iterator[str]:
    """What of a table would collide with what signals bring to it."""
    if any(facet.name == SIGNALS for facet in table.facets):
        yield f"{SIGNALS} is the facet that signals=True brings: rename yours"
    if not table.signals:
        return
    for word in (CONDITION, UNTOLD):
        if word in table.triggers:
            yield f"signals=True brings the trigger {word}: rename yours"
    if SIGNALS in [one.name for one in table.attributes]:
        yield f"signals=True brings the attribute {SIGNALS}: rename yours"


def has_signals(table: Table) -> bool:
    """Whether a table has the facet already."""
    return SIGNALS in (facet.name for facet in table.facets)


def telling(table: Table) -> frozenset[str]:
    """The observations of a table that may tell signals."""
    rows = (row for facet in table.facets if facet.name == SIGNALS for row in facet.rows)
    return frozenset(row.trigger for row in rows if row.trigger != UNTOLD)


def with_signals(table: Table) -> Table:
    """The table with all that signals bring; the table itself if it has none, or has them already."""
    if not table.signals or has_signals(table):
        return table
    own = len(table.facets) - (table.facets[-1].name == CONTACT)
    first, *others = table.facets[:own]
    adopts = any(row.trigger == "adopt" for row in first.rows)
    facet = facet_of(table.kind, table.signal_names)
    if not adopts:
        facet = replace(facet, rows=tuple(row for row in facet.rows if row.trigger != "adopt"))
    fields = {**table.fields, CONDITION: FIELDS}
    if adopts:
        fields["adopt"] = (*table.fields.get("adopt", ()), ATTRIBUTE)
    return replace(
        table,
        facets=(first, *others, facet, *table.facets[own:]),
        derived=(*table.derived, UNTOLD),
        attributes=(*table.attributes, ATTRIBUTE),
        fields=fields,
    )


def standing_signals(attributes: Attributes) -> Mapping[str, Mapping[str, Any]]:
    """The signals that stand at an entity, by name."""
    found: Mapping[str, Mapping[str, Any]] = attributes.get(SIGNALS) or {}
    return found
