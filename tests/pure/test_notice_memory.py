"""What the fold of notices keeps: one saying for all that say the same, and nothing of what has passed."""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from phaseline.engine.products.notices.fold import damping, read_rules
from phaseline.engine.products.notices.fold.fold import Fold
from phaseline.machines.built_in import installed
from phaseline.schemas.records import SECOND, Transition
from phaseline.testing import given, given_rules

KINDS = installed()
RULES = """
receivers: {ops: {nats: {subject: told}}}
rules:
- {name: cause, when: {kinds: [node]}, to: [ops]}
- {name: each, when: {kinds: [node]}, group: entity, clear-after: 1m, to: [ops]}
- {name: tree, when: {kinds: [node]}, group: tree, clear-after: 1m, remind: 1m, to: [ops],
   flapping: {changes: 4, within: 1m, quiet: 1m}}
- {name: reason, when: {kinds: [node]}, group: reason, to: [ops]}
- {name: rare, when: {kinds: [node]}, group: tree, to: [ops], flapping: {changes: 3, within: 1m, quiet: 1m}}
- {name: daily, when: {kinds: [node]}, digest: 1h, to: [ops]}
- {name: gone, when: {kinds: [node], gone: true}, to: [ops]}
windows: [{name: work, opened-by: [cordon, delete], up-to: 1m}]
"""
NODE = given().event("node", "adopt", "c1/p/n1", {"phase": "Running"})


def life() -> list[Transition]:
    """A node is bad, well again, asked to go, and gone."""
    told = given_rules(RULES).event("node", "adopt", "c1/p/n1", {"phase": "Running"})
    told = told.event("node", "not_ready", "c1/p/n1", {"reason": "R"}).event("node", "ready", "c1/p/n1")
    for trigger in ("cordon", "delete", "deleted"):
        told = told.event("node", trigger, "c1/p/n1")
    return [one for _, records in told.steps for one in records if isinstance(one, Transition)]


def as_another(record: Transition, number: int, *, trees: bool) -> Transition:
    """The record of another node, a minute later for each, which gives another reason."""
    entity = replace(record.entity, id=f"c{number if trees else 1}/p/n{number}")
    reason = None if record.reason is None else f"{record.reason}{number}"
    cause = replace(record.cause, sequence=record.cause.sequence + 100 * number)
    return replace(record, entity=entity, reason=reason, cause=cause, time_ns=record.time_ns + number * 60 * SECOND)


def weight(found: Any, seen: set[int]) -> int:
    """How many things are kept in something."""
    if id(found) in seen or isinstance(found, str | int | float | None.__class__):
        return 0
    seen.add(id(found))
    parts: Iterable[Any] = ()
    if isinstance(found, Mapping):
        parts = [*found.keys(), *found.values()]
    elif isinstance(found, list | tuple | set | frozenset | deque):
        parts = found
    elif type(found).__module__.startswith("phaseline.engine.products.notices"):
        names = [*getattr(found, "__dict__", ()), *getattr(type(found), "__slots__", ())]
        parts = [getattr(found, name) for name in names]
    parts = [*parts]
    return len(parts) + sum(weight(one, seen) for one in parts)


@pytest.mark.parametrize("trees", [False, True])
def test_what_has_passed_leaves_nothing(trees: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damping, "SWEEP", 10)
    records, found = life(), []
    for lives in (20, 200):
        fold, place = Fold(KINDS, read_rules.read(RULES, KINDS)), 0
        for number in range(lives):
            for record in (as_another(one, number, trees=trees) for one in records):
                place += 1
                fold.advance(record.time_ns)
                fold.take(place, record)
        fold.advance(record.time_ns + 86_400 * SECOND)
        assert not fold.groups
        found.append(weight(vars(fold), {id(KINDS)}))
    assert found[1] - found[0] < 100, found


def test_a_storm_by_one_cause_has_one_saying() -> None:
    bad = NODE.when("node", "not_ready", "c1/p/n1", {"reason": "R"}).transitions[0]
    fold = Fold(KINDS, read_rules.read(RULES, KINDS))
    for number in range(1_000):
        fold.take(number + 1, replace(bad, entity=replace(bad.entity, id=f"c1/p/n{number}")))
    [group] = [one for one in fold.groups.values() if one.rule.name == "tree"]
    assert len(group.members) == 1_000
    assert len({id(one) for one in group.members.values()}) == 1
    assert len({id(one) for one in fold._unwell.values()}) == 1
