"""An explanation in words: what is at its root, and the whole of it as plain text. Pure.

Belongs here: finding the root of a facet, the sentences of `str(explanation)`. Does not: the explanation (`model`), how
a terminal (`surfaces.cli.render_why`) and the page (`engine/surfaces/page/why.js`) draw it. All three keep one order:
the root first where it is another entity's, then the view with what it looks at, each with its causes, and the base
last.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from phaseline.engine.log.explain.model import CauseChain, Explanation, FacetExplanation
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.records import Transition, timestamp


class Root(NamedTuple):
    """The event behind a state, as far back as the log tells.

    record: the last one of its chain, of the event from outside. message: why, as far as anybody said so.
    """

    record: Transition
    message: str

    @property
    def text(self) -> str:
        """`overdue by /billing: invoice 4711 is 30 days late`."""
        return f"{self.record.trigger} by {actors.sender(self.record.cause)}{self.message and f': {self.message}'}"


def root_of(facet: FacetExplanation) -> Root | None:
    """The root of a facet: of what a view looks at, else of what is not well below, else of its last own cause."""
    if facet.view is not None:
        for one in facet.view.predicates:
            found = next(filter(None, map(root_of, one.entities)), None) or _root_of(one.cause, facet)
            if found is not None:
                return found
        if (found := _root_of(facet.view.cause, facet)) is not None:
            return found
    below = (root_of(one) for one in facet.below)
    return next(filter(None, below), None) or _root(facet.causes, facet.message)


def root_map(facet: FacetExplanation) -> dict[str, Any] | None:
    """The root as JSON shows it; None if the log no longer has it."""
    found = root_of(facet)
    if found is None:
        return None
    record = found.record
    return {
        "kind": record.entity.kind, "id": record.entity.id, "facet": record.facet, "state": record.after.phase,
        "conditions": list(record.after.conditions), "trigger": record.trigger, "source": record.cause.source,
        "event": record.cause.event, "time": timestamp(record.time_ns), "message": found.message or None,
        "text": found.text,
    }  # fmt: skip


def in_words(explanation: Explanation) -> str:
    """The whole explanation, a line for each part, what belongs to a line indented below it."""
    entity = explanation.entity
    return "\n".join(
        line
        for facet in explanation.facets
        for line in _facet(facet, f"{entity.kind} {entity.id}{_named(explanation.facets, facet)}", root_of(facet))
    )


def _root_of(cause: CauseChain | None, facet: FacetExplanation) -> Root | None:
    return None if cause is None else _root([cause], facet.message)


def _root(causes: Sequence[CauseChain], message: str) -> Root | None:
    """The end of the cause that came last; of what was cleared, only if nothing else is known."""
    known = [one for one in causes if one.records]
    standing = [one for one in known if one.role != "cleared"] or known
    if not standing:
        return None
    record = max(standing, key=lambda one: one.records[0].entity.version).records[-1]
    said = ": ".join(filter(None, (record.reason, record.message)))
    return Root(record, said or message)


def _named(facets: Sequence[FacetExplanation], facet: FacetExplanation) -> str:
    return f" {facet.facet}" if len(facets) > 1 else ""


def _facet(facet: FacetExplanation, name: str, root: Root | None = None) -> Iterator[str]:
    """The lines of a facet: its state, the root if it is another entity's, then why."""
    shown = facet.base if facet.base_only else facet.state
    yield f"{name} is {shown} since {timestamp(facet.since_ns)}{'' if facet.detail == 'here' else ' (as above)'}"
    if facet.detail != "here":
        return
    if root is not None and (root.record.entity.kind, root.record.entity.id) != (facet.kind, facet.id):
        yield f"  root cause: {root.record.entity.kind} {root.record.entity.id}: {root.text}"
    if facet.message:
        yield f"  because: {facet.message}"
    for number, one in enumerate(facet.view.predicates if facet.view else ()):
        yield f"  {'and ' if number else 'shown '}while {one.text}"
        for each in one.entities:
            yield from _indented(_facet(each, f"{each.kind} {each.id}"), 4)
        if one.cause is not None:
            yield from _indented(_cause(one.cause), 4)
    if facet.view is not None and facet.view.cause is not None:
        yield from _indented(_cause(facet.view.cause), 2)
    if facet.view is not None:
        yield f"  its base is {facet.base}"
    for caused in facet.causes:
        yield from _indented(_cause(caused), 2 if facet.view is None else 4)
    for below in facet.below:
        yield from _indented(_facet(below, f"below it, {below.kind} {below.id}"), 2)


def _cause(caused: CauseChain) -> Iterator[str]:
    """The records of a cause, each with the one that led to it below."""
    for depth, record in enumerate(caused.records):
        said = ": ".join(filter(None, (record.reason, record.message)))
        how = "" if record.cause.by == "event" else f" ({record.cause.by} of {record.cause.origin})"
        by = f"{record.entity.kind} {record.entity.id}: {record.trigger}{how} by {actors.sender(record.cause)}"
        yield f"{'  ' * depth}{by}, event {record.cause.event} at {timestamp(record.time_ns)}{said and f': {said}'}"
    if caused.missing is not None:
        yield caused.missing


def _indented(lines: Iterator[str], blanks: int) -> Iterator[str]:
    return (f"{' ' * blanks}{line}" for line in lines)
