"""Where the boxes and arrows of a facet's diagram stand, so that a page needs no layout of its own. Pure.

Belongs here: coordinates, in layers from left to right: what the first phase leads to, what those lead to, and so on.
Does not: colours, words, which state is the present one (the page).
"""

from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import Any

from phaseline.machines.compiler.conditions import phases_of
from phaseline.machines.compiler.machine import FacetMachine, steps_of
from phaseline.machines.language.contact import HEARTBEAT
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, SAME, Facet, Live, Row

WIDE, HIGH, PITCH, THIN, GAP, EDGE = 116, 30, 50, 22, 78, 12
"""Of a box: its size; from one to the next; of a line that passes boxes; between layers; around everything."""
AWAY = 10
"""How far from its end an arrow's name stands."""
SWEEPS = 8
"""How often layers are sorted by where their neighbours are."""

Arrow = tuple[str, str]
Spot = tuple[float, float]


@cache
def diagram(machine: FacetMachine) -> dict[str, Any]:
    """The diagram of a facet: its size, `boxes`, `arrows` with the paths of their lines, and `anywhere`.

    `anywhere` names the phases that triggers lead to from each live phase, or nearly each: arrows would hide the rest.
    """
    return _Layout(machine.facet).drawing()


class _Layout:
    """The layout of a facet. What stands in a layer is a phase, or an arrow on its way to a further layer."""

    def __init__(self, facet: Facet) -> None:
        self.facet, self.phases = facet, phases_of(facet)
        self.arrows: dict[Arrow, dict[str, None]] = {}
        self.anywhere: dict[str, dict[str, None]] = {}
        for row in facet.rows:
            self._take(row)
        self.layer = self._layers()
        self.chains = {arrow: self._chain(arrow) for arrow in self.arrows}
        self.columns = self._columns()
        self.spots = self._spots()

    def _take(self, row: Row) -> None:
        """The arrows of a row. Those from live phases and those that data leads would be too many."""
        for start in row.source:
            if row.to == FROM_DATA or (isinstance(start, Live) and row.to == SAME):
                continue
            if isinstance(start, Live):
                self.anywhere.setdefault(row.to, {})[row.trigger] = None
                continue
            narrowed = Row((start,), row.trigger, row.to, clears=row.clears)
            for step in steps_of(self.facet, narrowed, self.phases):
                if step.source != step.dest:
                    self.arrows.setdefault((step.source, step.dest), {})[row.trigger] = None

    def _layers(self) -> dict[str, int]:
        """The layer of each phase: by the fewest arrows from the first phase; the end of a life is the last one.

        That a heartbeat adopts what was there already is no part of a life.
        """
        follows = defaultdict[str, list[str]](list)
        for (source, dest), triggers in self.arrows.items():
            if source != DELETED and triggers.keys() != {HEARTBEAT}:
                follows[source].append(dest)
        found, todo = {self.facet.begins: 0}, [self.facet.begins]
        for phase in todo:
            fresh = [one for one in dict.fromkeys(follows[phase]) if one not in found]
            found |= dict.fromkeys(fresh, found[phase] + 1)
            todo += fresh
            if phase == todo[-1] and (rest := [one for one in self.phases if one not in found and one != DELETED]):
                last = max(found.values())
                found[rest[0]] = 1 + (last if last < 1 else (len(found) - 1) // 3)
                todo.append(rest[0])
        last = max(layer for phase, layer in found.items() if phase != DELETED) + 1
        return {phase: last if phase == DELETED else found[phase] for phase in self.phases}

    def _chain(self, arrow: Arrow) -> list[Any]:
        """Where an arrow passes, from left to right: its ends, and one point in each layer between them."""
        left, right = sorted(arrow, key=self.layer.__getitem__)
        between = range(self.layer[left] + 1, self.layer[right])
        return [left, *((arrow, layer) for layer in between), right]

    def _columns(self) -> list[list[Any]]:
        """What stands in each layer, from top to bottom, so that few lines cross."""
        columns: list[list[Any]] = [[] for _ in range(max(self.layer.values()) + 1)]
        for phase in self.phases:
            columns[self.layer[phase]].append(phase)
        near = defaultdict[Any, list[Any]](list)
        for chain in self.chains.values():
            for layer, point in enumerate(chain[1:-1], self.layer[chain[0]] + 1):
                columns[layer].append(point)
            for one, other in pairwise(chain):
                near[one].append(other)
                near[other].append(one)
        for _ in range(SWEEPS):
            place = {one: at / len(column) for column in columns for at, one in enumerate(column)}
            for column in columns:
                means = {
                    one: sum(map(place.__getitem__, near[one] or [one])) / len(near[one] or [one]) for one in column
                }
                column.sort(key=lambda one: (means[one] + place[one]) / 2)
                place |= {one: at / len(column) for at, one in enumerate(column)}
        return columns

    def _spots(self) -> dict[Any, Spot]:
        """The left end of the middle line of each box and point."""
        heights = [sum(THIN if isinstance(one, tuple) else PITCH for one in column) for column in self.columns]
        found: dict[Any, Spot] = {}
        for number, column in enumerate(self.columns):
            x, y = EDGE + number * (WIDE + GAP), EDGE + (max(heights) - heights[number]) / 2
            for one in column:
                step = THIN if isinstance(one, tuple) else PITCH
                found[one] = (x, y + step / 2)
                y += step
        self.size = (2 * EDGE + len(self.columns) * (WIDE + GAP) - GAP + GAP // 2, 2 * EDGE + max(heights))
        return found

    def drawing(self) -> dict[str, Any]:
        """Everything, as JSON shows it."""
        ports = self._ports()
        return {
            "facet": self.facet.name, "width": self.size[0], "height": self.size[1], "box": [WIDE, HIGH],
            "boxes": [
                {"phase": phase, "x": self.spots[phase][0], "y": self.spots[phase][1] - HIGH / 2,
                 "start": phase == self.facet.begins == ABSENT,
                 "anywhere": list(self.anywhere.get(phase, ())),
                 "shown": any(view.to == phase for view in self.facet.views)}
                for phase in self.phases
            ],
            "arrows": [
                {"from": arrow[0], "to": arrow[1], "triggers": list(triggers), **self._line(arrow, ports)}
                for arrow, triggers in self.arrows.items()
            ],
        }  # fmt: skip

    def _ports(self) -> dict[tuple[Arrow, str], float]:
        """The height at which each arrow meets each of its boxes: those of one side stand apart, in a good order."""
        sides = defaultdict[tuple[str, bool], list[tuple[float, Arrow]]](list)
        for arrow, chain in self.chains.items():
            level = self.layer[arrow[0]] == self.layer[arrow[1]]
            sides[chain[0], True].append((self.spots[chain[1]][1], arrow))
            sides[chain[-1], level].append((self.spots[chain[-2]][1], arrow))
        found = {}
        for (phase, _), lines in sides.items():
            step = min(8.0, (HIGH - 8) / len(lines))
            for at, (_, arrow) in enumerate(sorted(lines)):
                found[arrow, phase] = round(self.spots[phase][1] + (at - (len(lines) - 1) / 2) * step, 1)
        return found

    def _line(self, arrow: Arrow, ports: dict[tuple[Arrow, str], float]) -> dict[str, Any]:
        """The path of an arrow as SVG has it, and where its name may stand: just before its end."""
        chain = self.chains[arrow]
        right = self.spots[chain[0]][0] + WIDE
        if self.layer[arrow[0]] == self.layer[arrow[1]]:
            start, end = ports[arrow, arrow[0]], ports[arrow, arrow[1]]
            bend = right + min(GAP - 12, 24 + abs(end - start) / 8)
            path = f"M{right} {start}C{bend} {start} {bend} {end} {right} {end}"
            return {"path": path, "at": [right + AWAY, end + HIGH / 2], "anchor": "start"}
        points: list[Spot] = [(right, ports[arrow, chain[0]])]
        for point in chain[1:-1]:
            x, y = self.spots[point]
            points += [(x, y), (x + WIDE, y)]
        points.append((self.spots[chain[-1]][0], ports[arrow, chain[-1]]))
        is_back = chain[0] != arrow[0]
        if is_back:
            points.reverse()
        path = f"M{points[0][0]} {points[0][1]}"
        for (x, y), (to_x, to_y) in pairwise(points):
            middle = (x + to_x) / 2
            path += f"H{to_x}" if y == to_y else f"C{middle} {y} {middle} {to_y} {to_x} {to_y}"
        x, y = points[-1]
        return {"path": path, "at": [x + (AWAY if is_back else -AWAY), y], "anchor": "start" if is_back else "end"}
