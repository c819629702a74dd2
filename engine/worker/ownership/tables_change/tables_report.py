"""A dry run of a change of tables: how the tables at hand differ from those that decide, and what becomes of entities.

Belongs here: reading the notes and the states, adding them up. Does not: showing the report (`surfaces.cli.tables`),
judging one state (`core.tables_change.stranded`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from phaseline.engine.core.tables_change.stranded import GroupCounts
from phaseline.engine.log import table_eras
from phaseline.engine.log.installation import Installation
from phaseline.engine.worker.ownership.tables_change.survey import remedy, survey
from phaseline.schemas.wire_codec import state_map


class KindChange(NamedTuple):
    """How the table of a kind differs. before: its versions where it decides; after: that at hand; empty for none."""

    kind: str
    before: tuple[str, ...]
    after: str


@dataclass(frozen=True, slots=True)
class TablesReport:
    """What a change to the tables at hand would do.

    digest: of the tables at hand. deciding: by digest, the partitions that others decide. kinds: those that differ.
    groups: how many entities are in states that the tables at hand do not have, by what becomes of them.
    entities: how many there are. remedies: what to write for those that are stranded.
    """

    digest: str
    deciding: dict[str, list[int]]
    kinds: list[KindChange]
    groups: GroupCounts
    entities: int
    remedies: list[str]

    def count(self, fate: str) -> int:
        """How many entities have this fate."""
        return sum(count for group, count in self.groups.items() if group.fate == fate)

    def shown(self) -> dict[str, Any]:
        """As JSON shows it."""
        return {
            "digest": self.digest,
            "deciding": [{"digest": digest, "partitions": found} for digest, found in self.deciding.items()],
            "kinds": [{"kind": one.kind, "before": one.before, "after": one.after or None} for one in self.kinds],
            "states": [
                {
                    "kind": group.kind, "facet": group.facet or None, "from": state_map(group.state),
                    "to": group.to and state_map(group.to), "fate": group.fate.replace(" ", "_"), "entities": count,
                }
                for group, count in self.groups.most_common()
            ],
            "entities": self.entities, "moves": self.count("moves"), "shown_anew": self.count("shown anew"),
            "stranded": self.count("stranded"),
        }  # fmt: skip


async def tables_report(installation: Installation, progress: Callable[[int], None] | None = None) -> TablesReport:
    """Read it. progress: called with the number of entities since the last call. Stores nothing."""
    kinds = installation.kinds
    deciding: dict[str, list[int]] = {}
    before: dict[str, set[str]] = {}
    for partition in range(installation.layout.partitions):
        for era in (await table_eras.eras(installation, partition))[-1:]:
            deciding.setdefault(era.digest, []).append(partition)
            for name, version in era.tables.items():
                before.setdefault(name, set()).add(version)
    names = sorted({*before, *kinds.versions})
    differing = [
        KindChange(name, tuple(sorted(before.get(name, ()))), kinds.versions.get(name, ""))
        for name in names
        if deciding and before.get(name) != {kinds.versions.get(name, "")}
    ]
    groups, entities = await survey(installation, names, progress)
    stranded = [group for group, _ in groups.most_common() if group.fate == "stranded"]
    remedies = list(dict.fromkeys(remedy(kinds, group) for group in stranded))
    return TablesReport(kinds.digest, deciding, differing, groups, entities, remedies)
