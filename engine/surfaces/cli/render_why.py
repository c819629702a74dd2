"""An explanation as a tree of lines.

Belongs here: the texts and their arrangement. Does not: colours, times (`render`), the explanation (`log.explain`).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec.structs import replace

from phaseline.engine.log.explain.causes import is_of_snapshot, is_outside
from phaseline.engine.log.explain.model import (
    CauseChain,
    Contradiction,
    Explanation,
    FacetExplanation,
    GivenReason,
    PredicateExplanation,
    ViewExplanation,
)
from phaseline.engine.log.explain.staleness import Stale
from phaseline.engine.surfaces.cli import render
from phaseline.engine.surfaces.cli.layout import Branch
from phaseline.engine.surfaces.cli.styled import Text
from phaseline.machines.compiler.kinds import Kinds
from phaseline.machines.compiler.labels import Language, advice_of, facet_named
from phaseline.machines.language.endings import state_for_people
from phaseline.machines.language.table import ABSENT
from phaseline.schemas.cloudevents import actors
from phaseline.schemas.records import Entity, State, Transition, nanoseconds, utc

SKEW = 1_000_000_000
"""How far, in ns, the clocks of a publisher and the server may differ before both times are shown."""


class ExplanationTree:
    """Draws explanations as trees. Durations end at `now`, ns; times of that day are shown without a date.

    stale: why the states of the explained entity are. language: that of the advice.
    """

    def __init__(self, kinds: Kinds, now: int, stale: Stale | None = None, language: Language = "en") -> None:
        self.kinds, self.now, self.stale, self.language = kinds, now, stale, language
        self.entity: Entity | None = None
        """The explained entity. Of others it is not known how their lives ended."""

    def whole(self, found: Explanation) -> Branch:
        """The whole explanation, facet by facet if there are several."""
        self.entity = found.entity
        stale = render.stale(self.stale, found.entity, self.now)
        if len(found.facets) == 1:
            tree = self.facet(found.facets[0])
            tree.text = Text.assemble(tree.text, "  ", stale) if stale else tree.text
            return tree
        name = Text.assemble(render.text_of(f"{found.entity.kind} "), render.text_of(found.entity.id, "bold"))
        tree = Branch(Text.assemble(name, "  ", stale) if stale else name)
        for facet in found.facets:
            tree.add(self.facet(facet, render.text_of(facet.facet, "bold")))
        return tree

    def facet(self, found: FacetExplanation, name: Text | None = None) -> Branch:
        """One facet and its causes."""
        tree = Branch(self.title(found, name or self.name(found)))
        for line in self.said(found):
            tree.add(line)
        if found.view is not None:
            for branch in self.view(found.view, says=not found.message):
                tree.add(branch)
            tree.add(self.base(found))
        else:
            for branch in self.causes(found.causes):
                tree.add(branch)
        known = {(one.entity.version, one.reason) for caused in found.causes for one in caused.records}
        for said in found.said:
            version = None if said.record is None else said.record.entity.version
            if said.count > 1 or (said.reason is not None and (version, said.reason) not in known):
                tree.add(self.reason_of(said))
        for one in found.contradicted_by:
            tree.add(self.contradiction(one))
        if found.last_said is not None:
            tree.add(Text.assemble("the last that was said here or below: ", self.said_last(found.last_said)))
        if found.below:
            tree.add(self.below(found))
        return tree

    def below(self, found: FacetExplanation) -> Branch:
        """`below it, 2 owned_objects are not well`, and the worst of these."""
        count, kind = found.below_count, found.below[0].kind
        more = f"; these {len(found.below)} are the worst" if count > len(found.below) else ""
        tree = Branch(render.text_of(f"below it, {render.counted(count, f'{kind} is', f'{kind}s are')} not well{more}"))
        for one in found.below:
            tree.add(self.facet(one))
        return tree

    def said_last(self, record: Transition) -> Text:
        """`node c1/p/n7  Running [Ok], ready by /agent, event a-12 (seq 4711) at 08:12:05`."""
        name = Text.assemble(render.text_of(f"{record.entity.kind} "), render.text_of(record.entity.id, "bold"))
        state = render.state(self.kinds, record.entity.kind, record.facet, record.after)
        return Text.assemble(name, "  ", state, ", ", self.sentence(record))

    def said(self, found: FacetExplanation) -> Iterator[Text]:
        """Why it is so, as the entity itself says, with the conditions behind it, and what to do about it."""
        if found.base_only or found.detail != "here":
            return
        if found.message:
            yield Text.assemble("because: ", render.text_of(found.message))
        for one in found.evidence:
            said = one.get("message") or ""
            yield render.text_of(render.evidence(one) + (f": {said}" if said and said not in found.message else ""))
        for one in found.news:
            yield render.text_of(f"event: {render.happening(one)}")
        table = facet_named(self.kinds, found.kind, found.facet)
        if table is not None and (advice := advice_of(table, self.state_of(found), self.language)):
            yield Text.assemble("to do: ", render.text_of(advice, "italic"))

    def reason_of(self, found: GivenReason) -> Text:
        """`NotReady because of KubeletStopped since 08:12:05, by /agent; said 12 times, last at 08:14:05: no lease`."""
        record = found.record
        since = "" if record is None else f" since {self.clock(record.time_ns)}, by {record.cause.source}"
        again = "" if found.count < 2 else f"; said {found.count:,} times, last at {self.clock(found.last_ns)}"
        other = f" by {found.last_source}" if again and record and found.last_source != record.cause.source else ""
        said = Text.assemble(": ", render.text_of(found.message, "italic")) if found.message else Text("")
        why = f" because of {found.reason}" if found.reason else ""
        return Text.assemble(render.text_of(f"{found.condition}{why}{since}{again}{other}"), said)

    def contradiction(self, found: Contradiction) -> Branch:
        """`but the application's reported_health is Degraded: no ACL`, and the event that said so."""
        said = render.text_of(f": {found.message}" if found.message else "")
        tree = Branch(Text.assemble("but ", render.text_of(found.text), said, ", which does not decide"))
        if found.cause is not None:
            tree.add(self.cause(found.cause))
        return tree

    def name(self, found: FacetExplanation) -> Text:
        """`node c1/pool-a/n7`, with the facet if the kind has several."""
        facet = f" {found.facet}" if self.kinds[found.kind].is_named(found.facet) else ""
        return Text.assemble(render.text_of(f"{found.kind} "), render.text_of(found.id, "bold"), facet)

    def title(self, found: FacetExplanation, name: Text) -> Text:
        """`node c1/pool-a/n7  Failed [Balance]  since 08:12:05, 4 m 10 s`."""
        shown = found.base if found.base_only else found.state
        state = render.state(self.kinds, found.kind, found.facet, shown)
        if (end := self.state_of(found)) != found.state:
            end_label = render.label(self.kinds, found.kind, found.facet, end, self.language)
            state = Text.assemble(state, "  ", end_label)
        since = f"since {self.clock(found.since_ns)}, {render.duration(self.now - found.since_ns)}"
        if found.base_only:
            since = "its base" if found.base != found.state else since
        elif shown.phase == ABSENT:
            since = "no event has changed it yet"
        explained = (
            "" if found.detail == "here" else f"  ({'as' if found.detail == 'above' else 'followed'} {found.detail})"
        )
        return Text.assemble(
            name, "  ", state, "  ", render.text_of(since, "bright_black"), render.text_of(explained, "italic")
        )

    def state_of(self, found: FacetExplanation) -> State:
        """The state; of the explained entity with how its life ended."""
        of = self.entity
        return (
            state_for_people(found.state, of.attributes)
            if of and (of.kind, of.id) == (found.kind, found.id)
            else found.state
        )

    def view(self, view: ViewExplanation, *, says: bool = True) -> Iterator[Branch]:
        """What the view depends on, one branch each. says: whether records of attributes bring their messages."""
        if view.cause is not None:
            branch = Branch(Text("shown by a view, but no view of the installed tables accounts for it"))
            branch.add(self.cause(view.cause))
            yield branch
        for number, reason in enumerate(view.predicates):
            yield self.reason(reason, "and while " if number else "shown while ", says=says)

    def reason(self, reason: PredicateExplanation, start: str, *, says: bool = True) -> Branch:
        """`shown while a node is Creating or Deleting: 2 of 12 nodes`, and these nodes."""
        tree = Branch(Text.assemble(start, render.text_of(reason.text), render.text_of(_how_many(reason))))
        for entity in reason.entities:
            tree.add(self.facet(entity))
        if reason.cause is not None:
            tree.add(self.cause(reason.cause if says else _without_messages(reason.cause)))
        return tree

    def base(self, found: FacetExplanation) -> Branch:
        """The base under a view; one line if a single record explains it."""
        name = Text.assemble("its base is ", render.state(self.kinds, found.kind, found.facet, found.base))
        if len(found.causes) == 1:
            return self.cause(found.causes[0], Text.assemble(name, ": "))
        tree = Branch(name)
        for branch in self.causes(found.causes):
            tree.add(branch)
        return tree

    def causes(self, found: Sequence[CauseChain]) -> Iterator[Branch]:
        """One branch per cause. A phase needs no name if it is the only one."""
        for caused in found:
            yield self.cause(
                caused, render.text_of("" if len(found) == 1 and caused.role == "phase" else _named(caused))
            )

    def cause(self, caused: CauseChain, start: Text | str = "") -> Branch:
        """The record of a cause, then the records behind it, down to the event; then the state that it ended."""
        if not caused.records:
            return Branch(Text.assemble(start, render.text_of(caused.missing, "italic")))
        top = branch = Branch(
            Text.assemble(start, "at the latest with " if caused.at_latest else "", self.sentence(caused.records[0]))
        )
        for before, record in pairwise(caused.records):
            branch = branch.add(Text.assemble(_other_entity(before, record), self.sentence(record)))
        if not is_outside(caused.records[-1]):
            branch = branch.add(Text.assemble("by", self.event(caused.records[-1])))
        if caused.missing is not None:
            (top if caused.at_latest else branch).add(render.text_of(caused.missing, "italic"))
        if caused.ended is not None:
            top.add(self.cause(caused.ended, render.text_of(f"it was {caused.ended.names[0]}: ")))
        return top

    def sentence(self, record: Transition) -> Text:
        """A record in words: `overdue by /billing, event b-17 (seq 4711) at 08:12:05: it owes for March`."""
        trigger, cause = render.text_of(record.trigger, "bold"), record.cause
        kind, _, entity_id = (cause.origin or "").partition("/")
        other = render.text_of(f"{kind} {entity_id}")
        if cause.by == "event" or is_of_snapshot(record):
            message = render.reason_and_message(record.reason, record.message)
            of = Text.assemble(" in a snapshot of ", other) if cause.by == "cascade" else ""
            by = Text.assemble(
                of, " by ", render.text_of(actors.sender(cause)), ",", self.event(record), render.unasked(record),
                *render.in_place_of(record),
            )  # fmt: skip
            return Text.assemble(trigger, by, ": " if message else "", message)
        if cause.by == "tables":
            return self.moved(record, other)
        if cause.by == "timer":
            return Text.assemble(trigger, ", fired by a timer,", self.event(record))
        if cause.by == "cascade":
            message = render.reason_and_message(record.reason, record.message)
            fired = ", adopted by " if record.trigger == "adopt" else ", fired by "
            return Text.assemble(trigger, fired, other, ": " if message else "", message)
        predicate = self.predicate(record)
        if predicate is not None:
            return Text.assemble(trigger, render.text_of(f", fired once {predicate}; the last was "), other)
        return Text.assemble("shown by another view, since ", other, " changed")

    def moved(self, record: Transition, other: Text) -> Text:
        """A record of a change of tables in words."""
        if record.cause.origin is not None:
            return Text.assemble("moved with ", other, " when its table changed")
        moved = render.text_of(" ".join(("moved when the tables changed", f"at {self.clock(record.time_ns)}: ")))
        return Text.assemble(moved, render.text_of(record.message, "italic"))

    def predicate(self, record: Transition) -> str | None:
        """The predicate of the tally that fired the trigger of a record."""
        kind = self.kinds.get(record.entity.kind)
        rules = kind.table.on_tally if kind else ()
        return next((each.when.text() for each in rules if each.trigger == record.trigger), None)

    def event(self, record: Transition) -> Text:
        """` event b-17 (seq 4711) at 08:12:05`, with the time of the publisher if it differs."""
        cause = record.cause
        text = f" event {cause.event} (seq {cause.sequence}) at {self.clock(record.time_ns)}"
        if cause.time_text is not None:
            text += self.publisher_clock(cause.time_text, record.time_ns)
        return render.text_of(text, "bright_black")

    def publisher_clock(self, text: str, stored: int) -> str:
        """The time of the publisher, if it differs from the server's."""
        try:
            time = nanoseconds(text)
            utc(time)
            return f", publisher's clock {self.clock(time)}" if abs(time - stored) > SKEW else ""
        except (ValueError, OverflowError):  # a year that no date has, such as Go's zero time in another zone
            return f", publisher's clock {text}"

    def clock(self, time: int) -> str:
        """`08:12:05`, with the date if it is not the date of `now`."""
        text = render.local_time(time).partition(".")[0]
        return text.removeprefix(render.local_time(self.now)[:11])


def _without_messages(caused: CauseChain) -> CauseChain:
    """A cause whose records say nothing: what they say may be about another facet than the one that is explained."""
    records = tuple(replace(record, reason=None, message=None) for record in caused.records)
    return replace(caused, records=records)


def _other_entity(before: Transition, record: Transition) -> Text:
    """The entity of a record, unless the line before names it."""
    name = f"{record.entity.kind}/{record.entity.id}"
    return render.text_of("" if name == before.cause.origin else f"{record.entity.kind} {record.entity.id}: ")


def _named(caused: CauseChain) -> str:
    return f"{', '.join(caused.names)}{' cleared' if caused.role == 'cleared' else ''}: "


def _how_many(reason: PredicateExplanation) -> str:
    """What a tally counts: `: 2 of 12 nodes`."""
    if reason.count is None:
        return ""
    if not reason.total:
        return ": there is none"
    named = len(reason.entities)
    longest = f"; these {named} have been so the longest" if named < reason.count else ""
    return f": {reason.count:,} of {render.counted(reason.total, reason.kind)}{longest}"
