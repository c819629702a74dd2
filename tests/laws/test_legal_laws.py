"""The law of `legal`: it names a trigger if and only if an event with it, and with some fitting data, would be taken.

Belongs here: the search for data that fits, independent of the engine's own. Does not: single rejections
(`tests/pure/test_rejections`).
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from phaseline.engine.core import after_end
from phaseline.engine.core.adoption import missing_parent
from phaseline.engine.core.intake import Arrival
from phaseline.engine.core.judgement import attributes_of, impossible_base, interpretation
from phaseline.engine.core.reports import RefusedReport
from phaseline.engine.surfaces.testing.random_events import Dice, data_for
from phaseline.machines.compiler.kinds import Kind, Kinds
from phaseline.machines.language.table import Refusal
from phaseline.schemas.records import NONE, SECOND, Cause
from tests.support import edge_worlds, own_below, sample_kinds
from tests.support.built_in_kinds import family
from tests.support.strategies import History, histories, hold

TRIES, FEW = 150, 6
"""How many data are tried for a trigger that `legal` names, and for any other one."""
FAMILIES = {
    "edge hosting": edge_worlds.KINDS,
    "orchard": sample_kinds.KINDS,
    "own kinds": own_below.KINDS,
    **{name: family(name) for name in ("emco", "gitops", "fleet")},
}


def takes(history: History, arrival: Arrival) -> bool:
    """Whether this event takes a step; what does not fit the trigger's fields counts as taken, nobody can send it."""
    tree, kind = history.tree, history.kinds[arrival.kind]
    entity = tree.get(kind.name, arrival.id)
    missing = missing_parent(tree, kind, arrival.id, is_intent=kind.roles[arrival.trigger] == "intent")
    if missing is not None and not missing.adoptable:
        return notes(history, arrival)
    data = arrival.data
    if arrival.trigger in kind.interprets:
        fields = interpretation(tree, kind, entity, arrival)
        if isinstance(fields, Refusal):
            return False
        data = {**data, **fields}
    steps = kind.select(arrival.trigger, kind.unborn if entity is None else entity.facets, tree, arrival.id, data).steps
    if not steps or impossible_base(kind, steps, data) is not None:
        return False
    probe = Arrival(arrival.kind, arrival.trigger, arrival.id, data, arrival.cause, None, arrival.time)
    return not isinstance(attributes_of(tree, kind, entity, steps, probe), Refusal)


def notes(history: History, arrival: Arrival) -> bool:
    """Whether what this event says is there is left behind, if its reporter has read everything."""
    read_all = replace(arrival, data={**arrival.data, "seen": arrival.cause.sequence - 1})
    kind, entity = history.kinds[arrival.kind], history.tree.get(arrival.kind, arrival.id)
    report = after_end.of_event(kind, read_all)
    if report is None or report.says_gone or not after_end.is_over(history.tree, entity, report):
        return False
    return not isinstance(after_end.read(history.tree, entity, report), RefusedReport)


def data_to_try(history: History, kind: Kind, trigger: str, entity_id: str, tries: int) -> Iterator[dict[str, Any]]:
    """Data of the trigger: drawn at random, with the names of children and small numbers."""
    children = [
        below.rpartition("/")[2]
        for name in kind.below
        for below in history.tree.descendants(kind.name, entity_id, name)
    ]
    dice = Random(len(history.steps))
    for _ in range(tries if kind.fields[trigger] else 1):
        data = data_for(history.kinds, kind, trigger, Dice(dice.randbytes(24)))
        for field in kind.fields[trigger]:
            if field.type is str and not field.options and children and dice.random() < 0.7:
                data[field.name] = [dice.choice(children)] if field.many else dice.choice(children)
            if field.type is int and field.required:
                data[field.name] = dice.randrange(6)
        yield data


def is_readable(kind: Kind, trigger: str) -> bool:
    """Whether data drawn at random can be read. Manifests, reports, signals, and texts that rules read cannot."""
    read = trigger in kind.interprets
    return (
        trigger not in kind.reports
        and trigger not in kind.telling
        and not any(
            field.required and (field.type is dict or (read and field.type is str and not field.options))
            for field in kind.fields[trigger]
        )
    )


def legal_is_what_would_be_taken(history: History) -> None:
    position = len(history.steps) + 1
    for kind in history.kinds.values():
        ids = [*history.tree.entities[kind.name]][:2]
        ids.append("/".join((*ids[0].split("/")[:-1], "new") if ids else ("n",) * kind.arity))
        for entity_id in ids:
            legal = history.legal(kind.name, entity_id)
            for trigger in (trigger for trigger, role in kind.roles.items() if role != "derived"):
                if not is_readable(kind, trigger):
                    continue
                cause = Cause(position, "e", "/t", "event")
                probes = (
                    Arrival(kind.name, trigger, entity_id, data or NONE, cause, None, position * SECOND + 123)
                    for data in data_to_try(history, kind, trigger, entity_id, TRIES if trigger in legal else FEW)
                )
                found = any(takes(history, probe) for probe in probes)
                states = history.tree.get(kind.name, entity_id)
                assert (trigger in legal) == found, f"{trigger} of {kind.name} {entity_id}: {states}, legal {legal}"


@pytest.mark.parametrize("effort", ["ci", pytest.param("long", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kinds", FAMILIES.values(), ids=list(FAMILIES))
def test_legal_is_what_would_be_taken(kinds: Kinds, effort: str) -> None:
    hold(legal_is_what_would_be_taken, histories(kinds), effort)
