"""An explanation as a tree of lines that read as sentences.

Belongs here: its words and its shape. Does not: colours of states, times (`looks`), what is explained (`phaseline.engine.explain.explainer`).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.text import Text
from rich.tree import Tree

from phaseline.engine.cli import render
from phaseline.engine.explain.model import (
    CauseChain,
    Explanation,
    FacetExplanation,
    PredicateExplanation,
    ViewExplanation,
)
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.language.table import ABSENT
from phaseline.schemas.records import Transition, nanoseconds

SKEW = 1_000_000_000
"""How far, in ns, a publisher's clock may be from the server's before it is worth a word."""


class Drawing:
    """Explanations as trees of lines. `now`: ns, the moment they are of; times of that day go without a date."""

    def __init__(self, kinds: Kinds, now: int) -> None:
        self.kinds, self.now = kinds, now

    def whole(self, found: Explanation) -> Tree:
        """The entity, facet by facet where it has several."""
        if len(found.facets) == 1:
            return self.facet(found.facets[0])
        name = Text.assemble(render.text_of(f"{found.entity.kind} "), render.text_of(found.entity.id, "bold"))
        tree = _branch(name)
        for facet in found.facets:
            tree.add(self.facet(facet, render.text_of(facet.facet, "bold")))
        return tree

    def facet(self, found: FacetExplanation, name: Text | None = None) -> Tree:
        """One facet and what made it so."""
        tree = _branch(self.title(found, name or self.name(found)))
        if found.view is not None:
            for branch in self.view(found.view):
                tree.add(branch)
            tree.add(self.base(found))
        else:
            for branch in self.causes(found.causes):
                tree.add(branch)
        return tree

    def name(self, found: FacetExplanation) -> Text:
        """`node c1/pool-a/n7`, with the facet where its kind has several."""
        several = len(self.kinds[found.kind].names) > 1
        return Text.assemble(
            render.text_of(f"{found.kind} "), render.text_of(found.id, "bold"), f" {found.facet}" if several else ""
        )

    def title(self, found: FacetExplanation, name: Text) -> Text:
        """`node c1/pool-a/n7  Failed [Balance]  since 08:12:05, 4 m 10 s`."""
        shown = found.base if found.base_only else found.state
        state = render.state(self.kinds, found.kind, found.facet, shown)
        since = f"since {self.clock(found.since)}, {render.span(self.now - found.since)}"
        if found.base_only:
            since = "its base" if found.base != found.state else since
        elif shown.phase == ABSENT:
            since = "no event has moved it yet"
        told = "" if found.detail == "here" else f"  ({'as' if found.detail == 'above' else 'followed'} {found.detail})"
        return Text.assemble(
            name, "  ", state, "  ", render.text_of(since, "bright_black"), render.text_of(told, "italic")
        )

    def view(self, view: ViewExplanation) -> Iterator[Tree]:
        """What the view looks at, one branch for each."""
        if view.cause is not None:
            branch = _branch(Text("shown by a view, but nothing that the views here look at accounts for it now"))
            branch.add(self.cause(view.cause))
            yield branch
        for number, reason in enumerate(view.predicates):
            yield self.reason(reason, "and while " if number else "shown while ")

    def reason(self, reason: PredicateExplanation, start: str) -> Tree:
        """`shown while a node is Creating or Deleting: 2 of 12 nodes`, and who they are."""
        tree = _branch(Text.assemble(start, render.text_of(reason.text), render.text_of(_how_many(reason))))
        for entity in reason.entities:
            tree.add(self.facet(entity))
        if reason.cause is not None:
            tree.add(self.cause(reason.cause))
        return tree

    def base(self, found: FacetExplanation) -> Tree:
        """The base under a view, in a line where one record explains it."""
        name = Text.assemble("its base is ", render.state(self.kinds, found.kind, found.facet, found.base))
        if len(found.causes) == 1:
            return self.cause(found.causes[0], Text.assemble(name, ": "))
        tree = _branch(name)
        for branch in self.causes(found.causes):
            tree.add(branch)
        return tree

    def causes(self, found: Sequence[CauseChain]) -> Iterator[Tree]:
        """One branch for each; a phase needs no name where it stands alone."""
        for caused in found:
            yield self.cause(
                caused, render.text_of("" if len(found) == 1 and caused.role == "phase" else _named(caused))
            )

    def cause(self, caused: CauseChain, start: Text | str = "") -> Tree:
        """The record that brought it, then what set that off, down to the outside event; then what it put an end to."""
        if not caused.records:
            return _branch(Text.assemble(start, render.text_of(caused.missing, "italic")))
        top = branch = _branch(
            Text.assemble(start, "at the latest with " if caused.at_latest else "", self.sentence(caused.records[0]))
        )
        for before, record in pairwise(caused.records):
            branch = branch.add(Text.assemble(_somebody_else(before, record), self.sentence(record)))
        if caused.records[-1].cause.by not in ("event", "timer"):
            branch = branch.add(Text.assemble("by", self.event(caused.records[-1])))
        if caused.missing is not None:
            (top if caused.at_latest else branch).add(render.text_of(caused.missing, "italic"))
        if caused.ended is not None:
            top.add(self.cause(caused.ended, render.text_of(f"it was {caused.ended.names[0]}: ")))
        return top

    def sentence(self, record: Transition) -> Text:
        """`overdue by /billing, event b-17 (seq 4711) at 08:12:05: it owes for March`, or who set it off."""
        trigger, cause = render.text_of(record.trigger, "bold"), record.cause
        if cause.by == "event":
            said = render.words(record.reason, record.message)
            source = render.text_of(cause.source)
            return Text.assemble(trigger, " by ", source, ",", self.event(record), ": " if said else "", said)
        kind, _, entity_id = (cause.origin or "").partition("/")
        other = render.text_of(f"{kind} {entity_id}")
        if cause.by == "timer":
            return Text.assemble(trigger, ", when its time had come,", self.event(record))
        if cause.by == "cascade":
            below = entity_id.startswith(f"{record.entity.id}/")
            return Text.assemble(trigger, ", made known by " if below else ", fired by ", other)
        reached = self.reached(record)
        if reached is not None:
            return Text.assemble(trigger, render.text_of(f", fired once {reached}; the last was "), other)
        return Text.assemble("shown otherwise, as ", other, " changed")

    def reached(self, record: Transition) -> str | None:
        """What the tally came to, where it fired the record's trigger."""
        kind = self.kinds.get(record.entity.kind)
        fired = kind.table.on_tally if kind else ()
        return next((each.when.text() for each in fired if each.trigger == record.trigger), None)

    def event(self, record: Transition) -> Text:
        """` event b-17 (seq 4711) at 08:12:05`, and by its publisher's clock where that says otherwise."""
        cause = record.cause
        text = f" event {cause.event} (seq {cause.sequence}) at {self.clock(record.time)}"
        if cause.time is not None:
            text += self.own_clock(cause.time, record.time)
        return render.text_of(text, "bright_black")

    def own_clock(self, said: str, stored: int) -> str:
        """What the publisher's clock said, where it was another time."""
        try:
            own = nanoseconds(said)
            return f", by its own clock {self.clock(own)}" if abs(own - stored) > SKEW else ""
        except (ValueError, OverflowError):  # a year that the local time zone does not reach, like Go's zero time
            return f", by its own clock {said}"

    def clock(self, time: int) -> str:
        """`08:12:05`, with the date where it is another than the moment's own."""
        text = render.moment(time).partition(".")[0]
        return text.removeprefix(render.moment(self.now)[:11])


def _branch(line: Text) -> Tree:
    return Tree(line, guide_style="bright_black")


def _somebody_else(before: Transition, record: Transition) -> Text:
    """Who it was, where it was not who is named in the line before."""
    name = f"{record.entity.kind}/{record.entity.id}"
    return render.text_of("" if name == before.cause.origin else f"{record.entity.kind} {record.entity.id}: ")


def _named(caused: CauseChain) -> str:
    return f"{', '.join(caused.names)}{' cleared' if caused.role == 'cleared' else ''}: "


def _how_many(reason: PredicateExplanation) -> str:
    """`: 2 of 12 nodes`, of what a tally counts."""
    if reason.count is None:
        return ""
    if not reason.total:
        return ": there is none"
    counted = f"{reason.total:,} {reason.kind}{'' if reason.total == 1 else 's'}"
    named = len(reason.entities)
    longest = f", here the {named} that have been so for longest" if named < reason.count else ""
    return f": {reason.count:,} of {counted}{longest}"
