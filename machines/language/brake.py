"""The brake on snapshots: how much one snapshot may end unless it is confirmed.

A list that was cut short looks like one that says that much is gone.
Belongs here: the attribute of places, and how much is too much. Does not: counting what a snapshot ends
(`engine.core.snapshot`, `engine.publish.snapshots`).
"""

from collections.abc import Iterator

from msgspec.structs import replace

from phaseline.machines.language.contact import CONFIGURE
from phaseline.machines.language.fields import Field
from phaseline.machines.language.table import Facet, Table

BRAKE = "brake"
"""The attribute of a place that replaces `USUAL` for all at and below it."""
USUAL = 30.0
"""The percentage of what lives in its range that a snapshot may end."""
FEW = 2
"""So many things it may end in any case."""
FIELD = Field(
    BRAKE, float, f"the percentage of what lives in its range that an unconfirmed snapshot may end; {USUAL:g} if not set",
    least=0,
)  # fmt: skip


def is_too_much(ends: int, of: int, brake: float) -> bool:
    """Whether a snapshot that ends `ends` of the `of` things that live in its range has to be confirmed."""
    return ends > FEW and ends * 100 > brake * of


def held_back(ends: int, of: int, kind: str, at: str, brake: float) -> str:
    """What is said of a snapshot that would end too much. at: the entity that it is of, such as `cluster c1`."""
    return (
        f"it would end {ends:,} of the {of:,} {kind}s that live in its range at {at}, which is more than {brake:g} %: "
        "none of them is ended so; if they are gone, send the same snapshot with confirm true and with seen"
    )


def problems(table: Table) -> Iterator[str]:
    """What of a place's table would collide with the brake."""
    if BRAKE in [field.name for field in table.attributes]:
        yield f"place=True brings the attribute {BRAKE}: rename yours"


def with_brake(table: Table) -> Table:
    """The table of a place with the attribute, which only `configure` sets; any other table as it is."""
    if not table.place or FIELD in table.attributes:
        return table
    facets = tuple(_assigning(table, facet) for facet in table.facets)
    return replace(table, facets=facets, attributes=(*table.attributes, FIELD))


def _assigning(table: Table, facet: Facet) -> Facet:
    if all(row.trigger != CONFIGURE for row in facet.rows):
        return facet
    rows = (
        replace(row, assigns=(*table.assigned(row), BRAKE)) if row.trigger == CONFIGURE else row for row in facet.rows
    )
    return replace(facet, rows=tuple(rows))
