"""The overview of some entities at a moment: counts by class, troubles by cause, what else calls for somebody. Pure.

Belongs here: `Overview` and its parts, `Dwell`, making an overview, its form for programs. Does not: what explains what
(`explaining`), making dwells (`dwells`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from phaseline.engine.log.state_view import is_left_behind
from phaseline.machines.compiler.classes.entity_classes import Name, Unwell, class_of_entity, class_since
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.relations import with_all_above
from phaseline.machines.language.contact import silent_since
from phaseline.machines.language.table import CLASSES, STALLED, StateClass
from phaseline.schemas.records import SECOND, Entity, Transition, own_facets, timestamp, utc
from phaseline.schemas.subjects import natural

if TYPE_CHECKING:
    from phaseline.engine.log.questions.question import Counts

LATELY = 3_600 * SECOND
"""How far back is looked for what became bad or good lately, ns."""
MOST = 100
"""The most troubles, trees and other things that an overview names, of each sort. Of the others it has the number."""


class Noticed(NamedTuple):
    """An entity that calls for somebody, its last record, its class, and since when, ns."""

    record: Transition
    state_class: str
    since_ns: int

    @property
    def since(self) -> datetime:
        """Since when."""
        return utc(self.since_ns)

    @property
    def entity(self) -> Entity:
        """The entity."""
        return self.record.entity

    @property
    def message(self) -> str:
        """Why it is so, in short: what its last record says, or the reasons that were given for its states."""
        memory = self.entity.memory
        kept = () if memory is None else dict.fromkeys(memory.reasons.values())
        return self.record.message or self.record.reason or ", ".join(kept)

    def __str__(self) -> str:
        said = f": {self.message}" if self.message else ""
        named = f"{self.entity.kind} {self.entity.id} {self.entity.facets[0].state}"
        return f"{named} since {self.since:%Y-%m-%d %H:%M:%S}Z{said}"


class Trouble(NamedTuple):
    """What one cause made bad. head: what explains the others. others: how many more are bad, by kind.

    symptoms: these others, the longest first.
    """

    head: Noticed
    others: Mapping[str, int]
    symptoms: Sequence[Noticed] = ()

    @property
    def number(self) -> int:
        """How many are bad beside the head."""
        return sum(self.others.values())

    def __str__(self) -> str:
        others = ", ".join(f"{number} {kind}" for kind, number in self.others.items())
        return f"{self.head}{f' (+{others})' if others else ''}"


class TreeClasses(NamedTuple):
    """How many entities of a tree are in which class; since when the first one is bad, ns, None if none is."""

    root: str
    classes: Mapping[str, int]
    bad_since_ns: int | None

    @property
    def bad_since(self) -> datetime | None:
        """Since when the first one is bad; None if none is."""
        return None if self.bad_since_ns is None else utc(self.bad_since_ns)


class Dwell(NamedTuple):
    """An entity that has been in a class for long enough, or no longer is.

    record: its last transition; of one that ended, the transition that ended it. place: how far the log was read.
    state_class: the class in which it is, or was, since `since_ns`. now_class: the class in which it is. until_ns: when
    it ended, None while it lasts.
    """

    record: Transition
    place: int
    state_class: str
    since_ns: int
    now_class: str
    until_ns: int | None = None

    @property
    def entity(self) -> Entity:
        """The entity."""
        return self.record.entity

    @property
    def since(self) -> datetime:
        """Since when it is in the class, or was."""
        return utc(self.since_ns)

    @property
    def until(self) -> datetime | None:
        """When it ended; None while it lasts."""
        return None if self.until_ns is None else utc(self.until_ns)


class Overview(NamedTuple):
    """What is bad now and because of what, the longest first; and what else calls for somebody.

    now_ns: the time at which it is so. classes: of all entities that live. trees: the worst first. lately: how many
    came to a class within the last hour. silent: of whom nothing is heard. stalled: what waits too long for an answer.
    left_behind: what is Deleted and still there. numbers: of each list, how many there are in all.
    """

    now_ns: int
    classes: Mapping[str, int]
    troubles: Sequence[Trouble]
    trees: Sequence[TreeClasses]
    lately: Mapping[str, int]
    silent: Sequence[Noticed]
    stalled: Sequence[Noticed]
    left_behind: Sequence[Noticed]
    numbers: Mapping[str, int]

    @property
    def now(self) -> datetime:
        """The time at which it is so."""
        return utc(self.now_ns)

    @property
    def not_assessed(self) -> int:
        """Of how many entities nobody knows how they are."""
        return self.classes.get("unknown", 0)

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in self.classes.items() if number)
        lines = [f"{sum(self.classes.values())} entities in {self.numbers['trees']} trees: {counts or 'none'}"]
        for name in ("troubles", "silent", "stalled", "left_behind"):
            lines += [f"{name.replace('_', ' ')}: {self.numbers[name]}"] if self.numbers[name] else []
            lines += [f"  {one}" for one in getattr(self, name)]
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, _: bool) -> None:
        """How notebooks show it."""
        printer.text(str(self))


class OverviewMaker:
    """Makes an overview of entities that it is given one after the other. It keeps only what is not well."""

    def __init__(self, kinds: Kinds, now_ns: int) -> None:
        """now_ns: the time at which the entities are so."""
        self._kinds, self._now = kinds, now_ns
        self.classes, self.lately = Counter[str](), Counter[str]()
        self.trees: dict[str, Counter[str]] = {}
        self.began: dict[str, int] = {}
        self.unwell: dict[Name, Unwell] = {}
        self.beside: dict[Name, Unwell] = {}
        """What is not well, is not of those that are looked at, and may explain them."""
        self.silent, self.stalled, self.left_behind = list[Noticed](), list[Noticed](), list[Noticed]()
        self._unnamed = 0
        """How many trees there are beside those that are named."""

    def take(self, record: Transition) -> None:
        """Look at one entity, which may be deleted."""
        entity = record.entity
        found, since = class_of_entity(self._kinds, entity), class_since(self._kinds, entity)
        self.lately[found] += self._now - since <= LATELY
        if found != "gone":
            self.classes[found] += 1
            self.trees.setdefault(entity.id.partition("/")[0], Counter())[found] += 1
        self._notice(record, found, since)

    def add(self, counts: "Counts") -> None:
        """Count many entities at once. Those that call for somebody are to be noticed beside it."""
        self.classes.update(counts.classes)
        self.lately.update(counts.lately)
        self.trees |= {root: Counter(classes) for root, classes in counts.trees}
        self._unnamed += counts.number - len(counts.trees)

    def notice(self, record: Transition) -> None:
        """Look at one entity that was counted."""
        self._notice(record, class_of_entity(self._kinds, record.entity), class_since(self._kinds, record.entity))

    def consider(self, record: Transition) -> None:
        """Look at one entity that only may explain others."""
        entity, found = record.entity, class_of_entity(self._kinds, record.entity)
        if found in ("bad", "excused"):
            self.beside[entity.kind, entity.id] = Unwell(record, found, class_since(self._kinds, entity))

    def lacking(self) -> set[Name]:
        """What could explain the bad ones and was not looked at, as far as it is known by now."""
        found, known = set[Name](), self.beside | self.unwell
        for name, one in known.items():
            if one.state_class == "bad":
                found.update(islice(with_all_above(self._kinds, *name), 1, None))
                kind, _, entity_id = (one.record.cause.origin or "").partition("/")
                found |= {(kind, entity_id)} if entity_id else set()
        return found.difference(known)

    def _notice(self, record: Transition, found: StateClass, since: int) -> None:
        """Remember an entity that calls for somebody, or could explain others."""
        entity = record.entity
        root = entity.id.partition("/")[0]
        if found in ("bad", "excused"):
            self.unwell[entity.kind, entity.id] = Unwell(record, found, since)
        if found == "bad":
            self.began[root] = min(since, self.began.get(root, since))
        if (heard := silent_since(entity)) is not None:
            self.silent.append(Noticed(record, found, heard))
        if any(STALLED in facet.state.conditions for facet in own_facets(entity)):
            self.stalled.append(Noticed(record, found, since))
        if is_left_behind(entity):
            self.left_behind.append(Noticed(record, found, since))

    def made(self, most: int = MOST) -> Overview:
        """The overview of what was taken. most: how many of each sort are named."""
        found = troubles(self._kinds, self.unwell, self.beside)
        trees = sorted(
            (TreeClasses(root, _ordered(classes), self.began.get(root)) for root, classes in self.trees.items()),
            key=lambda one: (*(-one.classes.get(name, 0) for name in CLASSES[:3]), natural(one.root)),
        )
        lists = {"silent": self.silent, "stalled": self.stalled, "left_behind": self.left_behind}
        numbers = {
            "troubles": len(found),
            "trees": len(trees) + self._unnamed,
            **{name: len(some) for name, some in lists.items()},
        }
        for some in lists.values():
            some.sort(key=lambda one: one.since_ns)
        return Overview(
            self._now, _ordered(self.classes), found[:most], trees[:most], _ordered(self.lately),
            self.silent[:most], self.stalled[:most], self.left_behind[:most], numbers,
        )  # fmt: skip


def overview(
    kinds: Kinds, records: Iterable[Transition], now_ns: int, most: int = MOST, beside: Iterable[Transition] = ()
) -> Overview:
    """The overview of entities at a time, deleted ones included. beside: others, which may explain some of them."""
    maker = OverviewMaker(kinds, now_ns)
    for record in records:
        maker.take(record)
    for record in beside:
        maker.consider(record)
    return maker.made(most)


def troubles(kinds: Kinds, unwell: Mapping[Name, Unwell], beside: Mapping[Name, Unwell]) -> list[Trouble]:
    """What is bad, by cause, the longest first.

    unwell: all that are bad or excused. beside: others that are, of which one may explain some.
    """
    from phaseline.engine.surfaces.overview.explaining import Explaining, UnwellSign, sign_of  # noqa: PLC0415  # rare

    known = {**beside, **unwell}

    @cache
    def sign(name: Name) -> UnwellSign | None:
        return None if name not in known else sign_of(kinds, known[name])

    explaining = Explaining(kinds, sign)
    parts: dict[Name, list[Unwell]] = {}
    for name, one in unwell.items():
        if one.state_class == "bad":
            parts.setdefault(explaining.head_of(name), []).append(one)
    by_event: dict[tuple[str, int], list[Name]] = {}
    for head in parts:
        by_event.setdefault((head[1].partition("/")[0], known[head].since_ns), []).append(head)
    found = [_trouble(known, heads, parts) for heads in by_event.values()]
    return sorted(found, key=lambda one: (one.head.since_ns, -one.number, natural(one.head.entity.id)))


def _trouble(known: Mapping[Name, Unwell], heads: list[Name], parts: Mapping[Name, list[Unwell]]) -> Trouble:
    """The trouble of heads that one event began: the topmost one of them stands for all."""
    top = min(heads, key=lambda name: (name[1].count("/"), natural(name[1]), name[0]))
    symptoms = [Noticed(*one) for head in heads for one in parts[head] if one.name != top]
    symptoms.sort(key=lambda one: (one.since_ns, natural(one.entity.id)))
    others = Counter(one.entity.kind for one in symptoms)
    return Trouble(Noticed(*known[top]), dict(others.most_common()), symptoms)


def _ordered(classes: Mapping[str, int]) -> dict[str, int]:
    """Those that there are, the worst first."""
    return {name: classes[name] for name in CLASSES if classes.get(name)}


def as_map(found: Overview, symptoms: int = 0) -> dict[str, Any]:
    """The overview as JSON shows it. symptoms: how many of what each trouble explains are named."""
    return {
        "time": timestamp(found.now_ns),
        "classes": found.classes,
        "not_assessed": found.not_assessed,
        "troubles": [
            {
                **_noticed(one.head), "others": one.number, "by_kind": one.others,
                **({"symptoms": [*map(_noticed, one.symptoms[:symptoms])]} if symptoms else {}),
            }
            for one in found.troubles
        ],
        "trees": [
            {
                "root": one.root, "classes": one.classes,
                "bad_since": None if one.bad_since_ns is None else timestamp(one.bad_since_ns),
            }
            for one in found.trees
        ],
        "last_hour": found.lately,
        **{name: [*map(_noticed, getattr(found, name))] for name in ("silent", "stalled", "left_behind")},
        "numbers": found.numbers,
    }  # fmt: skip


def _noticed(one: Noticed) -> dict[str, Any]:
    """An entity of an overview: what it is in, since when, and what made its last record."""
    record, pairs = one.record, zip(one.entity.names, own_facets(one.entity), strict=False)
    return {
        "kind": one.entity.kind,
        "id": one.entity.id,
        "class": one.state_class,
        "since": timestamp(one.since_ns),
        "states": {name: str(facet.state) for name, facet in pairs},
        "message": one.message or None,
        "cause": {
            "event": record.cause.event,
            "source": record.cause.source,
            "by": record.cause.by,
            "trigger": record.trigger,
        },
    }
