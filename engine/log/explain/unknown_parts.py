"""What a whole does not know of its parts, or lacks: 3 of 11 resources not assessed, 3 of 5 nodes Running.

Belongs here: counting these parts, reading them, the texts. Does not: the states of wholes (their tables, by tallies).
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from phaseline.engine.log.state_view import ONE_BY_ONE, Key, StateView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, label
from phaseline.machines.language.language_tags import ENGLISH
from phaseline.machines.language.table import ABSENT, DELETED, Facet, Wants
from phaseline.schemas.records import Entity, State, Transition
from phaseline.schemas.subjects import ancestor_id

GONE = (ABSENT, DELETED)
LACKS = {ENGLISH: "{number:,} of {of:,} {kind}s {phase}", "zh": "{kind} 应有 {of:,} 个, {number:,} 个 {phase}"}
VALUES = {ENGLISH: "{number:,} of {of:,} at {value}", "zh": "{of:,} 个中 {number:,} 个为 {value}"}
AT = {ENGLISH: "at", "zh": "个为"}
SAME = -1
"""Under this index the values of an attribute are counted, in place of phases."""
SENTENCES = {ENGLISH: "{number:,} of {of:,} {what}", "zh": "{of:,} 个中 {number:,} 个{what}"}


class UnknownParts(NamedTuple):
    """Of how many parts of a whole nothing is known. what: what they are not, by language: `not assessed`."""

    number: int
    of: int
    what: Mapping[str, str]

    def text(self, language: Language = ENGLISH) -> str:
        """`3 of 11 not assessed`."""
        in_it = language if language in SENTENCES and language in self.what else ENGLISH
        return SENTENCES[in_it].format(number=self.number, of=self.of, what=self.what[in_it])


class LackingParts(NamedTuple):
    """What a whole lacks below it.

    kind: of the parts. number: how many are as they should be (`phase`), out of how many (`of`); None if nobody said.
    others: how many are in which other phase. same: how many have the value that they should have, and of how many
    something is known; others have another one (`different`).
    """

    kind: str
    phase: str
    number: int
    of: int | None
    others: Mapping[str, int]
    value: object
    same: int
    different: Mapping[str, int]

    def text(self, language: Language = ENGLISH) -> str:
        """`3 of 5 nodes Running, 2 Failed; 1 of 2 at 1.28, 1 at 1.27`."""
        return "; ".join(filter(None, (self._numbers(language), self._values(language))))

    def _numbers(self, language: Language) -> str:
        if self.of is None:
            return ""
        others = "".join(f", {count:,} {phase}" for phase, count in self.others.items())
        head = LACKS.get(language, LACKS[ENGLISH])
        return head.format(number=self.number, of=self.of, kind=self.kind, phase=self.phase) + others

    def _values(self, language: Language) -> str:
        if not self.different:
            return ""
        others = "".join(
            f", {count:,} {AT.get(language, AT[ENGLISH])} {value}" for value, count in self.different.items()
        )
        head = VALUES.get(language, VALUES[ENGLISH])
        return head.format(number=self.same, of=self.same + sum(self.different.values()), value=self.value) + others


def texts_of(facet: Facet, state: State) -> Mapping[str, str]:
    """The label of a state in the languages other than English."""
    found = label(facet, state)
    return {} if found is None else found.others


def words(phase: str) -> str:
    """`not assessed`, of NotAssessed."""
    return "".join(f" {one.lower()}" if one.isupper() else one for one in phase).strip()


class Roll(NamedTuple):
    """A facet of a whole that is made of the states of its parts. apart: phases, of any facet, of what is no part."""

    facet: str
    parts: str
    place: int
    what: Facet
    state: State
    apart: tuple[str, ...] = ()


Parts = UnknownParts | LackingParts
PartsOf = Mapping[Key, Mapping[str, Parts]]
"""By whole and by facet, of how many of its parts nothing is known, or what it lacks. The others are left out."""


def rolls_of(kinds: Kinds, kind: str) -> Iterator[Roll]:
    """The facets of a kind that are made of parts, of which nothing may be known."""
    known = kinds.get(kind)
    for facet in known.table.facets if known is not None else ():
        if facet.unknown_parts is not None and facet.message_names is not None:
            parts, index = facet.message_names
            if parts in kinds:
                what, silent = kinds[parts].table.facets[index], State(facet.unknown_parts)
                yield Roll(facet.name, parts, index, what, silent, facet.parts_apart)


def wants_of(kinds: Kinds, kind: str) -> Iterator[tuple[str, Wants]]:
    """The facets of a kind whose entities should have something below them, with what they should have."""
    known = kinds.get(kind)
    for facet in known.table.facets if known is not None else ():
        if facet.wants is not None and facet.wants.kind in kinds:
            yield facet.name, facet.wants


def parts_of(kinds: Kinds, whole: Entity) -> set[str]:
    """The kinds below that have to be looked at for a whole."""
    lacking = {
        wants.kind
        for _, wants in wants_of(kinds, whole.kind)
        if {wants.number, wants.same}.intersection(whole.attributes) and whole.facets[0].state.phase not in GONE
    }
    return lacking.union(roll.parts for roll in rolls_of(kinds, whole.kind))


def count(kinds: Kinds, wholes: Iterable[Entity], parts: Iterable[Entity]) -> PartsOf:
    """Of how many of these parts nothing is known, by whole. A whole of which nothing is known says so itself."""
    by_whole: dict[Key, Counter[tuple[str, int, str]]] = defaultdict(Counter)
    asked = [one for one in wholes if parts_of(kinds, one)]
    wanted = {(below, one.kind, kinds[one.kind].arity) for one in asked for below in parts_of(kinds, one)}
    apart = {(one.kind, roll.parts, roll.place): roll.apart for one in asked for roll in rolls_of(kinds, one.kind)}
    same = {(one.kind, wants.kind): wants.same for one in asked for _, wants in wants_of(kinds, one.kind)}
    for part in parts:
        for below, kind, arity in wanted:
            if part.kind == below:
                counted = by_whole[kind, ancestor_id(part.id, arity)]
                phases = {facet.state.phase for facet in part.facets}
                for index, facet in enumerate(part.facets):
                    if phases.isdisjoint(apart.get((kind, below, index), ())):
                        counted[below, index, facet.state.phase] += 1
                value = part.attributes.get(same.get((kind, below), ""))
                if value is not None and part.facets[0].state.phase not in GONE:
                    counted[below, SAME, str(value)] += 1
    found: dict[Key, dict[str, Parts]] = {}
    for one in asked:
        counts = by_whole[one.kind, one.id]
        found[one.kind, one.id] = {**dict(_unknown(kinds, one, counts)), **dict(_lacking(kinds, one, counts))}
    return {key: facets for key, facets in found.items() if facets}


def _lacking(
    kinds: Kinds, whole: Entity, counted: Mapping[tuple[str, int, str], int]
) -> Iterator[tuple[str, LackingParts]]:
    """What a whole lacks that says what it should have."""
    for facet, wants in wants_of(kinds, whole.kind):
        if whole.facets[0].state.phase in GONE:
            continue
        healthy = kinds[wants.kind].table.facets[0].healthy
        phases = {at[2]: n for at, n in sorted(counted.items()) if at[:2] == (wants.kind, 0) and at[2] not in GONE}
        values = {at[2]: n for at, n in sorted(counted.items()) if at[:2] == (wants.kind, SAME)}
        of, value, number = whole.attributes.get(wants.number), whole.attributes.get(wants.same), phases.pop(healthy, 0)
        same = values.pop(str(value), 0) if value is not None else 0
        different = values if value is not None else {}
        if different or (of is not None and (number != of or phases)):
            yield facet, LackingParts(wants.kind, healthy, number, of, phases, value, same, different)


def _unknown(
    kinds: Kinds, whole: Entity, counted: Mapping[tuple[str, int, str], int]
) -> Iterator[tuple[str, UnknownParts]]:
    for roll in rolls_of(kinds, whole.kind):
        shown = whole.facets[whole.names.index(roll.facet)].state
        phases = {at[2]: number for at, number in counted.items() if at[:2] == (roll.parts, roll.place)}
        number = phases.get(roll.state.phase, 0)
        if number and shown.phase not in (*GONE, roll.state.phase):
            of = sum(count for phase, count in phases.items() if phase not in GONE)
            texts = {**texts_of(roll.what, roll.state), ENGLISH: words(roll.state.phase)}
            yield roll.facet, UnknownParts(number, of, texts)


class PartsReader:
    """Says of wholes of a view what they do not know of their parts, or lack. A kind that it has read it keeps."""

    def __init__(self, view: StateView) -> None:
        """Read from this view."""
        self._view = view
        self._whole: dict[str, dict[str, list[Entity]]] = {}
        """By kind, and by the root of their tree, all entities of kinds that were read whole."""

    async def of(self, wholes: Sequence[Entity]) -> PartsOf:
        """Of how many parts of these wholes nothing is known, or what they lack."""
        kinds = self._view.installation.kinds
        asked = sorted({(below, one.id) for one in wholes for below in parts_of(kinds, one)})
        unread = [(kind, whole) for kind, whole in asked if kind not in self._whole]
        if len(unread) > ONE_BY_ONE:
            await asyncio.gather(*(self._read(kind) for kind in {kind for kind, _ in unread}))
            unread = []
        found: list[list[Transition]] = await asyncio.gather(*(self._view.states(*one) for one in unread))
        parts = {(one.entity.kind, one.entity.id): one.entity for some in found for one in some}
        for kind, root in {(kind, ancestor_id(whole, 1)) for kind, whole in asked if kind in self._whole}:
            parts |= {(kind, one.id): one for one in self._whole[kind].get(root, ())}
        return count(kinds, wholes, parts.values()) if asked else {}

    async def _read(self, kind: str) -> None:
        by_root = self._whole[kind] = defaultdict[str, list[Entity]](list)
        for record in await self._view.states(kind):
            by_root[ancestor_id(record.entity.id, 1)].append(record.entity)
