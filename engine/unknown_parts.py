"""What a whole does not know of its parts: of how many resources of an application nothing was assessed or compared.

Belongs here: counting these parts, reading them, the text. Does not: the states of wholes (their tables, by tallies).
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from phaseline.engine.log.state_view import StateView
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, label
from phaseline.machines.language.language_tags import ENGLISH
from phaseline.machines.language.table import ABSENT, DELETED, Facet
from phaseline.schemas.records import Entity, State, Transition
from phaseline.schemas.subjects import ancestor_id

Key = tuple[str, str]
"""A kind and an id."""
ONE_BY_ONE = 32
"""The most wholes whose parts are read one by one. Of more, all entities of the kind of the parts are read."""
GONE = (ABSENT, DELETED)
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


def texts_of(facet: Facet, state: State) -> Mapping[str, str]:
    """The label of a state in the languages other than English."""
    found = label(facet, state)
    return {} if found is None else found.others


def words(phase: str) -> str:
    """`not assessed`, of NotAssessed."""
    return "".join(f" {one.lower()}" if one.isupper() else one for one in phase).strip()


class Roll(NamedTuple):
    """A facet of a whole that is made of the states of its parts. apart: phases of those that do not count as parts."""

    facet: str
    parts: str
    place: int
    what: Facet
    state: State
    apart: tuple[str, ...] = ()


PartsOf = Mapping[Key, Mapping[str, UnknownParts]]
"""By whole and by facet, of how many of its parts nothing is known. What is wholly known is left out."""


def rolls_of(kinds: Kinds, kind: str) -> Iterator[Roll]:
    """The facets of a kind that are made of parts, of which nothing may be known."""
    known = kinds.get(kind)
    for facet in known.table.facets if known is not None else ():
        if facet.unknown_parts is not None and facet.message_names is not None:
            parts, index = facet.message_names
            if parts in kinds:
                what, silent = kinds[parts].table.facets[index], State(facet.unknown_parts)
                yield Roll(facet.name, parts, index, what, silent, facet.parts_apart)


def count(kinds: Kinds, wholes: Iterable[Entity], parts: Iterable[Entity]) -> PartsOf:
    """Of how many of these parts nothing is known, by whole. A whole of which nothing is known says so itself."""
    by_whole: dict[Key, Counter[tuple[str, int, str]]] = defaultdict(Counter)
    asked = [one for one in wholes if any(True for _ in rolls_of(kinds, one.kind))]
    wanted = {(roll.parts, one.kind, kinds[one.kind].arity) for one in asked for roll in rolls_of(kinds, one.kind)}
    for part in parts:
        for below, kind, arity in wanted:
            if part.kind == below:
                for index, facet in enumerate(part.facets):
                    by_whole[kind, ancestor_id(part.id, arity)][below, index, facet.state.phase] += 1
    found = {(one.kind, one.id): dict(_unknown(kinds, one, by_whole[one.kind, one.id])) for one in asked}
    return {key: facets for key, facets in found.items() if facets}


def _unknown(
    kinds: Kinds, whole: Entity, counted: Mapping[tuple[str, int, str], int]
) -> Iterator[tuple[str, UnknownParts]]:
    for roll in rolls_of(kinds, whole.kind):
        shown = whole.facets[whole.names.index(roll.facet)].state
        phases = {at[2]: number for at, number in counted.items() if at[:2] == (roll.parts, roll.place)}
        number = phases.get(roll.state.phase, 0)
        if number and shown.phase not in (*GONE, roll.state.phase):
            of = sum(count for phase, count in phases.items() if phase not in (*GONE, *roll.apart))
            texts = {**texts_of(roll.what, roll.state), ENGLISH: words(roll.state.phase)}
            yield roll.facet, UnknownParts(number, of, texts)


async def read(view: StateView, wholes: Sequence[Entity]) -> PartsOf:
    """Of how many parts of these wholes nothing is known, read from their states."""
    kinds = view.installation.kinds
    asked = {(roll.parts, one.id) for one in wholes for roll in rolls_of(kinds, one.kind)}
    below: list[tuple[str, str | None]] = [*asked]
    if len(asked) > ONE_BY_ONE:
        below = [(kind, None) for kind in {kind for kind, _ in asked}]
    found: list[list[Transition]] = await asyncio.gather(*(view.states(kind, whole) for kind, whole in below))
    parts = {(one.entity.kind, one.entity.id): one.entity for some in found for one in some}
    return count(kinds, wholes, parts.values()) if parts else {}
