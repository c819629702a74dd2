"""The compiled tables of edge hosting in the words of their page, so that both can be compared line by line.

Belongs here: what `spec_edge_page` reads from the page, made of our tables. Does not: reading the page.
"""

from collections.abc import Iterator

from phaseline.machines.compiler.kinds import Kind
from phaseline.machines.compiler.machine import Step
from phaseline.machines.language.contact import InSilence
from phaseline.machines.language.deadlines import DEADLINE
from phaseline.machines.language.predicates import Above, AllBelow, AnyBelow, AttributeIs, Predicate, or_list
from phaseline.machines.language.table import ABSENT, DELETED, FROM_DATA, SAME, STALLED, Cascade, Facet, View
from tests.support.spec_edge_page import Move, Shown

MOST_NAMED = 3
"""The most attributes that a row of the page names."""
EVERYWHERE = ("reported", "snapshot")
"""Triggers of every kind, which no page of a product lists."""
RECENT = {"recent": True}
"""The rows of `deleted` from Creating, which docs/reports.md describes for all kinds."""


def moves(kind: Kind) -> Iterator[Move]:
    """The moves of the first facet."""
    machine = kind.machines[0]
    for trigger, by_phase in machine.steps.items():
        for phase, steps in by_phase.items() if trigger not in EVERYWHERE else ():
            for step in steps:
                if step.row.given != RECENT and not _of_all_kinds(kind, trigger, step):
                    yield Move(
                        _called_there(trigger, step),
                        _at(phase, step),
                        _guard(step),
                        _becomes(machine.facet, step),
                        _given(step),
                    )


def _of_all_kinds(kind: Kind, trigger: str, step: Step) -> bool:
    """What the head of the page says once for all kinds; the row for `abandon: false` is that without the field."""
    added = trigger in ("configure", "heartbeat") and trigger not in kind.written.triggers and not kind.written.place
    return trigger == "stalled" or added or step.row.given.get("abandon") is False


def _called_there(trigger: str, step: Step) -> str:
    return f"{trigger} (abandon)" if step.row.given.get("abandon") else trigger


def _at(phase: str, step: Step) -> str:
    start = step.start
    lacks = f" without {', '.join(sorted(start.lacks))}" if start.lacks else ""
    return f"{phase}{f' with {start.has}' if start.has else ''}{lacks}{f' over {start.base}' if start.base else ''}"


def _given(step: Step) -> str:
    return str(step.row.given.get("condition") or "")


def _guard(step: Step) -> str:
    return " and ".join(map(_said, step.row.when))


def _said(predicate: Predicate) -> str:
    if isinstance(predicate, Above):
        return f"the {_called(predicate.kind)} is {or_list((*predicate.phases, *predicate.or_has))}"
    if isinstance(predicate, AllBelow | InSilence):
        return predicate.text()
    if isinstance(predicate, AttributeIs):
        return f"the {_called(predicate.kind)}'s `{predicate.name}` is {predicate.value}"
    if isinstance(predicate, AnyBelow):
        lacks = f" without {predicate.lacks}" if predicate.lacks else ""
        return f"a {predicate.kind.replace('_', ' ')}{lacks} is {or_list(predicate.phases)}"
    raise AssertionError(f"the page has no words for {predicate}")


def _called(kind: str) -> str:
    """What a guard calls the kind above."""
    return "pool" if kind == "node_pool" else kind


def _becomes(facet: Facet, step: Step) -> str:
    row = step.row
    if row.to == FROM_DATA:
        result = "as the data names"
    elif row.condition is None or [row.condition] == own_conditions(facet, str(row.to)):
        result = "same" if row.to == SAME else str(row.to)
    else:
        result = f"{row.to} [{row.condition}]"
    sets = f"sets {row.sets}" if row.sets else ""
    cleared = [condition for condition in row.clears if condition != STALLED]
    clears = f"clears {', '.join(cleared)}" if cleared else ""
    named = [name for name in row.assigns or () if name != DEADLINE] if row.assigns is not True else []
    assigns = "may set attributes" if len(named) > MOST_NAMED else f"sets {', '.join(f'`{name}`' for name in named)}"
    return "; ".join(filter(None, (result, sets, clears, assigns if named else "")))


def own_conditions(facet: Facet, phase: str) -> list[str | None]:
    """The conditions of a phase that are not sticky: where there is one, it comes along."""
    other = (STALLED, *facet.sticky)
    named = [label.condition for label in facet.labels if label.phase == phase and label.condition not in other]
    return named if phase != facet.accumulates_in else []


def views(kind: Kind) -> Iterator[Shown]:
    """The views of the first facet, in order."""
    facet = kind.table.facets[0]
    for view in facet.views:
        yield Shown(_shows(facet, view), _bases(facet, view), " and ".join(map(_said, view.while_)))


def _shows(facet: Facet, view: View) -> str:
    if view.keeps is True:
        return f"{view.to} [base's conditions, +{view.condition}]"
    [condition] = [view.condition] if view.condition else own_conditions(facet, view.to)
    return f"{view.to} [{condition}]"


def _bases(facet: Facet, view: View) -> frozenset[str]:
    live = {label.phase for label in facet.labels} - {ABSENT, DELETED}
    return frozenset(view.base or live).difference(view.unless)


def labels(kind: Kind) -> Iterator[tuple[str, ...]]:
    """The labels of the first facet."""
    for label in kind.written.facets[0].labels:
        schedulable = {None: (), True: ("yes",), False: ("no",)}[label.schedulable]
        yield (label.phase, label.condition or "", label.others["zh"], label.en, *schedulable)


def cascades(kind: Kind) -> Iterator[tuple[frozenset[str], str, frozenset[str], str]]:
    """The cascades down."""
    for one in kind.table.cascades:
        yield frozenset(one.on), one.trigger, frozenset(one.at), _unless(one)


def _unless(cascade: Cascade) -> str:
    return f"unless `data.{cascade.unless[0]}` is {str(cascade.unless[1]).lower()}" if cascade.unless else ""
